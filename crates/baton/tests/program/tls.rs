//! Commands over TLS.

use rustix::process::Signal;

use crate::support::{Server, baton, failed, run, text};

/// Certificates of an authority, signed for `localhost` and for a client, in files.
struct Certificates(tempfile::TempDir);

impl Certificates {
    fn new() -> Self {
        use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
        let directory = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let write = |name: &str, pem: String| std::fs::write(directory.path().join(name), pem).unwrap();
        for (name, host) in [("server", "localhost"), ("client", "robot")] {
            let pair = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
            write(&format!("{name}.pem"), params.signed_by(&pair, &authority).unwrap().pem());
            write(&format!("{name}-key.pem"), pair.serialize_pem());
        }
        write("authority.pem", authority.pem());
        // An authority that is a server, too: signed by itself.
        let pair = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        write("both.pem", params.self_signed(&pair).unwrap().pem());
        write("both-key.pem", pair.serialize_pem());
        Self(directory)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

#[test]
fn commands_speak_tls_and_show_certificates_where_they_are_asked_for() {
    let certificates = Certificates::new();
    let [authority, chain, key] =
        ["authority.pem", "client.pem", "client-key.pem"].map(|name| certificates.path(name));
    let users = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(users.path(), "users: [{username: ann, password: right}]").unwrap();
    let mut settings = vec![
        "security.authentication.method=basic".to_owned(),
        format!("security.initialization={}", users.path().display()),
        "management.authentication=true".to_owned(),
    ];
    for port in ["rest", "grpc", "management"] {
        settings.push(format!("{port}.tls.certificate_chain={}", certificates.path("server.pem")));
        settings.push(format!("{port}.tls.private_key={}", certificates.path("server-key.pem")));
        if port != "management" {
            settings.push(format!("{port}.tls.client_certificates=required"));
            settings.push(format!("{port}.tls.client_authorities={authority}"));
        }
    }
    let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let server = Server::start(&settings);
    let address = |port: &str, scheme: &str, host: &str| {
        format!("{scheme}://{host}:{}", server.address(port).rsplit(':').next().unwrap())
    };
    let ask = |arguments: &[&str]| {
        baton().args(arguments).env("BATON_USERNAME", "ann").env("BATON_PASSWORD", "right").output().unwrap()
    };
    for (protocol, option) in [("rest", "--rest-address"), ("grpc", "--grpc-address")] {
        let status = |scheme: &str, host: &str, more: &[&str]| {
            let address = address(protocol, scheme, host);
            let arguments =
                ["status", "--json", "--request-timeout", "5s", "--protocol", protocol, option, &address];
            ask(&[&arguments, more].concat())
        };
        let trusted = ["--authorities", authority.as_str()];
        let known = [&trusted[..], &["--certificate-chain", &chain, "--private-key", &key]].concat();
        let output = status("https", "localhost", &known);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["brokers"][0]["partitions"][0]["role"], "leader", "{answer}");
        let nobody = [&known[..], &["--username", "bob"]].concat();
        // Neither an authority that is not known, nor another name, nor nobody's certificate, nor without TLS.
        for (host, options, code, mentions) in [
            ("localhost", &nobody[..], 1, ["user name or password is wrong", "hint: give credentials"]),
            ("localhost", &known[2..], 1, ["UnknownIssuer", "hint: nobody who is trusted here"]),
            ("127.0.0.1", &known, 1, ["certificate", "hint: the certificate is for other host names"]),
            ("localhost", &known[..4], 2, ["--certificate-chain needs", "--private-key"]),
            ("localhost", &["--authorities", "/nowhere.pem"], 2, ["/nowhere.pem", "No such file"]),
            ("localhost", &["--authorities", &key], 2, [&key, "certificate"]),
        ] {
            failed(&status("https", host, options), code, &mentions);
        }
        // The server ends these; whether the request was sent by then is chance.
        for refused in [status("https", "localhost", &trusted), status("http", "localhost", &known)] {
            failed(&refused, 1, &[]);
            assert!(refused.stdout.is_empty(), "{refused:?}");
        }
    }
    let management = address("management", "https", "localhost");
    let banned = ["banned", "--json", "--management-address", &management, "--authorities", &authority];
    let output = ask(&banned);
    assert!(output.status.success(), "{}", text(&output.stderr));
    failed(&run(&banned), 1, &["credentials are missing"]);
    let (code, _, log) = server.stop(Signal::TERM);
    assert!(code == Some(0) && !log.contains("ERROR"), "{log}");
}

#[test]
fn the_cause_of_a_connection_that_fails_is_told() {
    let certificates = Certificates::new();
    let both = certificates.path("both.pem");
    let mut settings = Vec::new();
    for port in ["rest", "grpc"] {
        settings.push(format!("{port}.tls.certificate_chain={both}"));
        settings.push(format!("{port}.tls.private_key={}", certificates.path("both-key.pem")));
    }
    let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let server = Server::start(&settings);
    for (protocol, option) in [("rest", "--rest-address"), ("grpc", "--grpc-address")] {
        let port = server.address(protocol).rsplit(':').next().unwrap().to_owned();
        let status = |scheme: &str| {
            let address = format!("{scheme}://localhost:{port}");
            run(&["status", "--protocol", protocol, option, &address, "--authorities", &both])
        };
        failed(&status("https"), 1, &["hint: the server shows the certificate of an authority", "CA:FALSE"]);
        failed(&status("http"), 1, &["hint: ", "TLS", "write https:// in the address"]);
    }
    server.stop(Signal::TERM);

    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}", silent.local_addr().unwrap());
    let options = ["--rest-address", &address, "--authorities", &both, "--request-timeout", "200ms"];
    failed(
        &run(&[&["status"], &options[..]].concat()),
        3,
        &["no answer within 200 ms", "hint: is a server running"],
    );
}
