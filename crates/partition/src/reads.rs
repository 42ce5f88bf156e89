//! Queries: answered from the engine's state between two batches, on a thread of their own.
//!
//! Batches and reads take turns at the engine. A read holds it for one look at a few rows or one slice of a scan, and
//! then hands it to whoever waits, so applying is held up by one slice at the most, however many reads there are.
//! Scans go round by round, and what needs one look only goes before them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use broker_api::SubmitError;
use engine::{Engine, Read, ReadError, Scan};
use parking_lot::{Mutex, MutexGuard};
use protocol::{PartitionId, Query, QueryReply};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::answers::stopping;

/// Queries that wait; further ones are refused.
const QUEUE: usize = 1024;
/// Scans that are under way at once; while there are so many, no further query is begun.
const SCANS_MAX: usize = 16;
/// Time-out of a query.
const TIMEOUT: Duration = Duration::from_secs(10);

type Outcome = Result<QueryReply, SubmitError>;

struct ReadRequest {
    query: Query,
    reply: oneshot::Sender<Outcome>,
}

/// The way to the thread that reads. When this is stopped or dropped the thread has ended, and let go of the engine.
pub(crate) struct Reads {
    running: Mutex<Option<Running>>,
}

struct Running {
    requests: mpsc::Sender<ReadRequest>,
    thread: JoinHandle<()>,
}

impl Drop for Reads {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Reads {
    pub fn start(partition: PartitionId, engine: Arc<Mutex<Engine>>) -> std::io::Result<Self> {
        let (requests, queue) = mpsc::channel(QUEUE);
        let reader = Reader { engine, queue, scans: VecDeque::new() };
        let thread = thread::Builder::new().name(format!("reads-{partition}")).spawn(move || reader.run())?;
        Ok(Self { running: Mutex::new(Some(Running { requests, thread })) })
    }

    /// Ends the thread after the query at work.
    pub fn stop(&self) {
        let Some(Running { requests, thread }) = self.running.lock().take() else { return };
        drop(requests);
        if thread.join().is_err() {
            tracing::error!("the thread that answers queries panicked");
        }
    }

    pub async fn read(&self, query: Query) -> Outcome {
        let (reply, answer) = oneshot::channel();
        let requests = self.running.lock().as_ref().map(|running| running.requests.clone());
        let sent = requests.ok_or_else(stopping)?.try_send(ReadRequest { query, reply });
        sent.map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SubmitError::ResourceExhausted(format!(
                "Expected to answer the query, but {QUEUE} others are waiting already"
            )),
            mpsc::error::TrySendError::Closed(_) => stopping(),
        })?;
        match timeout(TIMEOUT, answer).await {
            Ok(outcome) => outcome.unwrap_or_else(|_| Err(stopping())),
            Err(_) => Err(SubmitError::Timeout(format!(
                "Expected to answer the query within {} s, but there is too much to look at",
                TIMEOUT.as_secs()
            ))),
        }
    }
}

struct Reader {
    engine: Arc<Mutex<Engine>>,
    queue: mpsc::Receiver<ReadRequest>,
    scans: VecDeque<(Box<dyn Scan>, oneshot::Sender<Outcome>)>,
}

impl Reader {
    fn run(mut self) {
        loop {
            let request = if self.scans.is_empty() {
                // Nothing else to do; the end of the broker ends the wait.
                let Some(request) = self.queue.blocking_recv() else { return };
                Some(request)
            } else if self.queue.is_closed() {
                return;
            } else if self.scans.len() < SCANS_MAX {
                self.queue.try_recv().ok()
            } else {
                None
            };
            if let Some(ReadRequest { query, reply }) = request {
                self.answer(reply, |engine| engine.read(&query));
            } else if let Some((scan, reply)) = self.scans.pop_front() {
                self.answer(reply, |engine| engine.read_on(scan));
            }
        }
    }

    /// One turn at the engine.
    fn answer(
        &mut self,
        reply: oneshot::Sender<Outcome>,
        read: impl FnOnce(&mut Engine) -> Result<Read, ReadError>,
    ) {
        // Its client no longer waits.
        if reply.is_closed() {
            return;
        }
        let mut engine = self.engine.lock();
        let result = catch_unwind(AssertUnwindSafe(|| read(&mut engine)));
        MutexGuard::unlock_fair(engine);
        let outcome = match result {
            Ok(Ok(Read::More(scan))) => return self.scans.push_back((scan, reply)),
            Ok(Ok(Read::Done(answer))) => Ok(answer),
            Ok(Err(ReadError::Rejected(rejection))) => Err(rejection.into()),
            Ok(Err(ReadError::State(error))) => Err(SubmitError::Internal(error.to_string())),
            Err(_) => Err(SubmitError::Internal("the query failed".to_owned())),
        };
        if let Err(SubmitError::Internal(reason)) = &outcome {
            tracing::error!(reason, "a query could not be answered");
        }
        // A request that has just been cancelled does not need it.
        let _ = reply.send(outcome);
    }
}
