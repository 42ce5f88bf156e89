//! TLS on each port, and credentials at the management port.

use std::net::SocketAddr;
use std::sync::Arc;

use auth::{Authenticator, Basic, ClientTls, Clock, Cost, HashLimits, Hasher, Method, ServerTls, TlsFiles};
use broker_api::Broker;
use gateway::management::{Closed, Gate, Loggers, Management, Metrics, Renderer, Slot};
use gateway::{Access, AccessOptions, Connections, EngineUsers, grpc, rest};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_util::sync::CancellationToken;

use crate::fake::FakeBroker;

/// A server's TLS for a protocol, and a client's that trusts it.
fn tls(directory: &std::path::Path) -> (impl Fn(&[u8]) -> Option<Arc<ServerTls>>, ClientTls) {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let pair = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let file = |name: &str, content: String| {
        let path = directory.join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let files = TlsFiles {
        certificate_chain: file("chain.pem", params.signed_by(&pair, &authority).unwrap().pem()),
        private_key: file("key.pem", pair.serialize_pem()),
        clients: None,
    };
    let client = ClientTls { authorities: Some(file("authority.pem", authority.pem())), certificate: None };
    (move |protocol: &[u8]| Some(Arc::new(ServerTls::load(files.clone(), &[protocol]).unwrap())), client)
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn management(gate: Gate, tls: Option<Arc<ServerTls>>) -> Management {
    let (_, loggers) = Loggers::new("info").unwrap();
    let (_, metrics) = Metrics::recorder();
    Management {
        broker: Slot::default(),
        metrics,
        loggers,
        version: "1.2.3",
        gate,
        connections: Connections::default(),
        tls,
        renderer: Renderer { program: "/bin/true".into(), arguments: Vec::new() },
    }
}

/// A server's answer to `request`, up to `bytes`.
async fn ask(
    client: &ClientTls,
    protocol: &[u8],
    address: SocketAddr,
    request: &[u8],
    bytes: usize,
) -> Vec<u8> {
    let connector = TlsConnector::from(client.config(&[protocol]).unwrap());
    let stream = TcpStream::connect(address).await.unwrap();
    let mut stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol));
    stream.write_all(request).await.unwrap();
    let mut answer = vec![0; bytes];
    stream.read_exact(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn every_port_speaks_tls() {
    let directory = tempfile::tempdir().unwrap();
    let (server, client) = tls(directory.path());
    let broker: Arc<dyn Broker> = Arc::new(FakeBroker::default());
    let stop = CancellationToken::new();
    let (listener, of_rest) = listen().await;
    let options = rest::Options { tls: server(b"http/1.1"), ..rest::Options::default() };
    let rest = tokio::spawn(rest::serve(listener, Arc::clone(&broker), options, stop.clone()));
    let (listener, of_grpc) = listen().await;
    let options = grpc::Options { tls: server(b"h2"), ..grpc::Options::default() };
    let grpc = tokio::spawn(grpc::serve(listener, broker, options, stop.clone()));
    let (listener, of_management) = listen().await;
    let management = management(Gate::default(), server(b"http/1.1"));
    let management = tokio::spawn(gateway::management::serve(listener, management, stop.clone()));

    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let found = ask(&client, b"http/1.1", of_rest, get("/v2/license").as_bytes(), 15).await;
    assert_eq!(found, b"HTTP/1.1 200 OK");
    let found = ask(&client, b"http/1.1", of_management, get("/actuator/info").as_bytes(), 15).await;
    assert_eq!(found, b"HTTP/1.1 200 OK");
    // The preface of HTTP/2 and empty settings (RFC 9113 §3.4); the server begins with its own settings.
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let found = ask(&client, b"h2", of_grpc, preface, 9).await;
    assert_eq!(found[3], 4, "a frame of settings");
    // Clients without TLS get no answer.
    let mut plain = TcpStream::connect(of_rest).await.unwrap();
    plain.write_all(get("/v2/license").as_bytes()).await.unwrap();
    let mut answer = vec![];
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    stop.cancel();
    rest.await.unwrap().unwrap();
    grpc.await.unwrap();
    management.await.unwrap();
}

#[tokio::test]
async fn handshakes_that_do_not_end_keep_nobody_out() {
    let directory = tempfile::tempdir().unwrap();
    let (server, client) = tls(directory.path());
    let stop = CancellationToken::new();
    let (listener, address) = listen().await;
    let options = rest::Options { tls: server(b"http/1.1"), max_connections: 4, ..rest::Options::default() };
    let broker: Arc<dyn Broker> = Arc::new(FakeBroker::default());
    let rest = tokio::spawn(rest::serve(listener, broker, options, stop.clone()));
    let mut held = vec![];
    for _ in 0..20 {
        let mut half = TcpStream::connect(address).await.unwrap();
        // The head of a ClientHello.
        half.write_all(b"\x16\x03\x01").await.unwrap();
        held.push(half);
    }
    let request = b"GET /v2/license HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let answer = ask(&client, b"http/1.1", address, request, 15);
    let answer = tokio::time::timeout(std::time::Duration::from_secs(10), answer).await.expect("a place");
    assert_eq!(answer, b"HTTP/1.1 200 OK");
    stop.cancel();
    rest.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_closed_management_port_is_open_for_probes() {
    let (gate, stop) = (Gate::new(Closed { requests: true, ..Closed::default() }), CancellationToken::new());
    let (listener, address) = listen().await;
    let serving = gateway::management::serve(listener, management(gate.clone(), None), stop.clone());
    let serving = tokio::spawn(serving);
    let status = async |path: &str| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    assert!(status("/actuator/loggers").await.starts_with("HTTP/1.0 503"), "nobody knows users yet");
    let broker: Arc<dyn Broker> = Arc::new(FakeBroker::default());
    let cost = Cost { memory_kib: 8, passes: 1, lanes: 1 };
    let hasher = Hasher::new(cost, HashLimits::default()).unwrap();
    let users = Arc::new(EngineUsers(Arc::clone(&broker)));
    let method = Method::Basic(Arc::new(Basic::new(users, hasher, Clock::system())));
    let authenticator = Authenticator::new(method, None, Clock::system());
    gate.set(Access::new(authenticator, AccessOptions::default()), broker);
    let refused = status("/actuator/loggers").await;
    assert!(refused.starts_with("HTTP/1.0 401"), "{refused}");
    assert!(refused.contains("www-authenticate: Basic realm="), "{refused}");
    for open in ["/actuator/health/liveness", "/metrics", "/actuator/prometheus"] {
        let answer = status(open).await;
        assert!(
            !answer.starts_with("HTTP/1.0 401") && !answer.starts_with("HTTP/1.0 403"),
            "{open}: {answer}"
        );
    }
    stop.cancel();
    serving.await.unwrap();
}
