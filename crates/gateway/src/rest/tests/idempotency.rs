//! `Idempotency-Key`: which requests are one.

use std::sync::Arc;

use ::http::{HeaderValue, Request};
use bytes::Bytes;
use http_body_util::Full;
use protocol::{Command, Idempotency, RejectionType};

use super::fake::FakeBroker;
use super::{block_on, gateway, request, text};

const CREATION: &str = "/v2/process-instances";
const ORDER: &str = r#"{"processDefinitionId":"order"}"#;

fn keyed(mut request: Request<Full<Bytes>>, key: &'static str) -> Request<Full<Bytes>> {
    request.headers_mut().append("Idempotency-Key", HeaderValue::from_static(key));
    request
}

/// The key with which a request reaches the broker.
fn sent(request: Request<Full<Bytes>>) -> Option<Idempotency> {
    let broker = Arc::<FakeBroker>::default();
    let answer = block_on(gateway(&broker).answer(request));
    assert!(answer.status().is_success(), "{answer:?}");
    match broker.last() {
        Command::Idempotent { by, .. } => Some(by),
        _ => None,
    }
}

fn creation(body: &'static str) -> Request<Full<Bytes>> {
    request("POST", CREATION, body)
}

fn deployment(boundary: &str, content: &str) -> Request<Full<Bytes>> {
    let body = format!(
        "--{boundary}\r\ncontent-disposition: form-data; name=\"resources\"; filename=\"a.form\"\r\n\r\n{content}\r\n\
         --{boundary}--\r\n"
    );
    Request::post("/v2/deployments")
        .header("content-type", format!("multipart/form-data; boundary={boundary}"))
        .body(Full::from(body))
        .unwrap()
}

#[test]
fn the_same_request_with_the_same_key_is_one() {
    assert_eq!(sent(creation(ORDER)), None);
    let first = sent(keyed(creation(ORDER), "a")).unwrap();
    assert_eq!(sent(keyed(creation(ORDER), "a")), Some(first));
    let other_key = sent(keyed(creation(ORDER), "b")).unwrap();
    assert_ne!(other_key.key, first.key);
    assert_eq!(other_key.fingerprint, first.fingerprint);
    for other in [
        creation(r#"{"processDefinitionId":"other"}"#),
        creation(r#"{"processDefinitionId":"order","awaitCompletion":true}"#),
        request("POST", "/v2/jobs/5/completion", "{}"),
        request("POST", "/v2/jobs/6/completion", "{}"),
    ] {
        let uri = other.uri().clone();
        let by = sent(keyed(other, "a")).unwrap_or_else(|| panic!("{uri}: without a key"));
        assert_eq!(by.key, first.key, "{uri}");
        assert_ne!(by.fingerprint, first.fingerprint, "{uri}");
    }
    let jobs = ["/v2/jobs/5/completion", "/v2/jobs/6/completion"];
    let [five, six] = jobs.map(|path| sent(keyed(request("POST", path, "{}"), "a")).unwrap());
    assert_ne!(five.fingerprint, six.fingerprint);
}

#[test]
fn a_form_is_the_same_whatever_separates_its_parts() {
    let first = sent(keyed(deployment("x", "{}"), "a")).unwrap();
    assert_eq!(sent(keyed(deployment("y", "{}"), "a")), Some(first));
    assert_ne!(sent(keyed(deployment("x", "{ }"), "a")).unwrap().fingerprint, first.fingerprint);
}

#[test]
fn keys_that_are_none_are_refused() {
    let broker = Arc::<FakeBroker>::default();
    let gateway = gateway(&broker);
    let twice = keyed(keyed(creation(ORDER), "a"), "a");
    for (request, reason) in [(keyed(creation(ORDER), ""), "has 0 characters"), (twice, "more than one")] {
        let (status, answer) = block_on(async { text(gateway.answer(request).await).await });
        assert_eq!(status, 400, "{answer}");
        assert!(answer.contains("idempotency-key") && answer.contains(reason), "{answer}");
    }
}

#[test]
fn another_request_with_the_key_is_unprocessable_and_a_full_table_unavailable() {
    for (kind, wanted) in
        [(RejectionType::IdempotencyKeyReused, 422), (RejectionType::ResourceExhausted, 503)]
    {
        let failure =
            super::super::problem::Failure::submit(protocol::Rejection::new(kind, "no").into(), "CREATE");
        assert_eq!(failure.status().as_u16(), wanted);
    }
}
