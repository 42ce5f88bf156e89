//! Calls with one answer: what reaches the broker, what comes back, which status a refusal gets.

use std::time::Duration;

use broker_api::SubmitError;
use gateway::grpc::Options;
use grpc as pb;
use protocol::{
    ActivationInstruction, Command, DecisionEvaluationRecord, DecisionRef, DefinitionRef, DeployedProcess,
    DeploymentCreated, Document, ElementSource, EvaluatedDecisionRecord, EvaluatedInputRecord,
    EvaluatedOutputRecord, Json, MatchedRuleRecord, ModifyInstance, Name, Rejection, RejectionType, Response,
    ScopeVariables,
};
use tonic::{Code, Status};
use traces::testing::Collector;

use crate::Server;
use crate::fake::{FakeBroker, instance};

pub(crate) fn assert_refused<T: std::fmt::Debug>(result: Result<T, Status>, code: Code, mention: &str) {
    let status = result.unwrap_err();
    assert_eq!(status.code(), code, "{status}");
    assert!(status.message().contains(mention), "{} does not mention {mention}", status.message());
}

#[tokio::test]
async fn a_creation_reaches_the_broker_and_its_answer_the_client() {
    let server = Server::start(FakeBroker::answering([Ok(Response::InstanceCreated(instance()))])).await;
    let request = pb::CreateProcessInstanceRequest {
        bpmn_process_id: "p".to_owned(),
        version: -1,
        variables: "{\"a\": {\"b\": 1}}".to_owned(),
        tags: vec!["t".to_owned()],
        ..Default::default()
    };
    let created = server.client().await.create_process_instance(request).await.unwrap().into_inner();
    assert_eq!(
        created,
        pb::CreateProcessInstanceResponse {
            process_definition_key: 11,
            bpmn_process_id: "p".to_owned(),
            version: 2,
            process_instance_key: 12,
            tenant_id: "<default>".to_owned(),
            tags: vec!["t".to_owned()],
        }
    );
    let [Command::CreateInstance(command)] = &server.broker.commands()[..] else { panic!("one creation") };
    assert_eq!(command.definition, DefinitionRef::Id { id: Name::from("p"), version: None });
    assert_eq!(command.tenant_id, Name::default_tenant());
    assert_eq!(command.variables.get("a").unwrap().as_str(), "{\"b\": 1}");
    server.stop().await;
}

#[tokio::test]
async fn a_command_tells_its_position_where_searches_can_wait_for_it() {
    for tells_positions in [true, false] {
        let created = || Ok(Response::InstanceCreated(instance()));
        let completed = Response::InstanceCompleted { instance: instance(), variables: Document::empty() };
        let refused = Err(Rejection::invalid_argument("no").into());
        let broker = FakeBroker::answering([created(), Ok(completed), refused]);
        let options = Options { tells_positions, ..Options::default() };
        let server = Server::start_with(broker, options).await;
        let mut client = server.client().await;
        let request = || pb::CreateProcessInstanceRequest {
            bpmn_process_id: "p".to_owned(),
            version: -1,
            ..Default::default()
        };
        let created = client.create_process_instance(request()).await.unwrap();
        let with_result =
            pb::CreateProcessInstanceWithResultRequest { request: Some(request()), ..Default::default() };
        let completed = client.create_process_instance_with_result(with_result).await.unwrap();
        for metadata in [created.metadata(), completed.metadata()] {
            let told = metadata.get("baton-position").map(|value| value.to_str().unwrap());
            assert_eq!(told, tells_positions.then_some("1:42"));
        }
        let refused = client.create_process_instance(request()).await.unwrap_err();
        assert!(!refused.metadata().contains_key("baton-position"));
        let topology = client.topology(pb::TopologyRequest {}).await.unwrap();
        assert!(!topology.metadata().contains_key("baton-position"));
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_traced() {
    let collector = Collector::start().await.unwrap();
    let traces = collector.traces(1.0).unwrap();
    let options = Options { traces: Some(traces.clone()), ..Options::default() };
    let server =
        Server::start_with(FakeBroker::answering([Ok(Response::InstanceCreated(instance()))]), options).await;
    let created = pb::CreateProcessInstanceRequest {
        bpmn_process_id: "p".to_owned(),
        version: -1,
        ..Default::default()
    };
    server.client().await.create_process_instance(created).await.unwrap();
    server.stop().await;
    let spans = collector.spans(traces).await;
    let call = spans.iter().find(|span| span.name == "CreateProcessInstance").unwrap();
    assert!(call.attributes.iter().any(|attribute| attribute.key == "rpc.grpc.status_code"));
}

#[tokio::test]
async fn a_creation_has_instructions() {
    use pb::process_instance_creation_runtime_instruction::Instruction;
    let server = Server::start(FakeBroker::answering([Ok(Response::InstanceCreated(instance()))])).await;
    let mut client = server.client().await;
    let request = |start: &str, instruction| pb::CreateProcessInstanceRequest {
        bpmn_process_id: "p".to_owned(),
        version: -1,
        start_instructions: vec![pb::ProcessInstanceCreationStartInstruction {
            element_id: start.to_owned(),
        }],
        runtime_instructions: vec![pb::ProcessInstanceCreationRuntimeInstruction { instruction }],
        ..Default::default()
    };
    let after = |id: &str| {
        Some(Instruction::Terminate(pb::TerminateProcessInstanceInstruction {
            after_element_id: id.to_owned(),
        }))
    };
    client.create_process_instance(request("a", after("b"))).await.unwrap();
    let [Command::CreateInstance(command)] = &server.broker.commands()[..] else { panic!("one creation") };
    assert_eq!((&*command.start_before, &*command.terminate_after), (&["a".into()][..], &["b".into()][..]));
    let wrong = Code::InvalidArgument;
    let nowhere = client.create_process_instance(request("", after("b"))).await;
    assert_refused(nowhere, wrong, "'startInstructions.elementId'");
    let never = client.create_process_instance(request("a", None)).await;
    assert_refused(never, wrong, "'runtimeInstructions.terminate.afterElementId'");
    server.stop().await;
}

#[tokio::test]
async fn a_modification_reaches_the_broker() {
    use pb::modify_process_instance_request::{
        ActivateInstruction, TerminateInstruction, VariableInstruction,
    };
    let server = Server::start(FakeBroker::answering([Ok(Response::Done)])).await;
    let mut client = server.client().await;
    let set =
        |variables: &str| VariableInstruction { variables: variables.to_owned(), scope_id: "s".to_owned() };
    let activate = |id: &str, ancestor_element_instance_key, variables: &[&str]| ActivateInstruction {
        element_id: id.to_owned(),
        ancestor_element_instance_key,
        variable_instructions: variables.iter().map(|text| set(text)).collect(),
    };
    let request = |activate_instructions, element_instance_key| pb::ModifyProcessInstanceRequest {
        process_instance_key: 5,
        activate_instructions,
        terminate_instructions: vec![TerminateInstruction { element_instance_key }],
        operation_reference: Some(9),
    };
    let instructions = vec![activate("a", 0, &[]), activate("b", -1, &[]), activate("c", 7, &["{\"x\":1}"])];
    client.modify_process_instance(request(instructions, 8)).await.unwrap();
    let expected = |id: &str, ancestor_key, variables| ActivationInstruction {
        element_id: id.into(),
        ancestor_key,
        variables,
    };
    let x = Document::from_iter([(Name::from("x"), Json::from_valid("1"))]);
    assert_eq!(
        server.broker.commands(),
        [Command::ModifyInstance(ModifyInstance {
            activate: vec![
                expected("a", None, vec![]),
                expected("b", None, vec![]),
                expected("c", Some(7), vec![ScopeVariables { scope_id: "s".into(), variables: x }]),
            ],
            terminate: vec![ElementSource::Key(8)],
            operation_reference: Some(9),
            ..ModifyInstance::of(5)
        })]
    );
    let wrong = Code::InvalidArgument;
    let nameless = client.modify_process_instance(request(vec![activate("", 0, &[])], 8)).await;
    assert_refused(nameless, wrong, "'activateInstructions.elementId'");
    let ancestor = client.modify_process_instance(request(vec![activate("a", -2, &[])], 8)).await;
    assert_refused(ancestor, wrong, "'activateInstructions.ancestorElementInstanceKey'");
    let list = client.modify_process_instance(request(vec![activate("a", 0, &["[]"])], 8)).await;
    assert_refused(list, wrong, "'variableInstructions.variables'");
    let keyless = client.modify_process_instance(request(vec![], 0)).await;
    assert_refused(keyless, wrong, "'terminateInstructions.elementInstanceKey'");
    server.stop().await;
}

#[tokio::test]
async fn an_awaited_result_comes_as_json_text_and_the_timeout_is_passed_on() {
    let completed = || {
        let variables = Document::from_iter([(Name::from("x"), Json::from_valid("1"))]);
        Ok(Response::InstanceCompleted { instance: instance(), variables })
    };
    let late = Err(SubmitError::Timeout("no result within 5 ms".to_owned()));
    let server = Server::start(FakeBroker::answering([completed(), completed(), late])).await;
    let mut client = server.client().await;
    let request = |request_timeout| pb::CreateProcessInstanceWithResultRequest {
        request: Some(pb::CreateProcessInstanceRequest { process_definition_key: 11, ..Default::default() }),
        request_timeout,
        fetch_variables: vec![],
    };
    let answer = client.create_process_instance_with_result(request(0)).await.unwrap().into_inner();
    assert_eq!(answer.variables, "{\"x\":1}");
    client.create_process_instance_with_result(request(700)).await.unwrap();
    let late = client.create_process_instance_with_result(request(5)).await;
    assert_refused(late, Code::DeadlineExceeded, "no result within 5 ms");
    assert_eq!(
        server.broker.result_timeouts(),
        [Duration::from_secs(15), Duration::from_millis(700), Duration::from_millis(5)]
    );
    server.stop().await;
}

#[tokio::test]
async fn refusals_of_the_broker_have_the_statuses_clients_know() {
    use RejectionType as R;
    let cases = [
        (R::NotFound, Code::NotFound),
        (R::Forbidden, Code::PermissionDenied),
        (R::InvalidArgument, Code::InvalidArgument),
        (R::InvalidState, Code::FailedPrecondition),
        (R::AlreadyExists, Code::AlreadyExists),
        (R::ProcessingError, Code::Internal),
    ];
    let rejections = cases.iter().map(|(kind, _)| Err(Rejection::new(*kind, "because: Ärger").into()));
    let faults = [
        (SubmitError::ResourceExhausted("full".to_owned()), Code::ResourceExhausted),
        (SubmitError::TooLarge("variables: too many bytes".to_owned()), Code::InvalidArgument),
        (SubmitError::Unavailable("no leader".to_owned()), Code::Unavailable),
        (SubmitError::Internal("bug".to_owned()), Code::Internal),
    ];
    let answers = rejections.chain(faults.iter().map(|(error, _)| Err(error.clone())));
    let server = Server::start(FakeBroker::answering(answers)).await;
    let mut client = server.client().await;
    let request = pb::CompleteJobRequest { job_key: 1, ..Default::default() };
    for (kind, code) in cases {
        let refused = client.complete_job(request.clone()).await;
        assert_refused(
            refused,
            code,
            &format!("Command 'COMPLETE' rejected with code '{kind}': because: Ärger"),
        );
    }
    for (error, code) in faults {
        assert_refused(client.complete_job(request.clone()).await, code, &error.to_string());
    }
    server.stop().await;
}

#[tokio::test]
async fn wrong_fields_are_named_and_never_reach_the_broker() {
    let server = Server::start(FakeBroker::default()).await;
    let mut client = server.client().await;
    let wrong = Code::InvalidArgument;

    let neither = client.create_process_instance(pb::CreateProcessInstanceRequest::default()).await;
    assert_refused(neither, Code::NotFound, "key '0'");
    let other_tenant = pb::CreateProcessInstanceRequest {
        bpmn_process_id: "p".to_owned(),
        version: -1,
        tenant_id: "other".to_owned(),
        ..Default::default()
    };
    assert_refused(client.create_process_instance(other_tenant).await, wrong, "multi-tenancy is disabled");
    let activation = pb::ActivateJobsRequest {
        r#type: "work".to_owned(),
        timeout: 1000,
        max_jobs_to_activate: 1,
        ..Default::default()
    };
    let none = pb::ActivateJobsRequest { max_jobs_to_activate: 0, ..activation.clone() };
    assert_refused(client.activate_jobs(none).await, wrong, "'maxJobsToActivate'");
    let at_once = pb::ActivateJobsRequest { timeout: 0, ..activation.clone() };
    assert_refused(client.activate_jobs(at_once).await, wrong, "'timeout'");
    let typeless = pb::ActivateJobsRequest { r#type: String::new(), ..activation };
    assert_refused(client.activate_jobs(typeless).await, wrong, "'type'");
    let typeless = pb::StreamActivatedJobsRequest { timeout: 1, ..Default::default() };
    assert_refused(client.stream_activated_jobs(typeless).await, wrong, "'type'");

    let list = pb::CompleteJobRequest { job_key: 1, variables: "[1]".to_owned(), ..Default::default() };
    assert_refused(client.complete_job(list).await, wrong, "'variables' to be a JSON object");
    let nobody = pb::CompleteJobRequest::default();
    assert_refused(client.complete_job(nobody).await, wrong, "'jobKey'");
    let backoff = pb::FailJobRequest { job_key: 1, retry_back_off: -1, ..Default::default() };
    assert_refused(client.fail_job(backoff).await, wrong, "'retryBackOff'");
    let retries = pb::UpdateJobRetriesRequest { job_key: 1, ..Default::default() };
    assert_refused(client.update_job_retries(retries).await, wrong, "'retries'");
    let ttl = pb::PublishMessageRequest { name: "m".to_owned(), time_to_live: -1, ..Default::default() };
    assert_refused(client.publish_message(ttl).await, wrong, "'timeToLive'");
    let nothing = pb::DeployResourceRequest::default();
    assert_refused(client.deploy_resource(nothing).await, wrong, "'resources'");
    assert_refused(
        client.set_variables(pb::SetVariablesRequest::default()).await,
        wrong,
        "'elementInstanceKey'",
    );
    assert_refused(
        client.resolve_incident(pb::ResolveIncidentRequest::default()).await,
        wrong,
        "'incidentKey'",
    );
    assert_refused(
        client.delete_resource(pb::DeleteResourceRequest::default()).await,
        wrong,
        "'resourceKey'",
    );
    let cancel = client.cancel_process_instance(pb::CancelProcessInstanceRequest::default()).await;
    assert_refused(cancel, wrong, "'processInstanceKey'");

    assert!(server.broker.commands().is_empty() && server.broker.asked().is_empty());
    server.stop().await;
}

#[tokio::test]
async fn every_other_command_reaches_the_broker() {
    let deployed = || {
        let process = DeployedProcess {
            process_id: Name::from("p"),
            version: 1,
            process_definition_key: 5,
            resource_name: Name::from("p.bpmn"),
            tenant_id: Name::default_tenant(),
        };
        Ok(Response::Deployed(DeploymentCreated {
            deployment_key: 4,
            tenant_id: Name::default_tenant(),
            processes: vec![process],
            ..DeploymentCreated::default()
        }))
    };
    let published = Ok(Response::MessagePublished { message_key: 6, tenant_id: Name::default_tenant() });
    let answers = [deployed(), deployed(), published, Ok(Response::VariablesSet { key: 7 })];
    let answers = answers.into_iter().chain(std::iter::repeat_n(Ok(Response::Done), 7));
    let server = Server::start(FakeBroker::answering(answers)).await;
    let mut client = server.client().await;

    let resource = pb::Resource { name: "p.bpmn".to_owned(), content: b"<x/>".to_vec() };
    let request = pb::DeployResourceRequest { resources: vec![resource], tenant_id: String::new() };
    let deployment = client.deploy_resource(request).await.unwrap().into_inner();
    let Some(pb::deployment::Metadata::Process(process)) = &deployment.deployments[0].metadata else {
        panic!("a process")
    };
    assert_eq!((deployment.key, process.process_definition_key, process.version), (4, 5, 1));
    let process = pb::ProcessRequestObject { name: "p.bpmn".to_owned(), definition: b"<x/>".to_vec() };
    let request = pb::DeployProcessRequest { processes: vec![process] };
    assert_eq!(client.deploy_process(request).await.unwrap().into_inner().processes.len(), 1);
    let request = pb::PublishMessageRequest { name: "m".to_owned(), ..Default::default() };
    assert_eq!(client.publish_message(request).await.unwrap().into_inner().key, 6);
    let request = pb::SetVariablesRequest {
        element_instance_key: 1,
        local: true,
        operation_reference: Some(3),
        ..Default::default()
    };
    assert_eq!(client.set_variables(request).await.unwrap().into_inner().key, 7);

    let request = pb::FailJobRequest { job_key: 1, retries: -1, retry_back_off: 9, ..Default::default() };
    client.fail_job(request).await.unwrap();
    client.throw_error(pb::ThrowErrorRequest { job_key: 1, ..Default::default() }).await.unwrap();
    let request = pb::UpdateJobRetriesRequest { job_key: 1, retries: 2, operation_reference: Some(3) };
    client.update_job_retries(request).await.unwrap();
    let request = pb::UpdateJobTimeoutRequest { job_key: 1, timeout: 0, operation_reference: Some(3) };
    client.update_job_timeout(request).await.unwrap();
    let request = pb::ResolveIncidentRequest { incident_key: 1, operation_reference: Some(3) };
    client.resolve_incident(request).await.unwrap();
    let request = pb::CancelProcessInstanceRequest { process_instance_key: 1, operation_reference: Some(3) };
    client.cancel_process_instance(request).await.unwrap();
    let request = pb::DeleteResourceRequest { resource_key: 1, operation_reference: Some(3) };
    client.delete_resource(request).await.unwrap();

    let commands = server.broker.commands();
    assert_eq!(commands.len(), 11);
    let Command::FailJob(fail) = &commands[4] else { panic!("a failure") };
    assert_eq!((fail.retries, fail.retry_backoff_ms), (0, 9));
    let Command::UpdateJob(update) = &commands[6] else { panic!("an update") };
    assert_eq!((update.retries, update.timeout_ms), (Some(2), None));
    // Setting variables, and everything from the first update on.
    for command in commands[3..4].iter().chain(&commands[6..]) {
        assert_eq!(command.facts().operation_reference, Some(3), "{command:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn signals_and_conditions_reach_the_broker() {
    let broadcast = Ok(Response::SignalBroadcast { signal_key: 6, tenant_id: Name::default_tenant() });
    let evaluated = Ok(Response::ConditionalsEvaluated {
        key: 7,
        tenant_id: Name::default_tenant(),
        instances: vec![(8, 9)],
    });
    let server = Server::start(FakeBroker::answering([broadcast, evaluated])).await;
    let mut client = server.client().await;
    let request = pb::BroadcastSignalRequest {
        signal_name: "alarm".to_owned(),
        variables: r#"{"a":1}"#.to_owned(),
        ..Default::default()
    };
    let answer = client.broadcast_signal(request).await.unwrap().into_inner();
    assert_eq!((answer.key, &*answer.tenant_id), (6, "<default>"));
    let request = pb::EvaluateConditionalRequest {
        variables: r#"{"x":2}"#.to_owned(),
        process_definition_key: Some(8),
        ..Default::default()
    };
    let answer = client.evaluate_conditional(request).await.unwrap().into_inner();
    assert_eq!((answer.conditional_evaluation_key, &*answer.tenant_id), (7, "<default>"));
    assert_eq!(answer.process_instances[0].process_instance_key, 9);
    let commands = server.broker.commands();
    let [Command::BroadcastSignal(signal), Command::EvaluateConditionals(evaluate)] = &commands[..] else {
        panic!("a broadcast and an evaluation: {commands:?}")
    };
    assert_eq!((signal.name.as_str(), signal.variables.len()), ("alarm", 1));
    assert_eq!((evaluate.definition_key, evaluate.variables.len()), (Some(8), 1));
    let nameless = client.broadcast_signal(pb::BroadcastSignalRequest::default()).await;
    assert_refused(nameless, Code::InvalidArgument, "signalName");
    server.stop().await;
}

#[tokio::test]
async fn a_migration_reaches_the_broker() {
    let server = Server::start(FakeBroker::answering([Ok(Response::Done)])).await;
    let mut client = server.client().await;
    let mapping = pb::migrate_process_instance_request::MappingInstruction {
        source_element_id: "a".to_owned(),
        target_element_id: "b".to_owned(),
    };
    let plan = pb::migrate_process_instance_request::MigrationPlan {
        target_process_definition_key: 7,
        mapping_instructions: vec![mapping],
    };
    let request = pb::MigrateProcessInstanceRequest {
        process_instance_key: 5,
        migration_plan: Some(plan),
        operation_reference: Some(3),
    };
    client.migrate_process_instance(request).await.unwrap();
    let commands = server.broker.commands();
    let [Command::MigrateInstance(migrate)] = &commands[..] else { panic!("a migration: {commands:?}") };
    assert_eq!((migrate.process_instance_key, migrate.plan.target_definition_key), (5, 7));
    assert_eq!(migrate.plan.mappings[0].target_element_id, Name::from("b"));
    assert_eq!(commands[0].facts().operation_reference, Some(3));
    let none = client.migrate_process_instance(pb::MigrateProcessInstanceRequest::default()).await;
    assert_refused(none, Code::InvalidArgument, "processInstanceKey");
    server.stop().await;
}

#[tokio::test]
async fn a_result_of_an_unknown_kind_is_refused() {
    let server = Server::start(FakeBroker::default()).await;
    let mut client = server.client().await;
    let result = pb::JobResult { r#type: Some("other".to_owned()), ..Default::default() };
    let other = pb::CompleteJobRequest { job_key: 1, result: Some(result), ..Default::default() };
    assert_refused(client.complete_job(other).await, Code::InvalidArgument, "'result.type'");
    server.stop().await;
}

#[tokio::test]
async fn a_decision_is_evaluated_by_key_or_by_id() {
    let null = || Json::from_valid("null");
    let evaluation = DecisionEvaluationRecord {
        decision_key: 4,
        decision_id: "dish".into(),
        decision_name: "Dish".into(),
        decision_version: 2,
        decision_requirements_id: "dinner".into(),
        decision_requirements_key: 3,
        decision_output: null(),
        business_id: None,
        variables: Document::empty(),
        bpmn_process_id: Name::default(),
        process_definition_key: None,
        process_instance_key: None,
        root_process_instance_key: None,
        element_id: Name::default(),
        element_instance_key: None,
        evaluated_decisions: vec![EvaluatedDecisionRecord {
            decision_id: "dish".into(),
            decision_name: "Dish".into(),
            decision_key: 4,
            decision_version: 2,
            decision_type: "DECISION_TABLE".into(),
            decision_output: null(),
            evaluated_inputs: vec![EvaluatedInputRecord {
                input_id: "i".into(),
                input_name: "Guests".into(),
                input_value: Json::from_valid("20"),
            }],
            matched_rules: vec![MatchedRuleRecord {
                rule_id: "r".into(),
                rule_index: 1,
                evaluated_outputs: vec![EvaluatedOutputRecord {
                    output_id: "o".into(),
                    output_name: "Dish".into(),
                    output_value: Json::from_valid("\"Stew\""),
                }],
            }],
            tenant_id: Name::default_tenant(),
            decision_evaluation_instance_key: "9-1".into(),
        }],
        evaluation_failure_message: "too many".into(),
        failed_decision_id: "dish".into(),
        tenant_id: Name::default_tenant(),
    };
    let answer = Response::DecisionEvaluated { evaluation_key: 9, evaluation: Box::new(evaluation) };
    let server = Server::start(FakeBroker::answering([Ok(answer.clone()), Ok(answer)])).await;
    let mut client = server.client().await;
    let by_key = pb::EvaluateDecisionRequest {
        decision_key: 4,
        variables: r#"{"guests":20}"#.to_owned(),
        ..Default::default()
    };
    let told = client.evaluate_decision(by_key).await.unwrap().into_inner();
    assert_eq!((told.decision_evaluation_key, told.decision_instance_key, told.decision_key), (9, 9, 4));
    assert_eq!((told.decision_id.as_str(), told.decision_version), ("dish", 2));
    assert_eq!((told.decision_requirements_id.as_str(), told.decision_requirements_key), ("dinner", 3));
    assert_eq!((told.failed_decision_id.as_str(), told.failure_message.as_str()), ("dish", "too many"));
    assert_eq!((told.decision_output.as_str(), told.tenant_id.as_str()), ("null", "<default>"));
    let decision = &told.evaluated_decisions[0];
    assert_eq!(decision.decision_evaluation_instance_key, "9-1");
    assert_eq!(decision.evaluated_inputs[0].input_value, "20");
    assert_eq!(decision.matched_rules[0].evaluated_outputs[0].output_value, "\"Stew\"");
    let by_id = pb::EvaluateDecisionRequest { decision_id: "dish".to_owned(), ..Default::default() };
    client.evaluate_decision(by_id.clone()).await.unwrap();

    let wrong = Code::InvalidArgument;
    let both = pb::EvaluateDecisionRequest { decision_key: 4, ..by_id.clone() };
    assert_refused(client.evaluate_decision(both).await, wrong, "exactly one of");
    let neither = pb::EvaluateDecisionRequest::default();
    assert_refused(client.evaluate_decision(neither).await, wrong, "exactly one of");
    let list = pb::EvaluateDecisionRequest { variables: "[1]".to_owned(), ..by_id };
    assert_refused(client.evaluate_decision(list).await, wrong, "'variables' to be a JSON object");

    let commands = server.broker.commands();
    let Command::EvaluateDecision(first) = &commands[0] else { panic!("an evaluation") };
    assert_eq!(first.decision, DecisionRef::Key(4));
    assert_eq!(first.variables.to_json(), r#"{"guests":20}"#);
    let Command::EvaluateDecision(second) = &commands[1] else { panic!("an evaluation") };
    assert_eq!(second.decision, DecisionRef::Id("dish".into()));
    server.stop().await;
}

#[tokio::test]
async fn the_topology_is_told() {
    let server = Server::start(FakeBroker::default()).await;
    let topology = server.client().await.topology(pb::TopologyRequest {}).await.unwrap().into_inner();
    assert_eq!(topology.gateway_version, broker_api::API_VERSION);
    assert_eq!((topology.cluster_size, topology.partitions_count, topology.replication_factor), (1, 1, 1));
    let partition = &topology.brokers[0].partitions[0];
    assert_eq!((partition.partition_id, partition.role, partition.health), (1, 0, 0));
    server.stop().await;
}

#[tokio::test]
async fn listeners_may_hold_back_the_answer_to_set_variables_but_not_for_ever() {
    let options = gateway::grpc::Options { listener_timeout: Duration::from_millis(5), ..Default::default() };
    // Without an answer the broker never comes back.
    let server = Server::start_with(FakeBroker::answering([]), options).await;
    let mut client = server.client().await;
    let request = pb::SetVariablesRequest { element_instance_key: 1, local: true, ..Default::default() };
    let late = client.set_variables(request).await;
    assert_refused(late, Code::DeadlineExceeded, "Expected listeners to be done within 5 ms");
    assert_eq!(server.broker.commands().len(), 1);
    server.stop().await;
}
