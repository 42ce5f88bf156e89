//! Fields of job records for exporters.

use protocol::{
    Command, CompleteJob, CreateInstance, DefinitionRef, Document, ElementMapping, FailJob, Intent,
    JobRecord, JobResult, MigrateInstance, MigrationPlan, Name, RecordValue, Response, UpdateJob,
    UserTaskChanges,
};

use crate::support::{Harness, document};

fn create(harness: &mut Harness) -> u64 {
    let create = CreateInstance {
        tags: vec![Name::from("vip")],
        variables: document(r#"{"x":1}"#),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    };
    match harness.command(Command::CreateInstance(create)).unwrap().unwrap() {
        Response::InstanceCreated(created) => created.process_instance_key,
        other => panic!("an instance: {other:?}"),
    }
}

/// The last record of a job with this intent.
fn last(harness: &Harness, intent: Intent) -> JobRecord {
    let jobs =
        harness.records().filter(|record| record.intent == intent).filter_map(|record| match &record.value {
            RecordValue::Job(job) => Some((**job).clone()),
            _ => None,
        });
    jobs.last().unwrap_or_else(|| panic!("no job is {intent}"))
}

fn names(list: &[&str]) -> Vec<Name> {
    list.iter().copied().map(Name::from).collect()
}

#[test]
fn records_say_what_happened_to_a_job() {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", "process p\nstart s\njob a retries=4\nend e\ns -> a -> e")]).unwrap();
    create(&mut harness);
    let created = last(&harness, Intent::Created);
    assert_eq!(
        (created.retries, created.instance.tags.clone(), created.retry_backoff_ms),
        (4, names(&["vip"]), 0)
    );
    assert_eq!((created.changed_attributes, created.result), (vec![], None));

    let job_key = harness.activate("a", 1)[0].key;
    let activated = last(&harness, Intent::Activated);
    assert_eq!((activated.timeout_ms, activated.variables), (600_000, document(r#"{"x":1}"#)));
    let fail = FailJob {
        job_key,
        retries: 3,
        retry_backoff_ms: 5000,
        error_message: Name::from("not yet"),
        variables: Document::empty(),
        lease: None,
    };
    harness.command(Command::FailJob(fail)).unwrap().unwrap();
    let failed = last(&harness, Intent::Failed);
    assert_eq!((failed.retry_backoff_ms, &*failed.error_message), (5000, "not yet"));
    assert_eq!(failed.recurring_time_ms, harness.now_ms + 5000);
    harness.advance(5000);
    harness.activate("a", 1);
    let update = UpdateJob {
        job_key,
        retries: Some(2),
        timeout_ms: Some(70),
        operation_reference: None,
        priority: None,
        lease: None,
    };
    harness.command(Command::UpdateJob(update)).unwrap().unwrap();
    let updated = last(&harness, Intent::Updated);
    assert_eq!(updated.changed_attributes, names(&["retries", "timeout"]));
    assert_eq!((updated.retries, updated.timeout_ms), (2, 70));
    let complete = CompleteJob::of(job_key, document(r#"{"y":2}"#));
    harness.command(Command::CompleteJob(complete)).unwrap().unwrap();
    assert_eq!(last(&harness, Intent::Completed).variables, document(r#"{"y":2}"#));
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
}

#[test]
fn the_result_of_a_listener_stands_in_its_record() {
    let mut harness = Harness::new();
    let model = "process p\nstart s\nuser u task:creating=check\nend e\ns -> u -> e";
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    create(&mut harness);
    let job_key = harness.activate("check", 1)[0].key;
    let corrections = UserTaskChanges { priority: Some(7), ..UserTaskChanges::default() };
    let result = Box::new(JobResult::UserTask { denied: false, denied_reason: Name::default(), corrections });
    let complete = CompleteJob {
        job_key,
        variables: Document::empty(),
        result: Some(result.clone()),
        lease: None,
        business_id: None,
    };
    harness.command(Command::CompleteJob(complete)).unwrap().unwrap();
    let completed = last(&harness, Intent::Completed);
    assert_eq!(&*completed.job_listener_event_type, "CREATING");
    assert_eq!(completed.result, Some(result));
}

#[test]
fn a_job_that_people_take_over_says_so() {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", "process p\nstart s\nuser u worker\nend e\ns -> u -> e")]).unwrap();
    let process_instance_key = create(&mut harness);
    assert!(!last(&harness, Intent::Created).is_job_to_user_task_migration);
    harness.deploy(&[("p.bpmn", "process p\nstart s\nuser u\nend e\ns -> u -> e")]).unwrap();
    let keys = harness.engine().tables().definitions.keys(.., usize::MAX).unwrap();
    let mapping = ElementMapping { source_element_id: Name::from("u"), target_element_id: Name::from("u") };
    let migrate = MigrateInstance {
        process_instance_key,
        plan: MigrationPlan { target_definition_key: *keys.last().unwrap(), mappings: vec![mapping] },
        operation_reference: None,
    };
    harness.command(Command::MigrateInstance(migrate)).unwrap().unwrap();
    assert!(last(&harness, Intent::Canceled).is_job_to_user_task_migration);
}
