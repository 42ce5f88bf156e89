//! Each command and each query by its line.

use protocol::{
    ActivateAdHoc, AddBatchItems, AgentConfiguration, AgentMetrics, BatchAction, BatchOperationChange,
    BroadcastSignal, BusinessIdClaim, Clock, CompleteJob, CorrelateMessage, CreateAgentInstance,
    CreateBatchOperation, CreateInstance, DecisionRef, DefinitionRef, DeleteHistory, DeleteResource, Deploy,
    Document, EvaluateConditionals, EvaluateDecision, FailJob, GlobalListenerCommand, HistoryKind,
    Idempotency, IdentityCommand, ModifyInstance, PublishMessage, SetVariables, ThrowError,
    UpdateAgentInstance, UpdateJob, UserTaskCommand, UserTaskOperation, compose_key,
};

use super::*;

/// Partitions of these tests.
const COUNT: PartitionId = 3;
/// A key of the second one.
const KEY: Key = compose_key(2, 77);

fn name(text: &str) -> Name {
    Name::from(text)
}

fn create(business_id: Option<&str>) -> Command {
    let definition = DefinitionRef::Key(KEY);
    Command::CreateInstance(CreateInstance {
        business_id: business_id.map(name),
        ..CreateInstance::of(definition)
    })
}

fn fail(job_key: Key) -> Command {
    let variables = Document::empty();
    let (retries, retry_backoff_ms, error_message, lease) = (0, 0, name(""), None);
    Command::FailJob(FailJob { job_key, retries, retry_backoff_ms, error_message, variables, lease })
}

fn publish(correlation_key: &str) -> Command {
    Command::PublishMessage(PublishMessage {
        name: name("m"),
        correlation_key: name(correlation_key),
        time_to_live_ms: 0,
        message_id: name(""),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        business_id: Some(BusinessIdClaim::of(name("abc"))),
    })
}

/// Commands that a key leads to the second partition.
fn of_a_key() -> Vec<Command> {
    let variables = Document::empty;
    vec![
        Command::CancelInstance { process_instance_key: KEY, operation_reference: None },
        Command::SuspendInstance { process_instance_key: KEY, operation_reference: None },
        Command::ResumeInstance { process_instance_key: KEY, operation_reference: None },
        Command::AssignBusinessId { process_instance_key: KEY, claim: BusinessIdClaim::of(name("abc")) },
        Command::Unban { process_instance_key: KEY },
        Command::ResolveInstanceIncidents { process_instance_key: KEY },
        Command::ModifyInstance(ModifyInstance::of(KEY)),
        Command::DeleteHistory(DeleteHistory {
            kind: HistoryKind::ProcessInstance,
            key: KEY,
            definition_id: name("p"),
            tenant_id: Name::default_tenant(),
            operation_reference: None,
        }),
        Command::CreateAgentInstance(Box::new(CreateAgentInstance {
            element_instance_key: KEY,
            configuration: AgentConfiguration::default(),
            job: None,
            history: vec![],
        })),
        Command::UpdateAgentInstance(Box::new(UpdateAgentInstance {
            agent_instance_key: KEY,
            element_instance_key: 1,
            status: None,
            metrics: AgentMetrics::default(),
            tools: None,
            job: None,
            history: vec![],
        })),
        Command::CompleteJob(CompleteJob::of(KEY, variables())),
        fail(KEY),
        Command::ThrowError(ThrowError {
            job_key: KEY,
            error_code: name("e"),
            error_message: name(""),
            variables: variables(),
            lease: None,
        }),
        Command::UpdateJob(UpdateJob {
            job_key: KEY,
            retries: Some(1),
            timeout_ms: None,
            operation_reference: None,
            priority: None,
            lease: None,
        }),
        Command::ResolveIncident { incident_key: KEY, operation_reference: None },
        Command::SetVariables(SetVariables {
            element_instance_key: KEY,
            variables: variables(),
            local: true,
            operation_reference: None,
            request_id: None,
        }),
        Command::ActivateAdHoc(ActivateAdHoc {
            element_instance_key: KEY,
            elements: vec![],
            cancel_remaining_instances: false,
        }),
        Command::UserTask(UserTaskCommand {
            user_task_key: KEY,
            operation: UserTaskOperation::Complete { variables: variables() },
            action: name("complete"),
            request_id: None,
        }),
    ]
}

/// Commands that the key of a batch operation leads to the second partition.
fn of_a_batch_operation() -> [Command; 2] {
    let batch_operation_key = KEY;
    let (items, owners) = (vec![], vec![]);
    [
        Command::ChangeBatchOperation { batch_operation_key, change: BatchOperationChange::Resume },
        Command::AddBatchItems(AddBatchItems {
            batch_operation_key,
            items,
            is_last: true,
            error: None,
            owners,
        }),
    ]
}

/// Commands of the first partition, whatever keys they name.
fn of_the_first() -> Vec<Command> {
    let tenant_id = Name::default_tenant;
    let variables = Document::empty;
    vec![
        Command::Deploy(Deploy { resources: vec![], tenant_id: tenant_id() }),
        Command::DeleteResource(DeleteResource {
            resource_key: KEY,
            operation_reference: None,
            delete_history: false,
        }),
        Command::Identity(IdentityCommand::SetUp),
        Command::GlobalListener(GlobalListenerCommand::Delete { id: name("abc") }),
        Command::BroadcastSignal(BroadcastSignal {
            name: name("abc"),
            variables: variables(),
            tenant_id: tenant_id(),
        }),
        Command::EvaluateConditionals(EvaluateConditionals {
            variables: variables(),
            tenant_id: tenant_id(),
            definition_key: Some(KEY),
        }),
        Command::CreateBatchOperation(CreateBatchOperation {
            action: BatchAction::Cancel,
            operation_reference: None,
            search: None,
        }),
        Command::Purge { after: None },
        Command::EndChange(1),
        Command::Tick,
        Command::GO_ON,
        Command::YieldJobs { job_keys: vec![KEY], deadlines_ms: None },
        Command::ActivateVersion { version: 1 },
        Command::ForgetExporter { exporter: name("abc") },
        Command::AcknowledgeExport { exporter: name("abc"), position: 1 },
        Command::UnparkRecords { exporter: name("abc"), positions: vec![1] },
    ]
}

#[test]
fn each_command_has_its_partition() {
    for command in of_a_key().into_iter().chain(of_a_batch_operation()) {
        assert_eq!(target(&command, COUNT), Destination::One(2), "{command:?}");
    }
    for command in of_the_first() {
        assert_eq!(target(&command, COUNT), FIRST, "{command:?}");
    }
    // Of three partitions, "a" belongs to the second one and "abc" to the first.
    assert_eq!(target(&create(Some("a")), COUNT), Destination::One(2));
    assert_eq!(target(&create(None), COUNT), Destination::Any);
    assert_eq!(target(&publish("a"), COUNT), Destination::One(2), "whatever its business ID is");
    assert_eq!(target(&publish(""), COUNT), FIRST);
    let correlate = Command::CorrelateMessage(CorrelateMessage {
        name: name("m"),
        correlation_key: name("a"),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        business_id: None,
        request_id: None,
    });
    assert_eq!(target(&correlate, COUNT), Destination::One(2));
    let evaluate = Command::EvaluateDecision(EvaluateDecision {
        decision: DecisionRef::Key(KEY),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
    });
    assert_eq!(target(&evaluate, COUNT), Destination::Any);
    assert_eq!(target(&Command::Clock(Clock::Reset), COUNT), FIRST);
}

#[test]
fn keys_of_no_partition_go_where_there_is_no_such_thing() {
    for key in [0, 1, u64::MAX, compose_key(COUNT + 1, 1), compose_key(8191, 7)] {
        assert_eq!(target(&fail(key), COUNT), FIRST, "{key}");
        assert_eq!(target_of_query(&Query::ProcessInstance { key }, COUNT), FIRST, "{key}");
    }
}

#[test]
fn the_same_idempotency_key_finds_the_same_partition() {
    let once =
        |key: u64, command: Command| command.once(Some(Idempotency { key: [key, 9], fingerprint: [0; 2] }));
    let found: Vec<Destination> = (0..6).map(|key| target(&once(key, create(None)), COUNT)).collect();
    assert_eq!(found, [1, 2, 3, 1, 2, 3].map(Destination::One));
    // One that belongs somewhere is there for everybody.
    assert_eq!(target(&once(0, create(Some("a"))), COUNT), Destination::One(2));
    assert_eq!(target(&once(0, fail(KEY)), COUNT), Destination::One(2));
}

#[test]
fn queries_about_instances_ask_all_partitions() {
    let of = |query: &Query| target_of_query(query, COUNT);
    assert_eq!(of(&Query::Incident { key: KEY }), Destination::One(2));
    assert_eq!(of(&Query::Subscriptions { limit: 1 }), Destination::All);
    assert_eq!(of(&Query::BatchOperations), Destination::All);
    assert_eq!(of(&Query::BatchSearches), Destination::All);
    assert_eq!(of(&Query::Resources { limit: 1 }), FIRST);
    let turns = Turns::default();
    assert_eq!([(); 4].map(|()| turns.next(3)), [0, 1, 2, 0]);
}
