//! The operation reference of a command is in all its records, however late they come, and in no other.

use engine::Options;
use engine::core::step::Step;
use protocol::{
    BatchAction, Command, CompleteJob, CreateBatchOperation, CreateInstance, DefinitionRef, DeleteResource,
    Document, ElementMapping, ElementSource, FailJob, Intent, Key, MigrateInstance, MigrationPlan,
    ModifyInstance, Name, Record, RecordValue, Response, SetVariables, UpdateJob,
};

use crate::support::{Harness, document};

const MODEL: &str = "process p
    start s
    and f
    job a
    user u task:updating=check
    sub many each=items as=item {
    start i
    job b
    end j
    i -> b -> j
    }
    end e
    s -> f
    f -> a -> e
    f -> u -> e
    f -> many -> e";

struct Run {
    harness: Harness,
    reference: u64,
}

impl Run {
    /// One step for each command: nearly everything is done later.
    fn new() -> Self {
        let options = Options { max_steps_per_command: 1, ..Options::default() };
        let mut harness = Harness::with_options(options);
        harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
        Self { harness, reference: 0 }
    }

    /// Runs a command with a reference of its own, and all its consequences. All records have the reference; the
    /// given intents are among them.
    fn run(&mut self, command: impl FnOnce(Option<u64>) -> Command, intents: &[Intent]) -> Response {
        self.reference += 1;
        let before = self.harness.records().count();
        let outcome = self.harness.command(command(Some(self.reference)));
        for intent in intents {
            let found = self.harness.records().skip(before).any(|record| record.intent == *intent);
            assert!(found, "no record is {intent}");
        }
        for record in self.harness.records().skip(before) {
            assert_eq!(record.operation_reference, Some(self.reference), "{record:?}");
        }
        outcome.map_or(Response::Pending, Result::unwrap)
    }

    /// Runs a command that belongs to no operation.
    fn run_plain(&mut self, command: Command) {
        let before = self.harness.records().count();
        self.harness.command(command).unwrap().unwrap();
        assert!(self.harness.records().count() > before);
        for record in self.harness.records().skip(before) {
            assert_eq!(record.operation_reference, None, "{record:?}");
        }
    }

    fn create(&mut self, intents: &[Intent]) -> Key {
        let create = |operation_reference| {
            Command::CreateInstance(CreateInstance {
                variables: document(r#"{"items":[1,2,3]}"#),
                operation_reference,
                ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
            })
        };
        match self.run(create, intents) {
            Response::InstanceCreated(created) => created.process_instance_key,
            other => panic!("an instance: {other:?}"),
        }
    }

    fn last(&self, is_wanted: impl Fn(&Record) -> bool) -> Key {
        self.harness.records().filter(|record| is_wanted(record)).last().expect("a record").key
    }

    fn definitions(&self) -> Vec<Key> {
        self.harness.engine().tables().definitions.keys(.., usize::MAX).unwrap()
    }
}

#[test]
fn records_of_every_command_tell_its_operation() {
    let mut run = Run::new();
    let key = run.create(&[Intent::Created, Intent::ElementActivated, Intent::SequenceFlowTaken]);

    let update = |job_key, retries, timeout_ms| {
        move |operation_reference| {
            Command::UpdateJob(UpdateJob {
                job_key,
                retries,
                timeout_ms,
                operation_reference,
                priority: None,
                lease: None,
            })
        }
    };
    let job_key = run.harness.activate("a", 1)[0].key;
    run.run(update(job_key, Some(5), None), &[Intent::RetriesUpdated]);
    run.run(update(job_key, None, Some(9000)), &[Intent::TimeoutUpdated]);
    let fail = FailJob {
        job_key,
        retries: 0,
        retry_backoff_ms: 0,
        error_message: Name::from("no"),
        variables: Document::empty(),
        lease: None,
    };
    run.run_plain(Command::FailJob(fail));
    run.run(update(job_key, Some(1), None), &[Intent::RetriesUpdated]);
    let incident_key = run.last(|record| matches!(record.value, RecordValue::Incident(_)));
    let resolve = |operation_reference| Command::ResolveIncident { incident_key, operation_reference };
    run.run(resolve, &[Intent::Resolved]);

    let set = |element_instance_key, local| {
        move |operation_reference| {
            Command::SetVariables(SetVariables {
                element_instance_key,
                variables: document(r#"{"x":1}"#),
                local,
                operation_reference,
                request_id: local.then_some(77),
            })
        }
    };
    run.run(set(key, false), &[Intent::Created, Intent::Updated]);
    // A listener delays this one: its consequences come with a later command.
    let task = run.harness.records().find_map(|record| match &record.value {
        RecordValue::UserTask(task) => Some(task.element_instance_key),
        _ => None,
    });
    run.run(set(task.unwrap(), true), &[Intent::Updating]);
    let listener = run.harness.activate("check", 1);
    let before = run.harness.records().count();
    let complete = CompleteJob::of(listener[0].key, Document::empty());
    run.harness.command(Command::CompleteJob(complete)).unwrap().unwrap();
    for record in run.harness.records().skip(before) {
        let is_of_set = !matches!(record.value, RecordValue::Job(_));
        assert_eq!(record.operation_reference, is_of_set.then_some(run.reference), "{record:?}");
    }
    assert!(run.harness.records().skip(before).any(|record| record.intent == Intent::Updated));

    let modify = |operation_reference| {
        Command::ModifyInstance(ModifyInstance {
            terminate: vec![ElementSource::Id(Name::from("many"))],
            operation_reference,
            ..ModifyInstance::of(key)
        })
    };
    run.run(modify, &[Intent::Modified, Intent::ElementTerminated, Intent::Canceled]);
    run.harness.deploy(&[("p.bpmn", &format!("{MODEL}\n"))]).unwrap();
    run.harness.deploy(&[("p.bpmn", &MODEL.replace("job a", "job a retries=7"))]).unwrap();
    let target_definition_key = *run.definitions().last().unwrap();
    let map =
        |id: &str| ElementMapping { source_element_id: Name::from(id), target_element_id: Name::from(id) };
    let migrate = |operation_reference| {
        Command::MigrateInstance(MigrateInstance {
            process_instance_key: key,
            plan: MigrationPlan { target_definition_key, mappings: vec![map("a"), map("u")] },
            operation_reference,
        })
    };
    run.run(migrate, &[Intent::Migrated, Intent::ElementMigrated]);
    let resource_key = run.definitions()[0];
    let delete = |operation_reference| {
        Command::DeleteResource(DeleteResource { resource_key, operation_reference, delete_history: false })
    };
    run.run(delete, &[Intent::Deleting, Intent::Deleted]);
    let cancel =
        |operation_reference| Command::CancelInstance { process_instance_key: key, operation_reference };
    run.run(cancel, &[Intent::ElementTerminating, Intent::ElementTerminated, Intent::Canceled]);
    assert!(run.harness.is_empty(), "{:?}", run.harness.leftovers());
    run.harness.verify_replay(1);
}

#[test]
fn records_of_a_batch_operation_tell_its_operation() {
    let mut run = Run::new();
    for _ in 0..2 {
        run.create(&[]);
    }
    let other = run.create(&[]);
    let moves = protocol::MoveElement {
        source: ElementSource::Id(Name::from("a")),
        target_id: Name::from("many"),
        ancestor: protocol::AncestorScope::Inferred,
        variables: vec![],
    };
    for (action, intents) in [
        (BatchAction::Modify(vec![moves.clone()]), [Intent::Modified, Intent::ElementTerminated]),
        // Now it fails for each.
        (BatchAction::Modify(vec![moves]), [Intent::Executed, Intent::Completed]),
        (BatchAction::Resolve, [Intent::Initialized, Intent::PartitionCompleted]),
        (BatchAction::Cancel, [Intent::ElementTerminated, Intent::Canceled]),
    ] {
        let before = run.harness.records().count();
        let batch = |operation_reference| {
            Command::CreateBatchOperation(CreateBatchOperation {
                action,
                operation_reference,
                search: Some(Name::from(format!("not={other}"))),
            })
        };
        let Response::BatchOperationCreated(created) = run.run(batch, &intents) else { panic!("a batch") };
        for record in run.harness.records().skip(before) {
            let is_of_item = matches!(
                record.value,
                RecordValue::ProcessInstance(_)
                    | RecordValue::Job(_)
                    | RecordValue::ProcessInstanceModification(_)
                    | RecordValue::BatchOperationExecution(_)
            );
            let wanted = is_of_item.then_some(created.batch_operation_key);
            assert!(!is_of_item || record.batch_operation_reference == wanted, "{record:?}");
        }
    }
    run.run_plain(Command::CancelInstance { process_instance_key: other, operation_reference: None });
    assert!(run.harness.is_empty(), "{:?}", run.harness.leftovers());
    run.harness.verify_replay(2);
}

#[test]
fn steps_that_a_ban_sets_aside_keep_their_operation() {
    let fault = Some((engine::FaultPoint::Activate, "b".into()));
    let options = Options { max_steps_per_command: 1, fault, ..Options::default() };
    let mut harness = Harness::with_options(options);
    // Flows are taken in reverse order: the other task comes when its instance is banned already.
    let model = "process p\nstart s\nand f\ntask a\njob b\nend e\ns -> f\nf -> a -> e\nf -> b -> e";
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    let create = CreateInstance {
        operation_reference: Some(9),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    };
    let created = harness.command(Command::CreateInstance(create)).unwrap().unwrap();
    let Response::InstanceCreated(created) = created else { panic!("an instance") };
    let set_aside = harness.engine().tables().banned_steps.scan(.., usize::MAX).unwrap();
    assert_eq!(set_aside.len(), 2);
    for (_, step) in set_aside {
        let Step::WithOrigin { operation_reference, .. } = &*step else { panic!("{step:?}") };
        assert_eq!(*operation_reference, Some(9));
    }
    let process_instance_key = created.process_instance_key;
    let cancel = Command::CancelInstance { process_instance_key, operation_reference: None };
    harness.command(cancel).unwrap().unwrap();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(3);
}
