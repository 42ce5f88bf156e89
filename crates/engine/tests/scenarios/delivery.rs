//! Reports to the leader about delivered jobs, and jobs that a demand skips.

use engine::JobEnd::{self, Answered, Canceled, Failed, TimedOut, Yielded};
use protocol::{
    Command, CompleteJob, CreateInstance, DefinitionRef, Demand, Document, FailJob, Key, Name, ThrowError,
};

use crate::support::Harness;

const TASK: &str = "process p\n start s\n job t\n end e\n s -> t -> e";

fn with_jobs(count: usize) -> Harness {
    let mut harness = Harness::new();
    harness.deploy(&[("p.bpmn", TASK)]).unwrap();
    for _ in 0..count {
        let create = CreateInstance::of(DefinitionRef::Id { id: "p".into(), version: None });
        harness.command(Command::CreateInstance(create)).unwrap().unwrap();
    }
    harness
}

fn keys(harness: &mut Harness, max_jobs: u32, except: &[Key]) -> Vec<Key> {
    let demand = Demand { except: Some(except.to_vec()), ..harness.demand("t", max_jobs) };
    harness.activate_with(demand).iter().map(|job| job.key).collect()
}

fn ended(harness: &Harness) -> Vec<(Key, JobEnd)> {
    harness.history().iter().flat_map(|effects| effects.ended_jobs.iter().copied()).collect()
}

#[test]
fn jobs_that_a_demand_excepts_are_passed_over_and_go_to_others() {
    let mut harness = with_jobs(5);
    let all: Vec<Key> = keys(&mut harness, 10, &[]);
    harness.apply(vec![Command::YieldJobs { job_keys: all.clone(), deadlines_ms: None }], vec![]);
    let except = [all[0], all[1], all[3]];
    assert_eq!(keys(&mut harness, 1, &except), [all[2]], "those before it do not fill the demand");
    assert_eq!(keys(&mut harness, 10, &except), [all[4]]);
    assert!(keys(&mut harness, 10, &except).is_empty());
    let unmet = &harness.history().last().unwrap().unmet_subscribers;
    assert_eq!(unmet.len(), 1);
    assert_eq!(keys(&mut harness, 10, &[]), except);
    harness.verify_replay(1);
}

#[test]
fn a_job_is_not_taken_from_the_worker_that_has_it_since() {
    let mut harness = with_jobs(1);
    let first = keys(&mut harness, 1, &[]);
    let deadline_ms = |harness: &Harness| {
        let delivered = harness.history().iter().rev().flat_map(|effects| &effects.deliveries);
        delivered.flat_map(|delivery| &delivery.jobs).next().unwrap().deadline_ms
    };
    let until_ms = deadline_ms(&harness);
    let back = |until_ms| Command::YieldJobs { job_keys: first.clone(), deadlines_ms: Some(vec![until_ms]) };
    harness.command(back(until_ms));
    // Later, so that the next worker has another time.
    harness.advance(1_000);
    assert_eq!(keys(&mut harness, 1, &[]), first);
    // The same again: an answer got lost, and the broker could not know.
    harness.command(back(until_ms));
    assert!(keys(&mut harness, 1, &[]).is_empty());
    let until_ms = deadline_ms(&harness);
    harness.command(back(until_ms));
    assert_eq!(keys(&mut harness, 1, &[]), first);
    harness.verify_replay(1);
}

#[test]
fn it_is_told_how_each_job_left_its_worker() {
    let mut harness = with_jobs(6);
    let jobs: Vec<Key> = keys(&mut harness, 10, &[]);
    assert!(ended(&harness).is_empty());
    let complete = |job_key| Command::CompleteJob(CompleteJob::of(job_key, Document::empty()));
    harness.command(complete(jobs[0]));
    harness.command(Command::FailJob(FailJob {
        job_key: jobs[1],
        retries: 0,
        retry_backoff_ms: 0,
        error_message: Name::default(),
        variables: Document::empty(),
        lease: None,
    }));
    harness.command(Command::ThrowError(ThrowError {
        job_key: jobs[2],
        error_code: Name::from("none"),
        error_message: Name::default(),
        variables: Document::empty(),
        lease: None,
    }));
    harness.command(Command::YieldJobs { job_keys: vec![jobs[3]], deadlines_ms: None });
    harness.advance(600_000);
    // Refused, and so not reported.
    harness.command(complete(jobs[0])).unwrap().unwrap_err();
    harness.command(complete(jobs[4])).unwrap().unwrap();
    let expected = [
        (jobs[0], Answered),
        (jobs[1], Failed),
        (jobs[2], Answered),
        (jobs[3], Yielded),
        (jobs[4], TimedOut),
        (jobs[5], TimedOut),
        (jobs[4], Answered),
    ];
    assert_eq!(ended(&harness), expected);
    let instances: Vec<Key> = keys(&mut harness, 10, &[]);
    assert!(instances.contains(&jobs[5]));
    harness.verify_replay(2);
}

#[test]
fn the_end_of_an_instance_is_told_of_its_job() {
    let mut harness = with_jobs(1);
    let job = harness.activate("t", 1).remove(0);
    let cancel =
        Command::CancelInstance { process_instance_key: job.process_instance_key, operation_reference: None };
    harness.command(cancel).unwrap().unwrap();
    assert_eq!(ended(&harness), [(job.key, Canceled)]);
}
