//! A database that asks for a password and takes connections with TLS only.

use std::net::TcpListener;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use search::Reader as _;
use secondary::{PostgresOptions, PostgresReader};
use sqlx::{Connection as _, PgConnection};

use crate::server::Server;
use crate::{Store, model, suite};

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

pub fn passwords_and_tls(plain: &Server) {
    let (ours, other) = (authority(), authority());
    let pair = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let chain = params.signed_by(&pair, &ours).unwrap().pem();
    // Bound and dropped: free now.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let rules = "local all baton trust\nhostssl all keeper all scram-sha-256\n";
    let key = pair.serialize_pem();
    let files = [("server.crt", &*chain), ("server.key", &key), ("pg_hba.conf", rules)];
    let options = format!("-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on");
    let server = plain.another(&files, &options);
    let url_of_owner = format!("{}&port={port}", server.url());
    let mut owner = suite::block_on(PgConnection::connect(&url_of_owner)).unwrap();
    let keeper = "SET password_encryption = 'scram-sha-256'; CREATE ROLE keeper LOGIN PASSWORD 'right'; \
                  GRANT CREATE ON DATABASE postgres TO keeper";
    suite::block_on(sqlx::raw_sql(keeper).execute(&mut owner)).unwrap();

    let directory = tempfile::tempdir().unwrap();
    let [ours, other] = [("ours.pem", ours), ("other.pem", other)].map(|(name, authority)| {
        let path = directory.path().join(name);
        std::fs::write(&path, authority.pem()).unwrap();
        path.display().to_string()
    });
    let store = |host: &str, parameters: String, password: &str| {
        let url = format!("postgres://{host}:{port}/postgres?{parameters}");
        let options = PostgresOptions::new(&url);
        Store(PostgresOptions { username: "keeper".to_owned(), password: password.to_owned(), ..options })
    };
    let checked = |authority: &str| format!("sslmode=verify-full&sslrootcert={authority}");
    let right = store("localhost", checked(&ours), "right");
    assert_eq!(right.open().unwrap(), 0);
    let rows = model::rows(3, 1);
    suite::fill(&mut *suite::Store::writer(&right), &rows);
    let found = suite::block_on(PostgresReader::new(right.0.clone()).search(suite::everything())).unwrap();
    assert_eq!(found.rows.len(), rows.len());

    for (wrong, mention) in [
        (store("localhost", checked(&ours), "guess-1"), "password authentication failed"),
        (store("localhost", checked(&ours), ""), "password"),
        (store("localhost", checked(&other), "right"), "certificate"),
        (store("127.0.0.1", checked(&ours), "right"), "certificate"),
        (store("localhost", "sslmode=disable".to_owned(), "right"), "no encryption"),
    ] {
        let told = wrong.open().unwrap_err().to_string();
        assert!(told.contains(mention), "{told}\ndoes not mention {mention}");
        assert!(!told.contains("right") && !told.contains("guess-1"), "{told}");
    }
    // The URL may hold all of it.
    let whole = format!("postgres://keeper:right@localhost:{port}/postgres?{}", checked(&ours));
    Store(PostgresOptions::new(&whole)).open().unwrap();
}
