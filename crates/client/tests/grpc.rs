//! The gRPC client against a server in the same process.

mod fakes;

use std::time::Duration;

use client::{ActivateJobs, Client, CreateInstance, Definition, Error, GrpcClient, GrpcOptions, Resource};
use fakes::FakeGateway;

#[tokio::test]
async fn commands_and_answers() {
    let gateway = FakeGateway::default();
    let client = Client::Grpc(fakes::grpc_client(fakes::grpc_server(gateway.clone()).await));

    let topology = client.topology().await.unwrap();
    let partition = &topology.brokers[0].partitions[0];
    assert_eq!((partition.role.as_str(), partition.health.as_str()), ("leader", "healthy"));

    let deployment = client.deploy(&[Resource { name: "p.bpmn", content: b"p" }], None).await.unwrap();
    assert_eq!((deployment.key, deployment.deployed[0].id.as_str(), deployment.deployed[0].key), (5, "p", 7));

    let by_key = CreateInstance {
        definition: Definition::Key(7),
        variables: Some("{}"),
        ..CreateInstance::latest("")
    };
    assert_eq!(client.create_instance_key(&by_key).await.unwrap(), 1);
    assert_eq!(client.create_instance(&CreateInstance::latest("p")).await.unwrap().key, 2);
    {
        let book = gateway.book.lock();
        assert_eq!((book.created[0].process_definition_key, book.created[0].variables.as_str()), (7, "{}"));
        assert_eq!((book.created[1].bpmn_process_id.as_str(), book.created[1].version), ("p", -1));
    }

    gateway.book.lock().waiting.extend([fakes::job(1), fakes::job(2), fakes::job(3)]);
    let command = ActivateJobs {
        job_type: "work",
        worker: "me",
        timeout: Duration::from_secs(1),
        jobs_max: 2,
        fetch_variables: &[],
        wait: Some(Duration::ZERO),
        tenant_ids: &[],
    };
    let jobs = client.activate_jobs(&command).await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.key).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(jobs[0].variables, r#"{"a": 1}"#);
}

#[tokio::test]
async fn refusals_are_typed() {
    let client = fakes::grpc_client(fakes::grpc_server(FakeGateway::default()).await);
    let error = client.create_instance(&CreateInstance::latest("missing")).await.unwrap_err();
    assert!(error.is_not_found(), "{error}");
    assert_eq!(error.to_string(), "NotFound: no such process");
    assert!(client.cancel_instance(1).await.unwrap_err().is_resource_exhausted());
    let error = client.delete_resource(1).await.unwrap_err();
    assert_eq!(error.kind(), "UNIMPLEMENTED");
}

#[tokio::test]
async fn a_window_of_nothing_still_lets_one_through() {
    let address = fakes::grpc_server(FakeGateway::default()).await.to_string();
    let client = GrpcClient::new(GrpcOptions { address, window: 0, ..GrpcOptions::default() }).unwrap();
    let both = async { tokio::join!(client.topology(), client.topology()) };
    let (one, other) =
        tokio::time::timeout(Duration::from_secs(20), both).await.expect("one after the other");
    assert!(one.is_ok() && other.is_ok(), "{one:?} {other:?}");
}

#[tokio::test]
async fn nobody_there() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = fakes::grpc_client(address).topology().await.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    assert!(error.is_transient());
}
