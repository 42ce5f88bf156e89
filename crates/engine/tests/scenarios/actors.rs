//! The actor of a command is in the records of exactly that command's change, and in no others.

use engine::Options;
use expect_test::{Expect, expect};
use protocol::{
    Actor, ActorType, BatchAction, BatchOperationChange, Caller, Command, CompleteJob, CreateBatchOperation,
    CreateInstance, DefinitionRef, DeleteResource, Document, ElementSource, FailJob, IdentityCommand,
    JobResult, Key, ModifyInstance, Name, PasswordHash, Principal, Record, RecordValue, SetVariables,
    UpdateJob, User, UserTaskChanges, UserTaskCommand, UserTaskOperation,
};

use crate::support::{Harness, document};

const MODEL: &str = "process p
    start s
    and f
    job a
    user u task:assigning=check task:updating=check
    end e
    s -> f
    f -> a -> e
    f -> u -> e";

struct Run {
    harness: Harness,
    seen: usize,
}

impl Run {
    fn new() -> Self {
        Self { harness: Harness::with_options(Options::default()), seen: 0 }
    }

    /// Summary of the records with an actor since the last call.
    fn told(&mut self) -> String {
        let new: Vec<&Record> = self.harness.records().skip(self.seen).collect();
        self.seen += new.len();
        let mut told = String::new();
        for record in new.into_iter().filter(|record| record.actor.is_some()) {
            assert_eq!(record.actor, Some(Actor::ANONYMOUS));
            told += &format!("{} {}\n", record.value.value_type(), record.intent);
        }
        told
    }

    fn run(&mut self, command: Command, expected: Expect) {
        let outcome = self.harness.command(command);
        assert!(!matches!(outcome, Some(Err(_))), "{outcome:?}");
        expected.assert_eq(&self.told());
    }

    fn last(&self, is_wanted: impl Fn(&Record) -> bool) -> Key {
        self.harness.records().filter(|record| is_wanted(record)).last().expect("a record").key
    }

    fn create(&mut self) -> Key {
        let create = CreateInstance {
            variables: document(r#"{"x":1}"#),
            ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
        };
        self.run(
            Command::CreateInstance(create),
            expect![[r#"
                PROCESS_INSTANCE_CREATION CREATED
            "#]],
        );
        self.last(|record| matches!(&record.value, RecordValue::ProcessInstance(p) if &*p.bpmn_element_type == "PROCESS"))
    }

    fn complete_listener(&mut self, result: Option<JobResult>, expected: Expect) {
        let job_key = self.harness.activate("check", 1)[0].key;
        let complete = CompleteJob {
            job_key,
            variables: Document::empty(),
            result: result.map(Box::new),
            lease: None,
            business_id: None,
        };
        self.run(Command::CompleteJob(complete), expected);
    }
}

fn deployed() -> Run {
    let mut run = Run::new();
    run.harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    expect![[r#"
        PROCESS CREATED
    "#]]
    .assert_eq(&run.told());
    run
}

#[test]
fn who_works_on_an_instance_is_told() {
    let mut run = deployed();
    let key = run.create();
    let set = |element_instance_key, local| {
        Command::SetVariables(SetVariables {
            element_instance_key,
            variables: document(r#"{"x":2,"y":1}"#),
            local,
            operation_reference: None,
            request_id: None,
        })
    };
    run.run(
        set(key, false),
        expect![[r#"
            VARIABLE UPDATED
            VARIABLE CREATED
        "#]],
    );
    let job_key = run.harness.activate("a", 1)[0].key;
    let fail = FailJob {
        job_key,
        retries: 0,
        retry_backoff_ms: 0,
        error_message: Name::from("no"),
        variables: document(r#"{"z":1}"#),
        lease: None,
    };
    run.run(Command::FailJob(fail), expect![""]);
    let update = UpdateJob {
        job_key,
        retries: Some(1),
        timeout_ms: None,
        operation_reference: None,
        priority: None,
        lease: None,
    };
    run.run(
        Command::UpdateJob(update),
        expect![[r#"
            JOB RETRIES_UPDATED
        "#]],
    );
    let incident_key = run.last(|record| matches!(record.value, RecordValue::Incident(_)));
    run.run(
        Command::ResolveIncident { incident_key, operation_reference: None },
        expect![[r#"
            INCIDENT RESOLVED
        "#]],
    );
    let modify = ModifyInstance {
        terminate: vec![ElementSource::Id(Name::from("a")), ElementSource::Id(Name::from("u"))],
        ..ModifyInstance::of(key)
    };
    // The instance ends with it, but no command has canceled it.
    run.run(
        Command::ModifyInstance(modify),
        expect![[r#"
            PROCESS_INSTANCE_MODIFICATION MODIFIED
        "#]],
    );
}

#[test]
fn who_works_on_a_task_is_told_when_its_listeners_are_done() {
    let mut run = deployed();
    run.create();
    let task_key = run.last(|record| matches!(record.value, RecordValue::UserTask(_)));
    let task = |operation| {
        Command::UserTask(UserTaskCommand {
            user_task_key: task_key,
            operation,
            action: Name::default(),
            request_id: Some(7),
        })
    };
    let assign = || UserTaskOperation::Assign { assignee: Name::from("ann"), allow_override: true };
    run.run(
        task(assign()),
        expect![[r#"
            USER_TASK ASSIGNING
        "#]],
    );
    run.complete_listener(
        None,
        expect![[r#"
            USER_TASK ASSIGNED
        "#]],
    );
    let update =
        UserTaskOperation::Update(UserTaskChanges { priority: Some(3), ..UserTaskChanges::default() });
    run.run(
        task(update),
        expect![[r#"
            USER_TASK UPDATING
        "#]],
    );
    let denied = JobResult::UserTask {
        denied: true,
        denied_reason: Name::from("no"),
        corrections: UserTaskChanges::default(),
    };
    run.complete_listener(
        Some(denied),
        expect![[r#"
            USER_TASK UPDATE_DENIED
        "#]],
    );
    let element_instance_key = run.harness.records().find_map(|record| match &record.value {
        RecordValue::UserTask(task) => Some(task.element_instance_key),
        _ => None,
    });
    let set = SetVariables {
        element_instance_key: element_instance_key.unwrap(),
        variables: document(r#"{"v":1}"#),
        local: true,
        operation_reference: None,
        request_id: Some(8),
    };
    run.run(Command::SetVariables(set), expect![""]);
    run.complete_listener(
        None,
        expect![[r#"
            VARIABLE CREATED
        "#]],
    );
    run.run(
        task(UserTaskOperation::Complete { variables: document(r#"{"w":1}"#) }),
        expect![[r#"
            USER_TASK COMPLETING
            USER_TASK COMPLETED
        "#]],
    );
}

#[test]
fn items_of_a_batch_operation_are_told_of_like_what_is_asked_for_one_by_one() {
    let mut run = deployed();
    run.create();
    run.create();
    let create = CreateBatchOperation {
        action: BatchAction::Cancel,
        search: Some(Name::from("all")),
        operation_reference: None,
    };
    run.harness.apply(vec![Command::CreateBatchOperation(create)], vec![]);
    expect![[r#"
        BATCH_OPERATION_CREATION CREATED
    "#]]
    .assert_eq(&run.told());
    let key = run.last(|record| matches!(record.value, RecordValue::BatchOperationCreation(_)));
    let change = |change| Command::ChangeBatchOperation { batch_operation_key: key, change };
    run.run(
        change(BatchOperationChange::Suspend),
        expect![[r#"
            BATCH_OPERATION_LIFECYCLE_MANAGEMENT SUSPENDED
        "#]],
    );
    run.run(
        change(BatchOperationChange::Resume),
        expect![[r#"
            BATCH_OPERATION_LIFECYCLE_MANAGEMENT RESUMED
        "#]],
    );
}

#[test]
fn who_changes_definitions_and_identities_is_told() {
    let mut run = deployed();
    let resource_key = run.last(|record| matches!(record.value, RecordValue::Process(_)));
    run.run(
        Command::DeleteResource(DeleteResource {
            resource_key,
            operation_reference: None,
            delete_history: false,
        }),
        expect![[r#"
            PROCESS DELETING
            PROCESS DELETED
        "#]],
    );
    run.run(Command::Identity(IdentityCommand::SetUp), expect![""]);
    let user = User {
        username: Name::from("ann"),
        name: Name::from("Ann"),
        email: Name::default(),
        password_hash: PasswordHash(Name::from("$argon2id$x")),
    };
    run.run(
        Command::Identity(IdentityCommand::CreateUser(user)),
        expect![[r#"
            USER CREATED
        "#]],
    );
}

#[test]
fn a_user_and_a_client_are_told_by_name() {
    for (principal, actor_type) in
        [(Principal::user("ann"), ActorType::User), (Principal::client("robot"), ActorType::Client)]
    {
        let mut run = deployed();
        let id = Some(principal.id.clone());
        let create = CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None });
        let command = Command::CreateInstance(create).asked_by(Some(Caller::unchecked(principal)));
        run.harness.command(command).unwrap().unwrap();
        let actors: Vec<_> =
            run.harness.records().skip(run.seen).filter_map(|record| record.actor.clone()).collect();
        assert_eq!(actors, [Actor { actor_type, id }]);
    }
}
