//! The flusher: writes frozen state to disk on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use export::{Hub, SpillError};
use protocol::PartitionId;
use state::{Flush, Flushed, Retired, StateError};

use crate::metric_definitions::FlushMetrics;

enum FlusherTask {
    /// With the position of the last record of the state.
    Flush(Flush, u64),
    /// Values to drop, which takes time for a large overlay.
    Drop(Retired),
}

/// Results of the flusher.
pub(crate) type Outcome = Result<Flushed, FlushError>;

/// Why state could not be flushed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FlushError {
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Records(#[from] SpillError),
}

/// One flush is under way at a time, and what one has left behind.
const QUEUE: usize = 2;

/// The way to the flusher's thread. When this is dropped the thread has ended, and let go of the database.
pub(crate) struct Flusher {
    work: Option<SyncSender<FlusherTask>>,
    done: Receiver<Outcome>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.work = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the flusher's thread panicked");
        }
    }
}

impl Flusher {
    /// Starts the thread of a partition. `exports` must have the records of a state safe before it is on disk.
    pub fn start(partition: PartitionId, exports: Option<Arc<Hub>>) -> std::io::Result<Self> {
        let metrics = FlushMetrics::new(partition);
        let (work, orders) = sync_channel::<FlusherTask>(QUEUE);
        let (outcomes, done) = sync_channel(QUEUE);
        let thread = thread::Builder::new().name(format!("flusher-{partition}")).spawn(move || {
            for order in orders {
                match order {
                    FlusherTask::Drop(retired) => drop(retired),
                    FlusherTask::Flush(flush, position) => {
                        let began = Instant::now();
                        let safe = exports.as_ref().map_or(Ok(()), |exports| exports.make_durable(position));
                        let outcome = safe.map_err(FlushError::from).and_then(|()| Ok(flush.run()?));
                        if outcome.is_ok() {
                            metrics.flushed(began.elapsed());
                        }
                        if outcomes.send(outcome).is_err() {
                            return;
                        }
                    }
                }
            }
        })?;
        Ok(Self { work: Some(work), done, thread: Some(thread) })
    }

    /// Hands over a flush of state whose last record has this position. False if the thread has ended.
    pub fn begin(&self, flush: Flush, position: u64) -> bool {
        self.order(FlusherTask::Flush(flush, position))
    }

    /// Hands over what is to be dropped; without the thread it is dropped here.
    pub fn retire(&self, retired: Retired) {
        self.order(FlusherTask::Drop(retired));
    }

    fn order(&self, work: FlusherTask) -> bool {
        self.work.as_ref().is_some_and(|orders| orders.send(work).is_ok())
    }

    /// The outcome, if it is there.
    pub fn poll(&self) -> Option<Outcome> {
        self.done.try_recv().ok()
    }

    /// Waits for the outcome.
    pub fn wait(&self) -> Option<Outcome> {
        self.done.recv().ok()
    }
}
