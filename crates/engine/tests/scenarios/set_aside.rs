//! Batches that are set aside: they are not applied, and the instances they concern are banned.

use engine::{Effects, Options};
use protocol::{Command, CompleteJob, CreateInstance, DefinitionRef, Document, Key, Name, Response};

use crate::support::Harness;

const JOB: &str = "process p
    start s
    job t
    end e
    s -> t -> e";

fn create(process_id: &str) -> Command {
    Command::CreateInstance(CreateInstance::of(DefinitionRef::Id {
        id: Name::from(process_id),
        version: None,
    }))
}

fn created(harness: &mut Harness, process_id: &str) -> Key {
    match &harness.apply(vec![create(process_id)], vec![]).responses[0] {
        Some(Ok(Response::InstanceCreated(created))) => created.process_instance_key,
        other => panic!("not created: {other:?}"),
    }
}

fn banned(effects: &Effects) -> Vec<Key> {
    effects.banned.iter().map(|(key, _)| *key).collect()
}

#[test]
fn what_commands_are_about_is_banned_and_nothing_else() {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", JOB)]).unwrap();
    let [first, second, third] = std::array::from_fn(|_| created(&mut harness, "p"));
    let jobs = harness.activate("t", 3);
    let complete = Command::CompleteJob(CompleteJob::of(jobs[1].key, Document::empty()));
    let cancel = Command::CancelInstance { process_instance_key: third, operation_reference: None };
    let before = harness.engine().position();
    let effects = harness.set_aside(vec![complete, create("p"), cancel], Some(12_345));
    assert_eq!(banned(&effects), [second, third], "an instance that is not there is not banned");
    assert!(effects.responses.iter().all(Option::is_none) && effects.deliveries.is_empty());
    assert!(harness.engine().position() > before + 3, "each command has its position");
    let tables = harness.engine().tables();
    assert_eq!((tables.instances.len().unwrap(), tables.jobs.len().unwrap()), (3, 3), "nothing was done");
    assert!(!tables.banned.contains(&first).unwrap());
}

#[test]
fn those_whose_turn_is_next_are_banned_and_not_those_that_wait_longest() {
    let tasks: Vec<_> = (0..9).map(|n| format!("t{n}")).collect();
    let mut wide = "process wide\nstart s\nand f\n".to_owned();
    let mut long = "process long\nstart s\n".to_owned();
    for task in &tasks {
        wide += &format!("task {task}\n");
        long += &format!("task {task}\n");
    }
    wide += "s -> f\n";
    wide.extend(tasks.iter().map(|task| format!("f -> {task}\n")));
    long += &format!("s -> {}", tasks.join(" -> "));
    for before in 0..4 {
        let mut harness = Harness::with_options(Options { max_steps_per_command: 2, ..Options::default() });
        harness.deploy(&[("wide.bpmn", &wide), ("long.bpmn", &long)]).unwrap();
        let first = created(&mut harness, "wide");
        harness.apply(vec![Command::GO_ON], vec![]);
        let second = created(&mut harness, "long");
        for _ in 0..before {
            harness.apply(vec![Command::GO_ON], vec![]);
        }
        let steps = harness.engine().tables().pending_steps.len().unwrap();
        assert!(steps > 3, "the oldest are all of the first");
        let effects = harness.set_aside(vec![Command::GO_ON], None);
        assert_eq!(banned(&effects), [first, second], "after {before}");
    }
}

#[test]
fn of_steps_left_over_the_one_at_work_is_banned_or_all_that_are_next() {
    let mut line = "process line\nstart s\nend e\n".to_owned();
    let mut way = "s".to_owned();
    for n in 0..20 {
        line += &format!("task l{n}\n");
        way += &format!(" -> l{n}");
    }
    line += &(way + " -> e");
    for is_known in [true, false] {
        let mut harness = Harness::with_options(Options { max_steps_per_command: 10, ..Options::default() });
        harness.deploy(&[("line.bpmn", &line)]).unwrap();
        let (first, second) = (created(&mut harness, "line"), created(&mut harness, "line"));
        let effects = harness.set_aside(vec![Command::GO_ON], is_known.then_some(second));
        let expected = if is_known { vec![second] } else { vec![first, second] };
        assert_eq!(banned(&effects), expected);
        assert!(effects.has_pending_steps);
        let mut ended = Vec::new();
        while harness.apply(vec![Command::GO_ON], vec![]).has_pending_steps {
            ended.extend(harness.history().last().unwrap().ended_instances.clone());
        }
        ended.extend(harness.history().last().unwrap().ended_instances.clone());
        assert_eq!(ended, if is_known { vec![(first, true)] } else { vec![] });
        // Nothing is lost: the instance continues after its release.
        harness.command(Command::Unban { process_instance_key: second });
        assert!(!harness.engine().tables().instances.contains(&second).unwrap());
    }
}
