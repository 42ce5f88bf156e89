//! Owners of steps left over take turns, within what a command may record.

use engine::Options;
use protocol::{Command, CreateInstance, DefinitionRef, Name, Response};

use crate::support::Harness;

/// The log of an earlier release: the oldest steps go first.
const OLDEST_FIRST: Command = Command::Continue { max_records: None };

fn create(process_id: &str) -> Command {
    Command::CreateInstance(CreateInstance::of(DefinitionRef::Id {
        id: Name::from(process_id),
        version: None,
    }))
}

/// A number of parallel branches.
fn wide(branches: usize) -> String {
    let mut model = "process wide\nstart s\nand fork\nand join\nend e\ns -> fork\njoin -> e\n".to_owned();
    for n in 0..branches {
        model += &format!("task t{n}\nfork -> t{n} -> join\n");
    }
    model
}

/// A number of tasks in sequence.
fn line(tasks: usize) -> String {
    let mut model = "process line\nstart s\nend e\n".to_owned();
    let mut way = "s".to_owned();
    for n in 0..tasks {
        model += &format!("task l{n}\n");
        way += &format!(" -> l{n}");
    }
    model + &way + " -> e"
}

/// Each instance starts the next one.
const CHAIN: &str = "process chain
    start s signal=again
    start by
    xor join
    end e signal=again
    s -> join
    by -> join
    join -> e";

fn few_steps() -> Harness {
    Harness::with_options(Options { max_steps_per_command: 10, ..Options::default() })
}

/// Number of commands until an instance has ended.
fn until_one_has_ended(harness: &mut Harness, go_on: &Command) -> usize {
    for count in 1..1_000 {
        if !harness.apply(vec![go_on.clone()], vec![]).ended_instances.is_empty() {
            return count;
        }
    }
    panic!("nothing has ended")
}

#[test]
fn an_instance_does_not_wait_for_the_branches_of_another() {
    let mut counts = Vec::new();
    for go_on in [Command::GO_ON, OLDEST_FIRST] {
        let mut harness = few_steps();
        harness.deploy(&[("wide.bpmn", &wide(150)), ("line.bpmn", &line(10))]).unwrap();
        harness.apply(vec![create("wide"), create("line")], vec![]);
        counts.push(until_one_has_ended(&mut harness, &go_on));
        harness.go_on();
        assert!(harness.is_empty(), "{:?}", harness.leftovers());
        harness.verify_replay(3);
    }
    let [in_turn, oldest_first] = counts[..] else { panic!("two ways") };
    assert!(in_turn * 4 < oldest_first, "{counts:?}");
}

#[test]
fn a_chain_of_new_instances_keeps_nobody_waiting() {
    let mut harness = few_steps();
    harness.deploy(&[("chain.bpmn", CHAIN), ("line.bpmn", &line(40))]).unwrap();
    assert!(harness.apply(vec![create("chain")], vec![]).has_pending_steps);
    let created = harness.apply(vec![create("line")], vec![]).responses[0].clone();
    let Some(Ok(Response::InstanceCreated(line))) = created else { panic!("not created: {created:?}") };
    let mut ended_of_chain = 0;
    for count in 0.. {
        let ended = harness.apply(vec![Command::GO_ON], vec![]).ended_instances.clone();
        if ended.iter().any(|(key, _)| *key == line.process_instance_key) {
            break;
        }
        ended_of_chain += ended.len();
        assert!(count < 60, "the line never ends");
    }
    assert!(ended_of_chain >= 3, "the chain goes on, too: {ended_of_chain}");
    harness.verify_replay(5);
}

#[test]
fn a_continuation_ends_when_it_has_recorded_enough() {
    let mut harness = Harness::new();
    harness.deploy(&[("wide.bpmn", &wide(300))]).unwrap();
    assert!(harness.apply(vec![create("wide")], vec![]).has_pending_steps);
    for max_records in [1, 7, 50] {
        let before = harness.engine().position();
        let bounded = Command::Continue { max_records: Some(max_records) };
        let left_over = harness.apply(vec![bounded], vec![]).left_over_records;
        let recorded = harness.engine().position() - before;
        // The command has a position, too.
        assert_eq!(recorded, left_over + 1);
        // The last step may go beyond.
        assert!((1..u64::from(max_records) + 10).contains(&left_over), "{left_over} of {max_records}");
    }
    harness.go_on();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(2);
}
