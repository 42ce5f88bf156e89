//! One command has a budget of steps; the rest continues in later commands.

use engine::Options;
use expect_test::expect;
use protocol::{Command, CompleteJob, CreateInstance, DefinitionRef, Document, Name, Response};

use crate::support::{Harness, check_with};

const RESTLESS: &str = "process restless
    start s
    xor again
    catch never timer=PT0S
    s -> again -> never -> again";

/// Gateways alone may loop without waiting.
const ENDLESS: &str = "process endless
    start s
    xor one
    xor two
    s -> one -> two -> one";

/// A loop that never waits, hidden in a call.
const LOOP: &str = "process loop
    start s
    xor again
    call work process=less
    xor more
    end e
    s -> again -> work -> more
    more -> again if n > 0
    more -> e default";

const LESS: &str = r#"process less
    start s
    script less1 expr="n - 1" result=n
    end e
    s -> less1 -> e"#;

const TASK: &str = "process p
    start s
    job t
    end e
    s -> t -> e";

fn create(process_id: &str, json: &str) -> Command {
    Command::CreateInstance(CreateInstance {
        variables: crate::support::document(json),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from(process_id), version: None })
    })
}

#[test]
fn a_long_loop_shares_the_partition() {
    let mut harness = Harness::new();
    harness.deploy(&[("loop.bpmn", LOOP), ("less.bpmn", LESS), ("p.bpmn", TASK)]).unwrap();
    let effects = harness.apply(vec![create("loop", r#"{"n":1000}"#)], vec![]);
    assert!(effects.has_pending_steps, "a thousand rounds do not fit into one command");
    assert!(effects.responses[0].as_ref().unwrap().is_ok());
    // Another instance starts and ends while the loop still runs.
    let demand = harness.demand("t", 1);
    let effects = harness.apply(vec![create("p", "{}")], vec![demand]);
    let job_key = effects.deliveries[0].jobs[0].key;
    let complete = Command::CompleteJob(CompleteJob::of(job_key, Document::empty()));
    let effects = harness.apply(vec![complete], vec![]);
    assert_eq!(effects.ended_instances.len(), 1);
    assert!(effects.has_pending_steps);
    harness.go_on();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(1);
}

#[test]
fn each_continuation_is_bounded_and_takes_turns() {
    let mut harness = Harness::with_options(Options { max_steps_per_command: 10, ..Options::default() });
    harness.deploy(&[("loop.bpmn", LOOP), ("less.bpmn", LESS)]).unwrap();
    for _ in 0..2 {
        harness.apply(vec![create("loop", r#"{"n":50}"#)], vec![]);
    }
    let mut ended = vec![];
    for round in 0.. {
        let before = harness.engine().counters().steps;
        let effects = harness.apply(vec![Command::GO_ON], vec![]);
        let (pending, new) = (effects.has_pending_steps, effects.ended_instances.len());
        assert!(harness.engine().counters().steps - before <= 10);
        ended.extend(std::iter::repeat_n(round, new));
        if !pending {
            break;
        }
    }
    let [.., first, last] = ended[..] else { panic!("nothing ended") };
    assert!(ended.len() >= 90, "the calls of both, and the two themselves last");
    assert!(last - first <= 3, "both made progress alike: {ended:?}");
    assert!(harness.is_empty());
    harness.verify_replay(2);
}

#[test]
fn a_loop_over_timers_that_are_due_at_once_goes_on_tick_by_tick() {
    let mut harness = Harness::new();
    harness.deploy(&[("restless.bpmn", RESTLESS)]).unwrap();
    harness.command(create("restless", "{}"));
    for _ in 0..5 {
        let effects = harness.apply(vec![Command::Tick], vec![]);
        assert!(effects.next_due_ms.is_some());
        assert!(!effects.has_pending_steps);
    }
    harness.verify_replay(3);
}

#[test]
fn an_endless_loop_can_be_cancelled() {
    let mut harness = Harness::new();
    harness.deploy(&[("endless.bpmn", ENDLESS), ("p.bpmn", TASK)]).unwrap();
    assert!(harness.apply(vec![create("endless", "{}")], vec![]).has_pending_steps);
    let Some(Ok(Response::InstanceCreated(created))) = harness.history().last().unwrap().responses[0].clone()
    else {
        panic!("the creation is answered before the loop ends")
    };
    for _ in 0..10 {
        let effects = harness.apply(vec![Command::GO_ON, create("p", "{}")], vec![]);
        assert!(effects.has_pending_steps);
        assert!(effects.responses.iter().all(|response| matches!(response, Some(Ok(_)))));
    }
    let cancel = Command::CancelInstance {
        process_instance_key: created.process_instance_key,
        operation_reference: None,
    };
    harness.command(cancel);
    let jobs = harness.activate("t", 100);
    assert_eq!(jobs.len(), 10);
    for job in jobs {
        harness.command(Command::CompleteJob(CompleteJob::of(job.key, Document::empty())));
    }
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(5);
}

#[test]
fn a_wide_fork_goes_on_in_later_commands() {
    let mut model = "process wide\nstart s\nand fork\nand join\nend e\ns -> fork\njoin -> e\n".to_owned();
    for n in 0..300 {
        model.push_str(&format!("task t{n}\nfork -> t{n} -> join\n"));
    }
    let mut harness = Harness::new();
    harness.deploy(&[("wide.bpmn", &model)]).unwrap();
    assert!(harness.apply(vec![create("wide", "{}")], vec![]).has_pending_steps);
    harness.go_on();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(4);
}

#[test]
fn commands_meet_steps_that_are_left_over() {
    check_with(
        &[(
            "p",
            "process p
             start s
             sub inner {
             start s2
             and fork
             job a
             job b
             end e2
             s2 -> fork
             fork -> a -> e2
             fork -> b -> e2
             }
             boundary late on=inner timer=PT1S
             end e
             end e3
             s -> inner -> e
             late -> e3",
        )],
        Options { max_steps_per_command: 1, ..Options::default() },
        "deploy p
         show elements jobs
         create p
         only cancel #1
         only complete a
         go on
         create p
         only complete a
         only complete b
         advance 1s",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              inner activating, activated
              s2 activating, activated, completing, completed
              fork activating, activated, completing, completed
              b activating
              job b created type b retries 3
              b activated
              a activating
              job a created type a retries 3
              a activated
              = created p v1
            > only cancel #1
              p terminating
            > only complete a
              job a completed
              a terminating, terminated
            > go on
              inner terminating
              b terminating
              job b canceled
              b terminated
              inner terminated
              p terminated
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.inner activating, activated
              #2.s2 activating, activated, completing, completed
              #2.fork activating, activated, completing, completed
              #2.b activating
              job #2.b created type b retries 3
              #2.b activated
              #2.a activating
              job #2.a created type a retries 3
              #2.a activated
              = created p v1
            > only complete a
              job #2.a completed
              #2.a completing, completed
            > only complete b
              job #2.b completed
              #2.b completing, completed
            > advance 1s
              #2.inner terminating, terminated
              #2.late activating, activated, completing, completed
              #2.e3 activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn an_error_from_inside_a_scope_that_is_ending_comes_too_late() {
    check_with(
        &[(
            "p",
            "process p
             start s
             sub outer {
             start s2
             sub inner {
             start s3
             job t
             end e3
             s3 -> t -> e3
             }
             boundary late on=inner timer=PT1S
             end e2
             s2 -> inner -> e2
             late -> e2
             }
             boundary oops on=outer error=E1
             end e
             end caught
             s -> outer -> e
             oops -> caught",
        )],
        Options { max_steps_per_command: 1, ..Options::default() },
        "deploy p
         show elements jobs incidents timers
         create p
         pin 1s
         only tick
         only throw t E1
         go on",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              outer activating, activated
              s2 activating, activated, completing, completed
              inner activating
              timer late created due 1000
              inner activated
              s3 activating, activated, completing, completed
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > pin 1s
            > only tick
              timer late triggered
              inner terminating
            > only throw t E1
              job t error thrown
              incident t UNHANDLED_ERROR_EVENT created: Expected to throw an error event with the code 'E1', but it was not caught.
            > go on
              t terminating
              incident t UNHANDLED_ERROR_EVENT resolved
              job t canceled
              t terminated
              inner terminated
              late activating, activated, completing, completed
              e2 activating, activated, completing, completed
              outer completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}
