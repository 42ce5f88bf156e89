//! Activated jobs on their way to a worker.
//!
//! Both streams produce a message only when the transport asks for one, and it asks only while the worker reads: a
//! worker that stops reading stops the demand. Activated jobs that were not taken are given back, and so are those
//! that wait to be sent when the call ends.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;

use broker_api::{Broker, JobStream};
use futures::Stream;
use grpc as pb;
use metrics::{Counter, Gauge};
use prost::Message;
use protocol::ActivatedJob;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::{Code, Status};

use super::handed::{Handed, Lent, give_back};
use super::metrics::Call;
use super::{job, status};

/// Bytes of a job in a batch beyond its own: the tag of the field and its length.
const JOB_OVERHEAD_BYTES: usize = 8;

/// A batch of jobs, cut into messages that clients accept.
pub(super) struct JobBatches {
    jobs: vec::IntoIter<ActivatedJob>,
    /// Encoded, but too large for the message it was meant for.
    next: Option<pb::ActivatedJob>,
    message_bytes_max: usize,
    broker: Arc<dyn Broker>,
    handed: Arc<Handed>,
    call: Call,
}

impl JobBatches {
    pub(super) fn new(
        jobs: Vec<ActivatedJob>,
        broker: Arc<dyn Broker>,
        handed: Arc<Handed>,
        mut call: Call,
    ) -> Self {
        if jobs.is_empty() {
            call.ends(Code::Ok);
        }
        Self {
            jobs: jobs.into_iter(),
            next: None,
            message_bytes_max: broker.max_message_bytes(),
            broker,
            handed,
            call,
        }
    }
}

impl Stream for JobBatches {
    type Item = Result<pb::ActivateJobsResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let mut jobs = Vec::with_capacity(this.jobs.len() + usize::from(this.next.is_some()));
        let mut bytes = 0;
        while let Some(job) = this.next.take().or_else(|| this.jobs.next().map(job::message)) {
            bytes += job.encoded_len() + JOB_OVERHEAD_BYTES;
            if bytes > this.message_bytes_max && !jobs.is_empty() {
                this.next = Some(job);
                break;
            }
            jobs.push(job);
        }
        if jobs.is_empty() {
            return Poll::Ready(None);
        }
        if this.next.is_none() && this.jobs.len() == 0 {
            this.call.ends(Code::Ok);
        }
        this.handed.add(&this.broker, jobs.iter().map(lent));
        Poll::Ready(Some(Ok(pb::ActivateJobsResponse { jobs })))
    }
}

impl Drop for JobBatches {
    fn drop(&mut self) {
        let mut untaken: Vec<Lent> = self.next.iter().map(lent).collect();
        untaken.extend(self.jobs.as_slice().iter().map(Lent::from));
        give_back(&self.broker, &untaken);
    }
}

fn lent(job: &pb::ActivatedJob) -> Lent {
    Lent { key: job.key as u64, deadline_ms: job.deadline }
}

/// Jobs for one worker, until it or the server goes away.
pub(super) struct PushedJobs {
    jobs: JobStream,
    shutdown: Pin<Box<WaitForCancellationFutureOwned>>,
    ended: bool,
    open: Gauge,
    pushed: Counter,
    broker: Arc<dyn Broker>,
    handed: Arc<Handed>,
    call: Call,
}

impl PushedJobs {
    pub(super) fn new(
        jobs: JobStream,
        shutdown: WaitForCancellationFutureOwned,
        open: Gauge,
        pushed: Counter,
        broker: Arc<dyn Broker>,
        handed: Arc<Handed>,
        call: Call,
    ) -> Self {
        open.increment(1.0);
        Self { jobs, shutdown: Box::pin(shutdown), ended: false, open, pushed, broker, handed, call }
    }
}

impl Stream for PushedJobs {
    type Item = Result<pb::ActivatedJob, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let next = Pin::new(&mut self.jobs).poll_next(cx);
        let stops = match next {
            Poll::Ready(Some(job)) => {
                self.pushed.increment(1);
                self.handed.add(&self.broker, [Lent::from(&job)]);
                return Poll::Ready(Some(Ok(job::message(job))));
            }
            Poll::Ready(None) => true,
            Poll::Pending => self.shutdown.as_mut().poll(cx).is_ready(),
        };
        if !stops {
            return Poll::Pending;
        }
        // Never a plain end: clients do not come back after one.
        self.ended = true;
        self.call.ends(Code::Unavailable);
        Poll::Ready(Some(Err(status::stopping())))
    }
}

impl Drop for PushedJobs {
    fn drop(&mut self) {
        self.open.decrement(1.0);
    }
}
