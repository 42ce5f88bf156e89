//! One request for jobs that all partitions serve.
//!
//! Partitions are asked in turn, each for what is left, and each request begins with another one, so that none is
//! starved. If none has a job, all are asked to wait, each with a part of the room: together they never give more jobs
//! than were asked for.

use std::sync::Arc;
use std::time::Duration;

use broker_api::{Activation, JobRequest, SubmitError};
use futures::FutureExt;
use futures::future::{BoxFuture, select_all};
use partition::Partition;
use tokio::time::Instant;

/// The part of a partition in a request that waits.
type Part<'a> = BoxFuture<'a, Result<Activation, SubmitError>>;

fn add(whole: &mut Activation, part: Activation) {
    whole.jobs.extend(part.jobs);
    part.positions.iter().for_each(|(partition, position)| whole.positions.reach(partition, position));
}

/// Activates jobs, beginning with the partition whose turn it is. See [`broker_api::Broker::activate_jobs`].
pub(crate) async fn activate_in_turn(
    partitions: &[Arc<Partition>],
    turn: usize,
    request: JobRequest,
    wait: Option<Duration>,
) -> Result<Activation, SubmitError> {
    let in_turn = || partitions.iter().cycle().skip(turn).take(partitions.len());
    let until = wait.map(|wait| Instant::now() + wait);
    let (mut whole, mut refusals) = (Activation::default(), Vec::new());
    for partition in in_turn() {
        let max_jobs = request.max_jobs.saturating_sub(whole.jobs.len() as u32);
        if max_jobs == 0 {
            break;
        }
        match partition.activate_jobs(JobRequest { max_jobs, ..request.clone() }, None).await {
            Ok(part) => add(&mut whole, part),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if !whole.jobs.is_empty() || request.max_jobs == 0 {
        return Ok(whole);
    }
    // One that cannot serve now keeps nobody from waiting for the others.
    if refusals.len() == partitions.len() {
        return Err(refusals.swap_remove(0));
    }
    let Some(until) = until else { return Ok(whole) };
    let part = request.max_jobs.div_ceil(partitions.len() as u32);
    let left = until.saturating_duration_since(Instant::now());
    let waiting = in_turn().map(|partition| {
        let request = JobRequest { max_jobs: part, ..request.clone() };
        partition.activate_jobs(request, Some(left)).boxed()
    });
    first_that_has_some(waiting.collect(), request.max_jobs, part).await
}

/// The jobs of the first that has some, with those that others have at the same moment and that there is room for.
/// `part`: jobs that each gives at the most.
async fn first_that_has_some(
    mut waiting: Vec<Part<'_>>,
    max_jobs: u32,
    part: u32,
) -> Result<Activation, SubmitError> {
    let mut whole = Activation::default();
    let (mut refusal, mut has_waited) = (None, false);
    while whole.jobs.is_empty() && !waiting.is_empty() {
        let (answer, _, others) = select_all(waiting).await;
        waiting = others;
        match answer {
            Ok(jobs) => {
                has_waited = true;
                add(&mut whole, jobs);
            }
            Err(error) => refusal = Some(error),
        }
    }
    // A request that is dropped gives back what it has.
    for other in waiting {
        if whole.jobs.len() as u32 + part > max_jobs {
            break;
        }
        if let Some(Ok(jobs)) = other.now_or_never() {
            add(&mut whole, jobs);
        }
    }
    assert!(whole.jobs.len() <= max_jobs as usize, "nobody gets more jobs than there is room for");
    match refusal {
        Some(refusal) if !has_waited => Err(refusal),
        Some(_) | None => Ok(whole),
    }
}

#[cfg(test)]
mod tests {
    use broker_api::Positions;
    use protocol::{ActivatedJob, testing};

    use super::*;

    fn jobs(partition: u16, count: usize) -> Activation {
        let jobs: Vec<ActivatedJob> = (0..count).map(|_| testing::job(u64::from(partition))).collect();
        Activation { jobs, positions: Positions::at(partition, 7) }
    }

    fn has(activation: Activation) -> Part<'static> {
        std::future::ready(Ok(activation)).boxed()
    }

    fn refuses() -> Part<'static> {
        std::future::ready(Err(SubmitError::Unavailable("no leader".to_owned()))).boxed()
    }

    #[tokio::test]
    async fn nobody_gets_more_than_there_is_room_for() {
        let all = || vec![has(jobs(1, 2)), has(jobs(2, 2)), has(jobs(3, 2))];
        let found = first_that_has_some(all(), 6, 2).await.unwrap();
        assert_eq!((found.jobs.len(), found.positions.iter().count()), (6, 3));
        let found = first_that_has_some(all(), 5, 2).await.unwrap();
        assert_eq!(found.jobs.len(), 4);
        let found = first_that_has_some(all(), 2, 2).await.unwrap();
        assert_eq!(found.positions.iter().count(), 1);
    }

    #[tokio::test]
    async fn a_partition_that_cannot_serve_keeps_nobody_from_waiting_for_the_others() {
        let found = first_that_has_some(vec![refuses(), has(jobs(2, 1))], 2, 1).await.unwrap();
        assert_eq!(found.jobs.len(), 1);
        let none = first_that_has_some(vec![refuses(), has(Activation::default())], 2, 1).await.unwrap();
        assert!(none.jobs.is_empty(), "one has waited");
        first_that_has_some(vec![refuses(), refuses()], 2, 1).await.unwrap_err();
    }
}
