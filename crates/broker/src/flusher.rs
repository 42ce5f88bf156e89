//! The flusher: writes frozen state to disk on a thread of its own.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use state::{Flush, Flushed, Retired, StateError};

enum Work {
    Flush(Flush),
    /// What is only there to be dropped, which takes time for a large overlay.
    Drop(Retired),
}

/// What the flusher sends back.
pub(crate) type Outcome = Result<Flushed, StateError>;

/// One flush is under way at a time, and what one has left behind.
const QUEUE: usize = 2;

/// The way to the flusher's thread. It ends when this is dropped.
pub(crate) struct Flusher {
    work: SyncSender<Work>,
    done: Receiver<Outcome>,
    _thread: JoinHandle<()>,
}

impl Flusher {
    /// Starts the thread.
    pub fn start() -> std::io::Result<Self> {
        let (work, orders) = sync_channel::<Work>(QUEUE);
        let (outcomes, done) = sync_channel(QUEUE);
        let thread = thread::Builder::new().name("flusher".to_owned()).spawn(move || {
            for order in orders {
                match order {
                    Work::Drop(retired) => drop(retired),
                    Work::Flush(flush) => {
                        if outcomes.send(flush.run()).is_err() {
                            return;
                        }
                    }
                }
            }
        })?;
        Ok(Self { work, done, _thread: thread })
    }

    /// Hands over a flush. False if the thread has ended.
    pub fn begin(&self, flush: Flush) -> bool {
        self.work.send(Work::Flush(flush)).is_ok()
    }

    /// Hands over what is to be dropped; without the thread it is dropped here.
    pub fn retire(&self, retired: Retired) {
        let _ = self.work.send(Work::Drop(retired));
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
