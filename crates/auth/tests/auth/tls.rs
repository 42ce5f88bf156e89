//! Handshakes with certificates made for the test.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use auth::{
    Authenticator, ClientCertificates, ClientTls, Method, Oidc, OidcSettings, Reason, ServerTls, TlsError,
    TlsFiles,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsConnector;

use crate::fixture::{Hand, ask};
use crate::issuer::{Issuer, SigningKey};

/// An authority and the files it fills.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    fn new(directory: &Path, name: &str) -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = directory.join(format!("{name}.pem"));
        fs::write(&file, issuer.pem()).unwrap();
        Self { issuer, file }
    }

    /// Writes a certificate for localhost and its key.
    fn certify(&self, chain: &Path, key: &Path) {
        let pair = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        fs::write(chain, params.signed_by(&pair, &self.issuer).unwrap().pem()).unwrap();
        fs::write(key, pair.serialize_pem()).unwrap();
    }
}

struct Fixture {
    directory: TempDir,
    authority: Authority,
    files: TlsFiles,
}

impl Fixture {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let authority = Authority::new(directory.path(), "authority");
        let files = TlsFiles {
            certificate_chain: directory.path().join("server.pem"),
            private_key: directory.path().join("server.key"),
            clients: None,
        };
        authority.certify(&files.certificate_chain, &files.private_key);
        Self { directory, authority, files }
    }

    fn renew(&self) {
        self.authority.certify(&self.files.certificate_chain, &self.files.private_key);
    }

    fn load(&self) -> ServerTls {
        ServerTls::load(self.files.clone(), &[b"h2", b"http/1.1"]).unwrap()
    }

    /// A client that trusts the authority and shows no certificate.
    fn client(&self) -> ClientTls {
        ClientTls { authorities: Some(self.authority.file.clone()), certificate: None }
    }

    /// A client that trusts the authority and shows a certificate signed by `authority`.
    fn client_of(&self, authority: &Authority) -> ClientTls {
        let (chain, key) =
            (self.directory.path().join("client.pem"), self.directory.path().join("client.key"));
        authority.certify(&chain, &key);
        ClientTls { certificate: Some((chain, key)), ..self.client() }
    }
}

/// Results of a handshake for a client: the server's certificate and the protocol.
struct Met {
    certificate: CertificateDer<'static>,
    protocol: Vec<u8>,
}

/// A handshake and a byte from the server, since a server refuses certificates after the client is done.
async fn meet(server: &ServerTls, client: &ClientTls) -> io::Result<Met> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let acceptor = server.acceptor();
    let serve = async move {
        let mut stream = acceptor.accept(far).await?;
        stream.write_all(b"!").await?;
        stream.shutdown().await
    };
    let connector = TlsConnector::from(client.config(&[b"h2"]).unwrap());
    let connect = async move {
        let mut stream = connector.connect(ServerName::try_from("localhost").unwrap(), near).await?;
        stream.read_u8().await?;
        let session = stream.get_ref().1;
        Ok(Met {
            certificate: session.peer_certificates().unwrap()[0].clone().into_owned(),
            protocol: session.alpn_protocol().unwrap_or_default().to_vec(),
        })
    };
    let (_, met): (io::Result<()>, io::Result<Met>) = tokio::join!(serve, connect);
    met
}

#[tokio::test]
async fn a_client_that_trusts_the_authority_gets_through() {
    let fixture = Fixture::new();
    let server = fixture.load();
    assert_eq!(meet(&server, &fixture.client()).await.unwrap().protocol, b"h2");
    let other = Authority::new(fixture.directory.path(), "other");
    let stranger = ClientTls { authorities: Some(other.file), certificate: None };
    assert!(meet(&server, &stranger).await.is_err());
}

#[tokio::test]
async fn where_it_is_required_a_client_shows_a_certificate_of_the_right_authority() {
    let mut fixture = Fixture::new();
    let other = Authority::new(fixture.directory.path(), "other");
    fixture.files.clients = Some(ClientCertificates::Required(fixture.authority.file.clone()));
    let server = fixture.load();
    meet(&server, &fixture.client_of(&fixture.authority)).await.unwrap();
    assert!(meet(&server, &fixture.client()).await.is_err());
    assert!(meet(&server, &fixture.client_of(&other)).await.is_err());
}

#[tokio::test]
async fn where_it_is_optional_a_wrong_certificate_is_still_wrong() {
    let mut fixture = Fixture::new();
    let other = Authority::new(fixture.directory.path(), "other");
    fixture.files.clients = Some(ClientCertificates::Optional(fixture.authority.file.clone()));
    let server = fixture.load();
    meet(&server, &fixture.client()).await.unwrap();
    meet(&server, &fixture.client_of(&fixture.authority)).await.unwrap();
    assert!(meet(&server, &fixture.client_of(&other)).await.is_err());
}

#[tokio::test]
async fn replaced_files_count_for_the_next_connection() {
    let fixture = Fixture::new();
    let server = fixture.load();
    let before = meet(&server, &fixture.client()).await.unwrap().certificate;
    assert!(!server.reload().unwrap(), "nothing changed");
    fixture.renew();
    assert!(server.reload().unwrap());
    let after = meet(&server, &fixture.client()).await.unwrap().certificate;
    assert_ne!(before, after);
}

#[tokio::test]
async fn broken_files_leave_the_former_in_use() {
    let fixture = Fixture::new();
    let server = fixture.load();
    let before = meet(&server, &fixture.client()).await.unwrap().certificate;
    let key = fs::read(&fixture.files.private_key).unwrap();
    fixture.renew();
    // Half of the change is there: the new certificate with the former key.
    fs::write(&fixture.files.private_key, key).unwrap();
    assert!(matches!(server.reload(), Err(TlsError::Rejected(_))));
    fs::write(&fixture.files.certificate_chain, "nothing").unwrap();
    assert!(matches!(server.reload(), Err(TlsError::Content { .. })));
    fs::remove_file(&fixture.files.certificate_chain).unwrap();
    assert!(matches!(server.reload(), Err(TlsError::File { .. })));
    assert_eq!(meet(&server, &fixture.client()).await.unwrap().certificate, before);
    fixture.renew();
    assert!(server.reload().unwrap());
}

#[tokio::test]
async fn replaced_files_are_noticed_by_themselves() {
    let fixture = Fixture::new();
    let server = Arc::new(fixture.load());
    let before = server.config();
    let watch = tokio::spawn(Arc::clone(&server).watch(Duration::from_millis(1)));
    fixture.renew();
    let noticed = async {
        while Arc::ptr_eq(&before, &server.config()) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), noticed).await.unwrap();
    watch.abort();
    meet(&server, &fixture.client()).await.unwrap();
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let fixture = Fixture::new();
    let load = |files: TlsFiles| ServerTls::load(files, &[]).unwrap_err().to_string();
    let missing = fixture.directory.path().join("missing.pem");
    let error = load(TlsFiles { certificate_chain: missing.clone(), ..fixture.files.clone() });
    assert!(error.contains("missing.pem"), "{error}");
    let swapped = TlsFiles { private_key: fixture.files.certificate_chain.clone(), ..fixture.files.clone() };
    let error = load(swapped);
    assert!(error.contains("server.pem: it has no private key"), "{error}");
    let swapped = TlsFiles { certificate_chain: fixture.files.private_key.clone(), ..fixture.files.clone() };
    let error = load(swapped);
    assert!(error.contains("server.key: it has no certificate"), "{error}");
    let clients = Some(ClientCertificates::Required(missing));
    let error = load(TlsFiles { clients, ..fixture.files.clone() });
    assert!(error.contains("missing.pem"), "{error}");
}

#[tokio::test]
async fn an_issuer_behind_tls_must_have_a_certificate_that_is_trusted() {
    let fixture = Fixture::new();
    let (issuer, key, hand) =
        (Issuer::start_with(Some(fixture.load())).await, SigningKey::ed25519("first"), Hand::new());
    issuer.publish(&[&key]);
    let token = key.token("EdDSA", &json!({"iss": issuer.url(), "sub": "ann", "exp": hand.now_s() + 300}));
    let check = async |tls: ClientTls| {
        let settings = OidcSettings { tls, ..OidcSettings::new(issuer.url()) };
        let oidc = Oidc::new(settings, hand.clock()).unwrap();
        let authenticator = Authenticator::new(Method::Oidc(Arc::new(oidc)), None, hand.clock());
        ask(&authenticator, &format!("Bearer {token}")).await
    };
    let stranger = Authority::new(fixture.directory.path(), "other");
    let mistrusting = ClientTls { authorities: Some(stranger.file), certificate: None };
    assert_eq!(check(mistrusting).await.unwrap_err(), Reason::IssuerUnavailable);
    assert_eq!(issuer.key_requests(), 0);
    assert_eq!(check(fixture.client()).await.unwrap().user_name(), Some("ann"));
}

#[tokio::test]
async fn servers_of_a_kind_show_certificates_to_each_other() {
    let fixture = Fixture::new();
    assert!(fixture.load().client_config().is_none(), "that one connects to nobody");
    let TlsFiles { certificate_chain, private_key, .. } = fixture.files.clone();
    let load = |authorities: &Path| {
        ServerTls::load_mutual(certificate_chain.clone(), private_key.clone(), authorities.to_owned())
    };
    let server = load(&fixture.authority.file).unwrap();
    let handshake = async |client: Arc<rustls::ClientConfig>| {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let name = ServerName::try_from("localhost").unwrap();
        let connect = TlsConnector::from(client).connect(name, near);
        let (accepted, connected) = tokio::join!(server.acceptor().accept(far), connect);
        connected?;
        let accepted = accepted?;
        io::Result::Ok(accepted.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned())
    };
    let first = handshake(server.client_config().unwrap()).await.unwrap();
    // Renewed files count for both sides.
    fixture.renew();
    assert!(server.reload().unwrap());
    let second = handshake(server.client_config().unwrap()).await.unwrap();
    assert_ne!(first, second);
    // One that trusts another authority is refused by this one, and refuses it.
    let stranger = Authority::new(fixture.directory.path(), "stranger");
    let error = handshake(load(&stranger.file).unwrap().client_config().unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("UnknownIssuer"), "{error}");
    let missing = load(Path::new("/nowhere/ca.pem")).unwrap_err();
    assert!(matches!(missing, TlsError::File { .. }), "{missing}");
}
