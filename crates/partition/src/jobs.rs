//! The worker's side of demand: polls and streams, and what happens to jobs when a worker goes away.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use broker_api::{Activation, JobRequest, JobStream, SubmitError};
use futures::Stream;
use protocol::ActivatedJob;
use tokio::sync::{mpsc, oneshot};

use crate::answers::stopping;
use crate::demand::{DemandRegistry, Polled, StreamCredit, is_worth_asking};
use crate::partition::Partition;

pub(crate) async fn poll(
    registry: Arc<DemandRegistry>,
    request: JobRequest,
    wait: Option<Duration>,
) -> Polled {
    if request.max_jobs == 0 || (wait.is_none() && registry.is_known_empty(&request)) {
        return Ok(Activation::default());
    }
    let (reply, answer) = oneshot::channel();
    let id = registry.poll(request, reply, wait.is_some()).ok_or_else(stopping)?;
    let mut polling = Polling { registry, id, answer };
    match wait {
        None => (&mut polling.answer).await.unwrap_or_else(|_| Err(stopping())),
        Some(wait) => match tokio::time::timeout(wait, &mut polling.answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(stopping())),
            Err(_) => Ok(polling.last_moment()),
        },
    }
}

/// A poll under way. Dropped early, it ends its demand and gives back what came in the same moment.
struct Polling {
    registry: Arc<DemandRegistry>,
    id: u64,
    answer: oneshot::Receiver<Polled>,
}

impl Polling {
    fn last_moment(&mut self) -> Activation {
        self.registry.unsubscribe(self.id);
        self.answer.close();
        self.answer.try_recv().ok().and_then(Result::ok).unwrap_or_default()
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        let late = self.last_moment();
        self.registry.give_back(&late.jobs);
    }
}

/// Opens a stream of the jobs of several partitions, which hold no more of them together than one would alone.
pub fn stream_jobs(partitions: &[Arc<Partition>], request: JobRequest) -> Result<JobStream, SubmitError> {
    let (first, others) = partitions.split_first().expect("there is one partition at least");
    first.check_lists(&request)?;
    let buffer = first.options().jobs.stream_buffer;
    let credit = first.shared.demand.stream_credit(&request);
    let open = |partition: &Arc<Partition>| {
        stream(Arc::clone(&partition.shared.demand), request.clone(), buffer, &credit)
    };
    let first = open(first)?;
    if others.is_empty() {
        return Ok(JobStream::new(first));
    }
    let others = others.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    Ok(JobStream::new(futures::stream::select_all(std::iter::once(first).chain(others))))
}

/// Opens the part of a stream that is for one partition.
fn stream(
    registry: Arc<DemandRegistry>,
    request: JobRequest,
    buffer: usize,
    credit: &StreamCredit,
) -> Result<Pushed, SubmitError> {
    let (sender, jobs) = mpsc::channel(buffer);
    let (id, queued) = registry.stream_within(request, sender, credit).ok_or_else(stopping)?;
    Ok(Pushed { registry, id, jobs, queued })
}

struct Pushed {
    registry: Arc<DemandRegistry>,
    id: u64,
    jobs: mpsc::Receiver<ActivatedJob>,
    /// Whether jobs wait for the room that a taken one leaves.
    queued: Arc<AtomicBool>,
}

impl Stream for Pushed {
    type Item = ActivatedJob;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ActivatedJob>> {
        loop {
            let taken = self.jobs.poll_recv(cx);
            let Poll::Ready(Some(job)) = &taken else { return taken };
            if self.queued.load(Ordering::Acquire)
                && is_worth_asking(self.jobs.capacity(), self.jobs.max_capacity())
            {
                self.registry.wake();
            }
            // It waited here beyond its time: it has gone to somebody else.
            if job.deadline_ms > self.registry.now_ms() {
                return taken;
            }
            self.registry.dropped(self.id, job);
        }
    }
}

impl Drop for Pushed {
    fn drop(&mut self) {
        self.registry.unsubscribe(self.id);
        self.jobs.close();
        let mut unread = Vec::new();
        while let Ok(job) = self.jobs.try_recv() {
            unread.push(job);
        }
        self.registry.give_back(&unread);
    }
}
