//! Execution listeners of every kind of element, in the order of their jobs.

use expect_test::{Expect, expect};
use protocol::{
    Command, CompleteJob, CreateInstance, DefinitionRef, Document, JobKind, Name, PublishMessage,
    UserTaskCommand, UserTaskOperation,
};

use crate::support::model::assert_valid;
use crate::support::{Harness, check, document};

/// Runs everything to its end. Returns the completed jobs; listener jobs have their event.
fn run(body: &str) -> String {
    let model = format!("process p\nstart s\n{body}");
    assert_valid(&model);
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", &model), ("dish.dmn", include_str!("models/dish.dmn"))]).unwrap();
    harness.command(Command::CreateInstance(CreateInstance {
        variables: document(r#"{"month":1,"guests":2}"#),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    }));
    let mut done = Vec::new();
    for _ in 0..20 {
        loop {
            let jobs = harness.activate("l", 1);
            let jobs = if jobs.is_empty() { harness.activate("t", 1) } else { jobs };
            let Some(job) = jobs.first() else { break };
            done.push(match job.kind {
                JobKind::ExecutionListener => {
                    format!("{} {}", job.element_id, job.listener_event_type.as_str().to_lowercase())
                }
                _ => job.element_id.to_string(),
            });
            harness.command(Command::CompleteJob(CompleteJob::of(job.key, Document::empty())));
        }
        for user_task_key in harness.engine().tables().user_tasks.keys(.., usize::MAX).unwrap() {
            done.push("user task".to_owned());
            harness.command(Command::UserTask(UserTaskCommand {
                user_task_key,
                operation: UserTaskOperation::Complete { variables: Document::empty() },
                action: Name::default(),
                request_id: None,
            }));
        }
        harness.advance(1);
        harness.command(Command::PublishMessage(PublishMessage {
            name: Name::from("m"),
            correlation_key: Name::from("k"),
            time_to_live_ms: 0,
            message_id: Name::default(),
            variables: Document::empty(),
            tenant_id: Name::default_tenant(),
            business_id: None,
        }));
    }
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(1);
    done.join(", ")
}

fn expect_each(cases: &[(&str, &str)], expected: Expect) {
    let lines: Vec<String> = cases.iter().map(|(name, body)| format!("{name}: {}\n", run(body))).collect();
    expected.assert_eq(&lines.concat());
}

const BOTH: &str = "listen:start=l listen:end=l";

#[test]
fn every_task_has_listeners() {
    let tasks = [
        ("service task", "job x type=t"),
        ("send task", "send x message=other to=k"),
        ("receive task", "receive x message=m key='k'"),
        ("user task", "user x"),
        ("business rule task", "decide x decision=dish result=r"),
        ("script task", "script x expr=1 result=r"),
        ("undefined task", "task x"),
        ("manual task", "manual x"),
    ];
    let cases = tasks.map(|(name, task)| (name, format!("{task} {BOTH}\ns -> x")));
    let cases = cases.each_ref().map(|(name, body)| (*name, body.as_str()));
    expect_each(
        &cases,
        expect![[r#"
        service task: x start, x, x end
        send task: x start, x end
        receive task: x start, x end
        user task: x start, user task, x end
        business rule task: x start, x end
        script task: x start, x end
        undefined task: x start, x end
        manual task: x start, x end
    "#]],
    );
}

#[test]
fn every_scope_has_listeners() {
    let cases = [
        ("sub-process", format!("sub x {BOTH} {{\nstart i\njob j type=t\ni -> j\n}}\ns -> x")),
        ("transaction", format!("tx x {BOTH} {{\nstart i\njob j type=t\ni -> j\n}}\ns -> x")),
        (
            "ad-hoc sub-process",
            format!("adhoc x elements=\"['j', 'j']\" {BOTH} {{\njob j type=t\n}}\ns -> x"),
        ),
        (
            "event sub-process",
            format!(
                "job j type=t\non x {BOTH} {{\nstart i timer=PT0S interrupting=false listen:end=l\njob y type=t\ni -> y\n}}\nreceive w message=m key='k'\ns -> w -> j"
            ),
        ),
        (
            "call activity",
            format!(
                "call x process=q {BOTH}\ns -> x\nprocess q {BOTH}\nstart i listen:end=l\njob j type=t\ni -> j"
            ),
        ),
        ("multi-instance", format!("job x type=t each=[1,2] as=i sequential {BOTH}\ns -> x")),
        ("loop", format!("job x type=t while=true most=2 {BOTH}\ns -> x")),
    ];
    let cases = cases.each_ref().map(|(name, body)| (*name, body.as_str()));
    expect_each(
        &cases,
        expect![[r#"
        sub-process: x start, j, x end
        transaction: x start, j, x end
        ad-hoc sub-process: x start, j, j, x end
        event sub-process: x start, i end, j, y, x end
        call activity: x start, q start, i end, j, q end, x end
        multi-instance: x start, x, x end, x start, x, x end
        loop: x start, x, x end, x start, x, x end
    "#]],
    );
}

#[test]
fn every_event_has_listeners() {
    let events = [
        ("none throw", format!("throw x {BOTH}\ns -> x")),
        ("message throw", format!("throw x message=other to=k {BOTH}\ns -> x")),
        ("signal throw", format!("throw x signal=g {BOTH}\ns -> x")),
        ("escalation throw", format!("throw x escalation=E {BOTH}\ns -> x")),
        ("compensation throw", format!("throw x compensate {BOTH}\ns -> x")),
        ("link", format!("throw x link=a {BOTH}\ncatch y link=a {BOTH}\njob z type=t\ns -> x\ny -> z")),
        ("message catch", format!("catch x message=m key='k' {BOTH}\ns -> x")),
        ("timer catch", format!("catch x timer=PT0S {BOTH}\ns -> x")),
        ("condition catch", format!("catch x condition=true {BOTH}\ns -> x")),
        (
            "interrupting boundary",
            "job j type=later\nboundary x on=j message=m key='k' listen:end=l\ntask z\ns -> j\nx -> z".to_owned(),
        ),
        (
            "non-interrupting boundary",
            "receive j message=m key='k'\nboundary x on=j timer=PT0S interrupting=false listen:end=l\njob z type=t\ns -> j\nx -> z".to_owned(),
        ),
        ("none end", format!("end x {BOTH}\ns -> x")),
        ("message end", format!("end x message=other to=k {BOTH}\ns -> x")),
        ("signal end", format!("end x signal=g {BOTH}\ns -> x")),
        ("terminate end", format!("end x terminate {BOTH}\ns -> x")),
        ("compensation end", format!("end x compensate {BOTH}\ns -> x")),
        (
            "error end",
            "sub u {\nstart i\nend x error=E listen:start=l\ni -> x\n}\nboundary b on=u error=E listen:end=l\ntask z\ns -> u\nb -> z".to_owned(),
        ),
    ];
    let cases = events.each_ref().map(|(name, body)| (*name, body.as_str()));
    expect_each(
        &cases,
        expect![[r#"
            none throw: x start, x end
            message throw: x start, x end
            signal throw: x start, x end
            escalation throw: x start, x end
            compensation throw: x start, x end
            link: x start, x end, y start, y end, z
            message catch: x start, x end
            timer catch: x start, x end
            condition catch: x start, x end
            interrupting boundary: x end
            non-interrupting boundary: x end, z
            none end: x start, x end
            message end: x start, x end
            signal end: x start, x end
            terminate end: x start, x end
            compensation end: x start, x end
            error end: x start, b end
        "#]],
    );
}

#[test]
fn every_gateway_has_start_listeners() {
    expect_each(
        &[
            ("exclusive", "xor x listen:start=l\ntask y\ns -> x -> y"),
            ("inclusive", "or x listen:start=l\ntask y\ns -> x -> y"),
            (
                "parallel",
                "and x listen:start=l\njob y type=t\njob z type=t\nand w listen:start=l\ns -> x -> y -> w\nx -> z -> w",
            ),
            (
                "event-based",
                "events x listen:start=l\ncatch y message=m key='k' listen:start=l\ncatch z timer=PT1H\ns -> x -> y\nx -> z",
            ),
        ],
        expect![[r#"
            exclusive: x start
            inclusive: x start
            parallel: x start, z, y, w start
            event-based: x start, y start
        "#]],
    );
}

#[test]
fn end_listeners_of_a_thrower_go_with_the_scope_that_its_escalation_interrupts() {
    check(
        "process p
         start s
         sub outer listen:end=o {
         start s2
         throw up escalation=E1 listen:start=a listen:end=b
         s2 -> up
         }
         boundary caught on=outer escalation=E1
         task t
         s -> outer
         caught -> t",
        "show elements jobs
         create p
         complete up",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              up activating
              job up created type a retries 3 execution listener start
              = created p v1
            > complete up
              job up completed
              up activated
              outer terminating
              up terminating, terminated
              outer terminated
              caught activating, activated, completing, completed
              t activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
