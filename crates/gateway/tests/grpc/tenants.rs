//! Which tenants requests may name, or leave out.

use broker_api::SubmitError;
use gateway::Tenancy;
use gateway::grpc::Options;
use grpc as pb;
use grpc::gateway_client::GatewayClient;
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::Server;
use crate::calls::assert_refused;
use crate::fake::FakeBroker;

/// All requests that have a tenant, with the one given or without.
async fn ask_all(client: &mut GatewayClient<Channel>, tenant_id: &str) -> Vec<Result<(), Status>> {
    let tenant_id = tenant_id.to_owned();
    let tenant_ids: Vec<String> = Some(tenant_id.clone()).into_iter().filter(|id| !id.is_empty()).collect();
    let creation = pb::CreateProcessInstanceRequest {
        bpmn_process_id: "p".to_owned(),
        version: -1,
        tenant_id: tenant_id.clone(),
        ..Default::default()
    };
    let with_result =
        pb::CreateProcessInstanceWithResultRequest { request: Some(creation.clone()), ..Default::default() };
    let file = pb::Resource { name: "p.bpmn".to_owned(), content: vec![] };
    let deployment = pb::DeployResourceRequest { resources: vec![file], tenant_id: tenant_id.clone() };
    let message = pb::PublishMessageRequest {
        name: "m".to_owned(),
        tenant_id: tenant_id.clone(),
        ..Default::default()
    };
    let signal = pb::BroadcastSignalRequest {
        signal_name: "s".to_owned(),
        tenant_id: tenant_id.clone(),
        ..Default::default()
    };
    let conditional = pb::EvaluateConditionalRequest { tenant_id: tenant_id.clone(), ..Default::default() };
    let decision =
        pb::EvaluateDecisionRequest { decision_id: "d".to_owned(), tenant_id, ..Default::default() };
    let jobs = pb::ActivateJobsRequest {
        r#type: "t".to_owned(),
        timeout: 1000,
        max_jobs_to_activate: 1,
        request_timeout: -1,
        tenant_ids: tenant_ids.clone(),
        ..Default::default()
    };
    let stream = pb::StreamActivatedJobsRequest {
        r#type: "t".to_owned(),
        timeout: 1000,
        tenant_ids,
        ..Default::default()
    };
    vec![
        client.create_process_instance(creation).await.map(drop),
        client.create_process_instance_with_result(with_result).await.map(drop),
        client.deploy_resource(deployment).await.map(drop),
        client.publish_message(message).await.map(drop),
        client.broadcast_signal(signal).await.map(drop),
        client.evaluate_conditional(conditional).await.map(drop),
        client.evaluate_decision(decision).await.map(drop),
        client.activate_jobs(jobs).await.map(drop),
        client.stream_activated_jobs(stream).await.map(drop),
    ]
}

fn broker() -> FakeBroker {
    FakeBroker::answering((0..7).map(|_| Err(SubmitError::Unavailable("asked".to_owned()))))
}

#[tokio::test]
async fn without_multi_tenancy_there_is_the_default_tenant_only() {
    let server = Server::start(broker()).await;
    let mut client = server.client().await;
    for refused in ask_all(&mut client, "other").await {
        assert_refused(refused, Code::InvalidArgument, "multi-tenancy is disabled");
    }
    assert!(server.broker.commands().is_empty() && server.broker.asked().is_empty());
    ask_all(&mut client, "").await;
    assert_eq!((server.broker.commands().len(), server.broker.asked().len()), (7, 2));
    server.stop().await;
}

#[tokio::test]
async fn with_multi_tenancy_a_tenant_is_named() {
    let options = Options { tenancy: Tenancy { is_enabled: true }, ..Options::default() };
    let server = Server::start_with(broker(), options).await;
    let mut client = server.client().await;
    for refused in ask_all(&mut client, "").await {
        assert_refused(refused, Code::InvalidArgument, "provided");
    }
    assert!(server.broker.commands().is_empty() && server.broker.asked().is_empty());
    ask_all(&mut client, "other").await;
    assert_eq!((server.broker.commands().len(), server.broker.asked().len()), (7, 2));
    server.stop().await;
}
