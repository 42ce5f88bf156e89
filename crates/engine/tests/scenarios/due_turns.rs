//! Kinds of due work take turns, and so do the owners of due timers.

use engine::{JobEnd, Options, WorkLimits};
use protocol::{
    Command, CreateInstance, DefinitionRef, Document, FailJob, Intent, Key, Name, PublishMessage,
    RecordValue, Response,
};

use crate::support::Harness;

/// A script that uses up the budget of a command.
const COSTLY: &str = r#"expr="count(for i in 1..2000 return 1)" result=n"#;

const JOB: &str = "process work\nstart s\njob t\nend e\ns -> t -> e";
const LIGHT: &str = "process light\nstart s\ncatch wait timer=PT11S\nend e\ns -> wait -> e";

/// A number of timers of one instance, due at once, with a costly step after each.
fn heavy(timers: usize) -> String {
    format!(
        "process heavy
        start s
        sub m each=\"for i in 1..{timers} return i\" {{
          start b
          catch c timer=PT10S
          script x {COSTLY}
          b -> c -> x
        }}
        end e
        s -> m -> e"
    )
}

/// Fuel for one costly step in a tick.
fn options(max_due_per_tick: usize) -> Options {
    let work = WorkLimits { max_fuel_per_step: 10_000, max_fuel_per_command: 1600, ..WorkLimits::default() };
    Options { work, max_due_per_tick, ..Options::default() }
}

fn created(harness: &mut Harness, process_id: &str) -> Key {
    let id = DefinitionRef::Id { id: Name::from(process_id), version: None };
    match harness.command(Command::CreateInstance(CreateInstance::of(id))) {
        Some(Ok(Response::InstanceCreated(created))) => created.process_instance_key,
        other => panic!("not created: {other:?}"),
    }
}

/// A backlog of costly timers of one instance, and due work of others a second later.
fn backlog(harness: &mut Harness, timers: usize) -> (Key, Key) {
    harness.deploy(&[("heavy.bpmn", &heavy(timers)), ("light.bpmn", LIGHT), ("work.bpmn", JOB)]).unwrap();
    let heavy = created(harness, "heavy");
    let light = created(harness, "light");
    for _ in 0..2 {
        created(harness, "work");
    }
    let demand = protocol::Demand { timeout_ms: 11_000, ..harness.demand("t", 2) };
    let jobs = harness.activate_with(demand);
    harness.command(Command::FailJob(FailJob {
        job_key: jobs[1].key,
        retries: 1,
        retry_backoff_ms: 11_000,
        error_message: Name::default(),
        variables: Document::empty(),
        lease: None,
    }));
    harness.command(Command::PublishMessage(PublishMessage {
        name: Name::from("nobody"),
        correlation_key: Name::default(),
        time_to_live_ms: 11_000,
        message_id: Name::default(),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        business_id: None,
    }));
    harness.now_ms += 20_000;
    (heavy, light)
}

/// The number of ticks until the others' timer, job timeout, backoff and message are processed.
fn ticks_until_served(harness: &mut Harness, light: Key, most: usize) -> [usize; 4] {
    let mut served = [0; 4];
    for tick in 1..=most {
        let effects = harness.apply(vec![Command::Tick, Command::GO_ON], vec![]);
        let has = |intent| effects.records.iter().any(|record| record.intent == intent);
        let seen = [
            effects.ended_instances.contains(&(light, true)),
            effects.ended_jobs.iter().any(|(_, end)| *end == JobEnd::TimedOut),
            has(Intent::RecurredAfterBackoff),
            has(Intent::Expired),
        ];
        for (served, seen) in served.iter_mut().zip(seen) {
            if seen {
                assert_eq!(*served, 0, "once");
                *served = tick;
            }
        }
        if served.iter().all(|tick| *tick > 0) {
            return served;
        }
    }
    panic!("not served in {most} ticks: {served:?}");
}

/// The instances whose timers a batch has triggered.
fn triggered(harness: &Harness) -> Vec<Key> {
    let records = &harness.history().last().unwrap().records;
    let timers = records.iter().filter(|record| record.intent == Intent::Triggered);
    let keys = timers.filter_map(|record| match &record.value {
        RecordValue::Timer(timer) => timer.process_instance_key,
        _ => None,
    });
    keys.collect()
}

#[test]
fn nobody_waits_for_the_costly_timers_of_another_instance() {
    // A tick queues all timers, or a tenth of them.
    for (max_due_per_tick, timers, most) in [(100, 60, 3), (3, 300, 12)] {
        let mut harness = Harness::with_options(options(max_due_per_tick));
        let (heavy, light) = backlog(&mut harness, timers);
        let [timer, timeout, backoff, message] = ticks_until_served(&mut harness, light, 2 * timers);
        assert!(timer <= most, "the timer waited for {timer} ticks");
        assert!(timeout.max(backoff).max(message) <= 3, "{timeout}, {backoff}, {message}");
        assert!(harness.engine().tables().instances.contains(&heavy).unwrap(), "it is far from its end");
        harness.advance(0);
        harness.go_on();
        assert!(!harness.engine().tables().instances.contains(&heavy).unwrap());
        harness.verify_replay(11);
    }
}

#[test]
fn a_costly_kind_waits_for_its_turn_and_owners_keep_their_order() {
    let mut harness = Harness::with_options(options(100));
    let (heavy, light) = backlog(&mut harness, 20);
    let mut order = Vec::new();
    for _ in 0..8 {
        harness.apply(vec![Command::Tick, Command::GO_ON], vec![]);
        order.extend(triggered(&harness));
    }
    assert_eq!(
        order[..4],
        [heavy, light, heavy, heavy],
        "the earliest due first, and one of each in a round"
    );
}

/// Each instance starts the next one, whose timer is overdue from its beginning.
#[test]
fn a_chain_of_new_instances_with_overdue_timers_keeps_nobody_waiting() {
    let chain = "process chain
        start s
        start by signal=again
        xor join
        catch overdue date=2020-01-01T00:00:00Z
        end e signal=again
        s -> join
        by -> join
        join -> overdue -> e";
    let mut harness = Harness::with_options(options(1));
    harness.deploy(&[("chain.bpmn", chain), ("light.bpmn", LIGHT)]).unwrap();
    let light = created(&mut harness, "light");
    harness.now_ms += 20_000;
    created(&mut harness, "chain");
    for _ in 0..6 {
        let effects = harness.apply(vec![Command::Tick, Command::GO_ON], vec![]);
        if effects.ended_instances.contains(&(light, true)) {
            return harness.verify_replay(13);
        }
    }
    panic!("the timer waits for the chain");
}

#[test]
fn a_cancelled_instance_leaves_nothing_in_the_queue() {
    let mut harness = Harness::with_options(options(100));
    harness.deploy(&[("heavy.bpmn", &heavy(40))]).unwrap();
    let heavy = created(&mut harness, "heavy");
    harness.now_ms += 20_000;
    harness.apply(vec![Command::Tick], vec![]);
    let tables = harness.engine().tables();
    assert_eq!((tables.timer_queue.len().unwrap(), tables.timer_due.len().unwrap()), (39, 0));
    let due = harness.history().last().unwrap().next_due_ms;
    assert_eq!(due, Some(harness.engine().now_ms()), "queued timers are due");
    harness.command(Command::CancelInstance { process_instance_key: heavy, operation_reference: None });
    harness.go_on();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(14);
}

/// The set-aside work is the work that the tick would have triggered, tick by tick.
#[test]
fn a_tick_that_is_set_aside_bans_the_instance_whose_timer_was_next() {
    let mut order = Vec::new();
    for ticks in 0..6 {
        let [mut applied, mut skipped] = std::array::from_fn(|_| {
            // Two of them are more than the stack of a test holds.
            let mut harness = Box::new(Harness::with_options(options(1)));
            harness.deploy(&[("heavy.bpmn", &heavy(4)), ("light.bpmn", LIGHT)]).unwrap();
            for id in ["heavy", "light", "light"] {
                created(&mut harness, id);
            }
            harness.now_ms += 20_000;
            for _ in 0..ticks {
                harness.apply(vec![Command::Tick, Command::GO_ON], vec![]);
            }
            harness
        });
        applied.apply(vec![Command::Tick, Command::GO_ON], vec![]);
        let wanted = triggered(&applied);
        assert_eq!(wanted.len(), 1);
        let effects = skipped.set_aside(vec![Command::Tick], None);
        let banned: Vec<Key> = effects.banned.iter().map(|(key, _)| *key).collect();
        assert_eq!(banned, wanted, "after {ticks} ticks");
        order.extend(wanted);
    }
    let heavy = order[0];
    let others = order.iter().position(|key| *key != heavy).unwrap();
    assert_eq!(others, 1, "{order:?}");
}
