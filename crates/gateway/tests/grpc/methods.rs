//! Every method of the protocol has somebody who answers it.

use broker_api::SubmitError;
use grpc as pb;
use http::uri::PathAndQuery;
use tonic::client::Grpc;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

use crate::Server;
use crate::fake::FakeBroker;

const PROTOCOL: &str = include_str!("../../../grpc/proto/gateway.proto");

/// Calls a method with a message that says nothing, which looks the same for all of them.
async fn call(server: &Server, method: &str) -> Result<(), Status> {
    let path = PathAndQuery::try_from(format!("/gateway_protocol.Gateway/{method}")).unwrap();
    let codec = ProstCodec::<pb::TopologyRequest, pb::TopologyResponse>::default();
    let mut client = Grpc::new(server.channel().await);
    client.ready().await.unwrap();
    client.unary(Request::new(pb::TopologyRequest {}), path, codec).await.map(drop)
}

#[tokio::test]
async fn every_method_of_the_protocol_is_served() {
    let methods: Vec<&str> = PROTOCOL
        .lines()
        .filter_map(|line| line.trim().strip_prefix("rpc ")?.split([' ', '(']).next())
        .collect();
    assert!(methods.contains(&"EvaluateConditional") && methods.len() > 20, "{methods:?}");
    let nobody = || Err(SubmitError::Unavailable("nobody is there".to_owned()));
    let server = Server::start(FakeBroker::answering(methods.iter().map(|_| nobody()))).await;
    for method in &methods {
        let code = call(&server, method).await.map_or_else(|status| status.code(), |()| Code::Ok);
        // It is answered, refused for what it leaves out, or has come to the broker.
        let is_served = [Code::Ok, Code::InvalidArgument, Code::NotFound, Code::Unavailable].contains(&code);
        assert!(is_served, "{method}: {code:?}");
    }
    assert_eq!(call(&server, "MakeCoffee").await.unwrap_err().code(), Code::Unimplemented);
    server.stop().await;
}
