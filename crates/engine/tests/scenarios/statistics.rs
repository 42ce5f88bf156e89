//! Statistics of running instances.

use protocol::{
    Command, CreateInstance, DefinitionRef, Document, FailJob, Instances, Key, Name, PublishMessage, Query,
    QueryReply, error_hash,
};

use crate::support::{Harness, document};

const WORK: &str = "process work
   start s
   job t
   end e
   s -> t -> e";

const CALLER: &str = "process caller
   start s
   call c process=work
   end e
   s -> c -> e";

const WAIT: &str = "process wait
   start s
   catch one message=m key=id
   catch two message=n key=id
   end e
   s -> one -> two -> e";

fn create(harness: &mut Harness, id: &str, version: Option<u32>, variables: Document) {
    let definition = DefinitionRef::Id { id: id.into(), version };
    let command = CreateInstance { variables, ..CreateInstance::of(definition) };
    harness.command(Command::CreateInstance(command)).unwrap().unwrap();
}

/// Fails the existing jobs, each with its message.
fn fail(harness: &mut Harness, messages: &[&str]) -> Vec<Key> {
    let jobs = harness.activate("t", u32::try_from(messages.len()).unwrap());
    assert_eq!(jobs.len(), messages.len());
    for (job, message) in jobs.iter().zip(messages) {
        let fail = FailJob {
            job_key: job.key,
            retries: 0,
            retry_backoff_ms: 0,
            error_message: (*message).into(),
            variables: Document::empty(),
            lease: None,
        };
        harness.command(Command::FailJob(fail)).unwrap().unwrap();
    }
    jobs.iter().map(|job| job.process_instance_key).collect()
}

/// Process, version, running instances, those with incidents.
fn running(harness: &mut Harness, process: Option<&str>, limit: usize) -> (Vec<String>, bool) {
    let query = Query::RunningDefinitions { process_id: process.map(Into::into), limit };
    let QueryReply::RunningDefinitions { definitions, has_more } = harness.read(&query).unwrap() else {
        panic!("definitions")
    };
    let texts = definitions
        .iter()
        .map(|it| format!("{} v{} {}/{}", it.process_id, it.version, it.with_incidents, it.running));
    (texts.collect(), has_more)
}

fn errors(harness: &mut Harness, limit: usize) -> (Vec<String>, bool) {
    errors_of(harness, limit, Instances::default())
}

fn errors_of(harness: &mut Harness, limit: usize, of: Instances) -> (Vec<String>, bool) {
    let QueryReply::Errors { errors, has_more } = harness.read(&Query::Errors { limit, of }).unwrap() else {
        panic!("errors")
    };
    (errors.iter().map(|it| format!("{} {}", it.message, it.instances)).collect(), has_more)
}

fn failing(harness: &mut Harness, message: &str, limit: usize) -> (Vec<String>, bool) {
    let query = Query::FailingDefinitions { error_hash: error_hash(message), limit };
    let QueryReply::FailingDefinitions { definitions, has_more } = harness.read(&query).unwrap() else {
        panic!("definitions")
    };
    let texts = definitions.iter().map(|it| format!("{} v{} {}", it.process_id, it.version, it.instances));
    (texts.collect(), has_more)
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[test]
fn running_instances_are_counted_by_definition() {
    let mut harness = Harness::new();
    harness.deploy(&[("work.bpmn", WORK)]).unwrap();
    assert_eq!(running(&mut harness, None, 10), (vec![], false));
    create(&mut harness, "work", None, Document::empty());
    create(&mut harness, "work", None, Document::empty());
    harness
        .deploy(&[("work.bpmn", &WORK.replace("end e", "end other\n end e")), ("c.bpmn", CALLER)])
        .unwrap();
    create(&mut harness, "caller", None, Document::empty());
    let all = texts(&["work v1 0/2", "work v2 0/1", "caller v1 0/1"]);
    assert_eq!(running(&mut harness, None, 3), (all.clone(), false));
    assert_eq!(running(&mut harness, None, 2), (all[..2].to_vec(), true));
    assert_eq!(running(&mut harness, Some("caller"), 3), (all[2..].to_vec(), false));
    // Called instances count for the caller, too.
    fail(&mut harness, &["a", "a", "a"]);
    let all = texts(&["work v1 2/2", "work v2 1/1", "caller v1 1/1"]);
    assert_eq!(running(&mut harness, None, 3), (all, false));
}

#[test]
fn instances_are_counted_by_error() {
    let mut harness = Harness::new();
    harness.deploy(&[("work.bpmn", WORK)]).unwrap();
    // More than one slice.
    for _ in 0..600 {
        create(&mut harness, "work", None, Document::empty());
    }
    let messages: Vec<_> = (0..600).map(|n| if n < 599 { "late" } else { "early" }).collect();
    fail(&mut harness, &messages);
    assert_eq!(errors(&mut harness, 600), (texts(&["early 1", "late 599"]), false));
    assert_eq!(errors(&mut harness, 599), (texts(&["late 599"]), true));
    assert_eq!(failing(&mut harness, "late", 600), (texts(&["work v1 599"]), false));
    assert_eq!(failing(&mut harness, "early", 600), (texts(&["work v1 1"]), false));
    assert_eq!(failing(&mut harness, "early", 599), (vec![], true));
    assert_eq!(failing(&mut harness, "other", 600), (vec![], false));
}

#[test]
fn an_instance_with_two_incidents_of_an_error_counts_once() {
    let mut harness = Harness::new();
    let model = "process work\n start s\n and f\n job t\n job u type=t\n s -> f -> t\n f -> u";
    harness.deploy(&[("work.bpmn", model)]).unwrap();
    create(&mut harness, "work", None, Document::empty());
    let instances = fail(&mut harness, &["a", "a"]);
    assert_eq!(instances[0], instances[1]);
    assert_eq!(errors(&mut harness, 10), (texts(&["a 1"]), false));
    assert_eq!(failing(&mut harness, "a", 10), (texts(&["work v1 1"]), false));
}

#[test]
fn what_waits_for_messages_is_listed() {
    let mut harness = Harness::new();
    harness.deploy(&[("wait.bpmn", WAIT)]).unwrap();
    create(&mut harness, "wait", None, document(r#"{"id":"a"}"#));
    create(&mut harness, "wait", None, document(r#"{"id":"b"}"#));
    harness.command(Command::PublishMessage(PublishMessage {
        name: "m".into(),
        correlation_key: "a".into(),
        time_to_live_ms: 0,
        message_id: "".into(),
        variables: Document::empty(),
        tenant_id: protocol::Name::default_tenant(),
        business_id: None,
    }));
    let listed = |harness: &mut Harness, limit| {
        let reply = harness.read(&Query::Subscriptions { limit }).unwrap();
        let QueryReply::Subscriptions { subscriptions, has_more } = reply else { panic!("subscriptions") };
        let texts = subscriptions.iter().map(|it| {
            format!("{}.{} {}/{}", it.process_id, it.element_id, it.message_name, it.correlation_key)
        });
        (texts.collect::<Vec<_>>(), has_more)
    };
    assert_eq!(listed(&mut harness, 2), (texts(&["wait.one m/b", "wait.two n/a"]), false));
    assert_eq!(listed(&mut harness, 1), (texts(&["wait.one m/b"]), true));
}

#[test]
fn errors_of_other_processes_and_tenants_do_not_count() {
    let mut harness = Harness::new();
    let other = WORK.replace("process work", "process other");
    harness.deploy(&[("work.bpmn", WORK), ("other.bpmn", &other)]).unwrap();
    for id in ["work", "other", "other"] {
        create(&mut harness, id, None, Document::empty());
    }
    fail(&mut harness, &["a", "a", "b"]);
    assert_eq!(errors(&mut harness, 10), (texts(&["a 2", "b 1"]), false));
    let of = |process: &str| Instances { process_ids: Some([process.into()].into()), tenant_ids: None };
    assert_eq!(errors_of(&mut harness, 10, of("work")), (texts(&["a 1"]), false));
    assert_eq!(errors_of(&mut harness, 10, of("other")), (texts(&["a 1", "b 1"]), false));
    assert_eq!(errors_of(&mut harness, 10, of("none")), (vec![], false));
    let of = |tenant: Name| Instances { process_ids: None, tenant_ids: Some([tenant].into()) };
    assert_eq!(errors_of(&mut harness, 10, of(Name::default_tenant())).0.len(), 2);
    assert_eq!(errors_of(&mut harness, 10, of("t".into())), (vec![], false));
}
