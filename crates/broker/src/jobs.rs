//! The worker's side of demand: polls and streams, and what happens to jobs when a worker goes away.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::Stream;
use protocol::ActivatedJob;
use tokio::sync::{mpsc, oneshot};

use crate::api::{JobRequest, JobStream};
use crate::demand::{DemandRegistry, Sink};

/// Activates jobs once.
pub(crate) async fn poll(
    registry: Arc<DemandRegistry>,
    request: JobRequest,
    wait: Option<Duration>,
) -> Vec<ActivatedJob> {
    if wait.is_none() && !registry.may_be_queued(&request.job_type) {
        return Vec::new();
    }
    let (reply, answer) = oneshot::channel();
    let (id, _) = registry.subscribe(request, Sink::Poll { reply, waits: wait.is_some() });
    let mut polled = Polled { registry, id, answer };
    match wait {
        None => (&mut polled.answer).await.unwrap_or_default(),
        Some(wait) => match tokio::time::timeout(wait, &mut polled.answer).await {
            Ok(jobs) => jobs.unwrap_or_default(),
            Err(_) => polled.last_moment(),
        },
    }
}

/// A poll under way. Dropped early, it ends its demand and gives back what came in the same moment.
struct Polled {
    registry: Arc<DemandRegistry>,
    id: u64,
    answer: oneshot::Receiver<Vec<ActivatedJob>>,
}

impl Polled {
    fn last_moment(&mut self) -> Vec<ActivatedJob> {
        self.registry.unsubscribe(self.id);
        self.answer.close();
        self.answer.try_recv().unwrap_or_default()
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        let jobs = self.last_moment();
        self.registry.give_back(jobs.iter().map(|job| job.key));
    }
}

/// Opens a stream of jobs.
pub(crate) fn stream(registry: Arc<DemandRegistry>, request: JobRequest, buffer: usize) -> JobStream {
    let (sender, jobs) = mpsc::channel(buffer);
    let (id, queued) = registry.subscribe(request, Sink::Stream(sender));
    JobStream::new(Pushed { registry, id, jobs, queued })
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
        let taken = self.jobs.poll_recv(cx);
        if matches!(taken, Poll::Ready(Some(_))) && self.queued.load(Ordering::Acquire) {
            self.registry.wake();
        }
        taken
    }
}

impl Drop for Pushed {
    fn drop(&mut self) {
        self.registry.unsubscribe(self.id);
        self.jobs.close();
        let mut keys = Vec::new();
        while let Ok(job) = self.jobs.try_recv() {
            keys.push(job.key);
        }
        self.registry.give_back(keys);
    }
}
