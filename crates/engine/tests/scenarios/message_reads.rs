//! Rows that messages and signals read: those of their own name and key, and of these no more than they need.

use engine::Options;
use protocol::{
    BroadcastSignal, Command, CreateInstance, DefinitionRef, Document, Intent, Name, PublishMessage,
    RecordValue,
};

use crate::support::Harness;

/// Definitions, and messages of one key, that are there.
const MANY: usize = 500;
/// Rows that a reader of one row may look at: its first slice.
const ROWS_MAX: u64 = 16;

/// Rows that a command reads.
fn rows_of(harness: &mut Harness, command: Command) -> u64 {
    let before = harness.engine().counters().event_rows;
    harness.command(command).unwrap().unwrap();
    harness.engine().counters().event_rows - before
}

fn publish(name: &str, key: &str, time_to_live_ms: i64) -> Command {
    Command::PublishMessage(PublishMessage {
        name: Name::from(name),
        correlation_key: Name::from(key),
        time_to_live_ms,
        message_id: Name::default(),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        business_id: None,
    })
}

fn signal(name: &str) -> Command {
    Command::BroadcastSignal(BroadcastSignal {
        name: Name::from(name),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
    })
}

#[test]
fn start_events_of_other_names_are_not_read() {
    let mut harness = Harness::with_options(Options::default());
    for at in 0..MANY {
        let model = format!(
            "process p{at}\n    start m message=m{at:03}\n    start s signal=s{at:03}\n    end e\n    m -> e\n    s -> e"
        );
        harness.deploy(&[("p.bpmn", &model)]).unwrap();
    }
    for (command, rows) in [
        (publish("m000", "", 0), 1),
        (publish("m", "", 0), 0),
        (publish("a", "", 0), 0),
        (signal("s000"), 1),
        (signal("s"), 0),
        (signal("a"), 0),
    ] {
        let read = rows_of(&mut harness, command.clone());
        assert_eq!(read, rows, "{command:?}");
    }
}

#[test]
fn of_many_messages_in_the_buffer_the_first_that_fits_is_read() {
    let mut harness = Harness::with_options(Options::default());
    let wait = "process p\n    start s\n    catch wait message=m key=id\n    end e\n    s -> wait -> e";
    let start = "process q\n    start s message=b\n    job t type=t\n    end e\n    s -> t -> e";
    harness.deploy(&[("p.bpmn", wait), ("q.bpmn", start)]).unwrap();
    for _ in 0..MANY {
        harness.command(publish("m", "k", 3_600_000)).unwrap().unwrap();
        harness.command(publish("b", "k", 3_600_000)).unwrap().unwrap();
    }
    let variables = Document::parse(br#"{"id":"k"}"#.to_vec().into()).unwrap();
    let id = DefinitionRef::Id { id: Name::from("p"), version: None };
    let create = Command::CreateInstance(CreateInstance { variables, ..CreateInstance::of(id) });
    let read = rows_of(&mut harness, create);
    assert!((1..=ROWS_MAX).contains(&read), "{read} rows");
    // The instance that holds the key ends: the next message of the buffer starts one.
    let started = harness.records().find(|record| {
        record.intent == Intent::ElementActivated
            && matches!(&record.value, RecordValue::ProcessInstance(value) if *value.element_id == *"q")
    });
    let process_instance_key = started.expect("the first message starts an instance").key;
    let cancel = Command::CancelInstance { process_instance_key, operation_reference: None };
    let read = rows_of(&mut harness, cancel);
    assert!((1..=ROWS_MAX).contains(&read), "{read} rows");
}
