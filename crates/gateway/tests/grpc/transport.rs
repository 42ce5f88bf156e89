//! The connection: compression, limits, health, unknown methods, other protocols.

use grpc as pb;
use protocol::Response;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;
use tonic::codec::CompressionEncoding;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::Server;
use crate::fake::{FakeBroker, MESSAGE_BYTES_MAX, instance};

fn create(variables: String) -> pb::CreateProcessInstanceRequest {
    pb::CreateProcessInstanceRequest {
        bpmn_process_id: "p".to_owned(),
        version: -1,
        variables,
        ..Default::default()
    }
}

#[tokio::test]
async fn compressed_requests_are_read_and_bombs_are_not() {
    let server = Server::start(FakeBroker::answering([Ok(Response::InstanceCreated(instance()))])).await;
    let mut client = server.client().await.send_compressed(CompressionEncoding::Gzip);
    client.create_process_instance(create("{\"a\":1}".to_owned())).await.unwrap();
    let bomb = create(format!("{{\"a\":\"{}\"}}", "x".repeat(MESSAGE_BYTES_MAX * 10)));
    let refused = client.create_process_instance(bomb).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    assert!(refused.message().contains(&MESSAGE_BYTES_MAX.to_string()), "{refused}");
    assert_eq!(server.broker.commands().len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_and_the_connection_lives_on() {
    let server = Server::start(FakeBroker::answering([Ok(Response::InstanceCreated(instance()))])).await;
    let mut client = server.client().await;
    let large = create(format!("{{\"a\":\"{}\"}}", "x".repeat(MESSAGE_BYTES_MAX)));
    let refused = client.create_process_instance(large).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    assert!(refused.message().contains(&format!("the limit is: {MESSAGE_BYTES_MAX} bytes")), "{refused}");
    client.create_process_instance(create(String::new())).await.unwrap();
    server.stop().await;
}

/// A message with bytes where the protocol has a text.
#[derive(Clone, PartialEq, prost::Message)]
struct Bytes {
    #[prost(bytes = "vec", tag = "1")]
    name: Vec<u8>,
}

#[tokio::test]
async fn what_is_no_such_message_is_the_fault_of_the_client() {
    let server = Server::start(FakeBroker::answering([Ok(Response::InstanceCreated(instance()))])).await;
    let mut raw = tonic::client::Grpc::new(server.channel().await);
    for method in ["PublishMessage", "ActivateJobs", "StreamActivatedJobs", "BroadcastSignal"] {
        raw.ready().await.unwrap();
        let path = format!("/gateway_protocol.Gateway/{method}").parse().unwrap();
        let codec = tonic_prost::ProstCodec::<Bytes, Bytes>::default();
        let request = tonic::Request::new(Bytes { name: vec![b'a', 0xff, 0xfe] });
        let refused = raw.unary(request, path, codec).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{method}: {refused}");
        assert!(refused.message().contains("UTF-8"), "{method}: {refused}");
    }
    let mut client = server.client().await;
    client.create_process_instance(create(String::new())).await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn health_is_told_for_the_service() {
    let server = Server::start(FakeBroker::default()).await;
    let request = HealthCheckRequest { service: "gateway_protocol.Gateway".to_owned() };
    let answer = HealthClient::new(server.channel().await).check(request).await.unwrap().into_inner();
    assert_eq!(answer.status(), tonic_health::pb::health_check_response::ServingStatus::Serving);
    server.stop().await;
}

#[tokio::test]
async fn another_protocol_is_closed_without_harm() {
    let server = Server::start(FakeBroker::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut answer = vec![];
    // Closed either way; a reset instead of an end is fine too.
    let _ = stream.read_to_end(&mut answer).await;
    server.client().await.topology(pb::TopologyRequest {}).await.unwrap();
    server.stop().await;
}
