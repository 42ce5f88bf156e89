//! The metadata `idempotency-key`.

use grpc as pb;
use protocol::{Command, Document, Idempotency, Response};
use tonic::{Code, Request};

use crate::Server;
use crate::calls::assert_refused;
use crate::fake::{FakeBroker, instance};

fn keyed<T>(message: T, key: &'static str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("idempotency-key", key.parse().unwrap());
    request
}

fn creation(process: &str) -> pb::CreateProcessInstanceRequest {
    pb::CreateProcessInstanceRequest {
        bpmn_process_id: process.to_owned(),
        version: -1,
        ..Default::default()
    }
}

fn awaited(fetched: &[&str]) -> pb::CreateProcessInstanceWithResultRequest {
    pb::CreateProcessInstanceWithResultRequest {
        request: Some(creation("p")),
        fetch_variables: fetched.iter().map(ToString::to_string).collect(),
        ..Default::default()
    }
}

#[tokio::test]
async fn the_same_call_with_the_same_key_is_one() {
    let created = || Ok(Response::InstanceCreated(instance()));
    let completed = || Ok(Response::InstanceCompleted { instance: instance(), variables: Document::empty() });
    let answers = [created(), created(), created(), created(), completed(), completed(), completed()];
    let server = Server::start(FakeBroker::answering(answers)).await;
    let mut client = server.client().await;
    for (process, key) in [("p", "a"), ("p", "a"), ("q", "a"), ("p", "b")] {
        client.create_process_instance(keyed(creation(process), key)).await.unwrap();
    }
    for fetched in [&["x"], &["x"], &["y"]] {
        client.create_process_instance_with_result(keyed(awaited(fetched), "a")).await.unwrap();
    }
    let commands = server.broker.commands();
    let by: Vec<Idempotency> = commands
        .iter()
        .map(|command| match command {
            Command::Idempotent { by, .. } => *by,
            other => panic!("without a key: {other:?}"),
        })
        .collect();
    let [first, again, other, other_key, result, result_again, other_names] = by[..] else {
        panic!("{by:?}")
    };
    assert_eq!(first, again);
    assert_eq!((other.key, result.key), (first.key, first.key));
    assert_ne!(other_key.key, first.key);
    assert_eq!(other_key.fingerprint, first.fingerprint);
    assert_eq!(result, result_again);
    let mut fingerprints =
        vec![first.fingerprint, other.fingerprint, result.fingerprint, other_names.fingerprint];
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 4);
    let empty = client.create_process_instance(keyed(creation("p"), "")).await;
    assert_refused(empty, Code::InvalidArgument, "'idempotency-key': has 0 characters");
    server.stop().await;
}
