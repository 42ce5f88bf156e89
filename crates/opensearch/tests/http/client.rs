//! Nodes that are away, connections that break, who is who.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use opensearch::{Blocking, Bulk, ClientError, Limits, Method, Options, Outcome, Secret};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};

use crate::stub::{Answer, Stub, items};

fn get(options: &Options) -> Result<Value, ClientError> {
    Blocking::new(options).unwrap().json(Method::GET, "/x", None).and_then(|answer| answer.json())
}

fn hello(_: &crate::stub::Request) -> Answer {
    Answer::Body(200, json!({ "hello": true }))
}

#[test]
fn the_next_node_is_asked() {
    let stub = Stub::start(hello);
    let urls = vec!["http://127.0.0.1:1".to_owned(), stub.url()];
    assert_eq!(get(&Options { urls, ..Options::new("") }).unwrap(), json!({ "hello": true }));
    let error = get(&Options::new("http://127.0.0.1:1")).unwrap_err().to_string();
    assert!(error.starts_with("127.0.0.1:1: "), "{error}");
}

#[test]
fn connections_that_were_closed_meanwhile_are_replaced() {
    let stub = Stub::start(|_| Answer::Last(200, json!({})));
    let client = Blocking::new(&Options::new(stub.url())).unwrap();
    for _ in 0..20 {
        assert!(client.json(Method::GET, "/", None).unwrap().status.is_success());
    }
    assert_eq!(stub.asked.try_iter().count(), 20);
    // One that breaks in the midst of a request is an error, and the next request has a new one.
    let stub =
        Stub::start(|request| if request.line == "GET /break" { Answer::Break } else { hello(request) });
    let client = Blocking::new(&Options::new(stub.url())).unwrap();
    assert!(matches!(client.json(Method::GET, "/break", None), Err(ClientError::Connection(_))));
    assert!(client.json(Method::GET, "/", None).is_ok());
}

#[test]
fn an_answer_that_takes_too_long_is_not_waited_for() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = parking_lot::Mutex::new(wait);
    let stub = Stub::start(move |request| {
        let _ = wait.lock().recv();
        hello(request)
    });
    let options = Options { request_timeout: Duration::from_millis(50), ..Options::new(stub.url()) };
    assert!(matches!(get(&options), Err(ClientError::Timeout(_))));
    drop(release);
}

/// A server with a certificate of its own authority, and that one's file.
fn secured(directory: &std::path::Path) -> (Stub, PathBuf) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let path = directory.join("authority.pem");
    std::fs::write(&path, authority.pem()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.into()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    (Stub::serve(Some(Arc::new(config)), hello), path)
}

#[test]
fn only_who_is_trusted_is_told_the_password() {
    let directory = tempfile::tempdir().unwrap();
    let (stub, authority) = secured(directory.path());
    let options = Options {
        username: Some("me".to_owned()),
        password: Secret::new("pass:word"),
        authorities: Some(authority),
        ..Options::new(format!("https://{}", stub.authority))
    };
    assert_eq!(get(&options).unwrap(), json!({ "hello": true }));
    // me:pass:word
    assert_eq!(stub.asked.recv().unwrap().authorization.as_deref(), Some("Basic bWU6cGFzczp3b3Jk"));
    let other = tempfile::tempdir().unwrap();
    let (_, wrong) = secured(other.path());
    let error = get(&Options { authorities: Some(wrong), ..options.clone() }).unwrap_err();
    assert!(error.to_string().contains("TLS"), "{error}");
    let error = get(&Options { authorities: Some("/nowhere.pem".into()), ..options }).unwrap_err();
    assert!(error.to_string().contains("/nowhere.pem"), "{error}");
    assert_eq!(stub.asked.try_iter().count(), 0);
}

#[test]
fn what_is_too_large_is_halved() {
    let stub = Stub::start(|request| match request.ids().len() {
        _ if request.ids().contains(&"4".to_owned()) => Answer::Body(413, json!({})),
        count @ 0..=2 => items(&vec![201; count]),
        _ => Answer::Body(413, json!({})),
    });
    let client = Blocking::new(&Options::new(stub.url())).unwrap();
    let mut bulk = Bulk::new(Limits::default());
    for id in 0..7 {
        bulk.push(&json!({ "index": { "_id": id.to_string() } }), Some(b"{}"));
    }
    let outcomes = client.bulk(&mut bulk).unwrap();
    for (id, outcome) in outcomes.iter().enumerate() {
        assert_eq!(matches!(outcome, Outcome::Refused(_)), id == 4, "{id}: {outcome:?}");
    }
    assert_eq!(outcomes.len(), 7);
    assert!(bulk.is_empty());
    let sent: Vec<String> =
        stub.asked.try_iter().filter(|asked| asked.ids().len() <= 2).flat_map(|asked| asked.ids()).collect();
    for id in 0..7 {
        assert!(sent.contains(&id.to_string()), "{sent:?}");
    }
}
