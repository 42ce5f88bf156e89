//! Requests that wait for an answer.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Instant;

use broker_api::{Answer, SubmitError};
use engine::Outcome;
use protocol::Command;
use tokio::sync::oneshot;

use crate::flow_control::Permit;
use crate::numbers::Numbers;

/// The answer to all requests once the broker stops.
pub(crate) fn stopping() -> SubmitError {
    SubmitError::Unavailable("Expected to handle the command, but the broker is stopping".to_owned())
}

/// The answer to all requests while processing is paused.
pub(crate) fn paused() -> SubmitError {
    SubmitError::Unavailable(
        "Expected to handle the command, but processing is paused on partition 1".to_owned(),
    )
}

/// A command on its way into the log.
pub(crate) struct PendingRequest {
    pub command: Command,
    pub waiter: Waiter,
    /// Whether it is the broker's own, which runs while processing is paused, too.
    pub is_own: bool,
}

/// Requests that wait for the answer to a command.
pub(crate) struct Waiter {
    pub reply: oneshot::Sender<Result<Answer, SubmitError>>,
    pub arrived: Instant,
    /// Held until the answer is there.
    pub permit: Permit,
}

impl Waiter {
    /// Gives the place back and answers, in this order: who has the answer may ask again at once.
    pub fn answer(self, answer: Result<Answer, SubmitError>) {
        drop(self.permit);
        // A cancelled request does not need it.
        let _ = self.reply.send(answer);
    }
}

/// Requests that wait for the end of a process instance.
pub(crate) struct LateAnswers {
    numbers: Numbers,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Outcome>>>,
}

impl LateAnswers {
    pub fn new(numbers: Numbers) -> Self {
        Self { numbers, waiting: Mutex::default() }
    }

    /// A new number, and where its answer will come.
    pub fn register(&self) -> (u64, oneshot::Receiver<Outcome>) {
        let (sender, receiver) = oneshot::channel();
        let number = self.numbers.next();
        self.waiting.lock().insert(number, sender);
        (number, receiver)
    }

    /// Nobody waits any more.
    pub fn forget(&self, number: u64) {
        self.waiting.lock().remove(&number);
    }

    /// The answer, for whoever still waits.
    pub fn answer(&self, number: u64, outcome: Outcome) {
        let waiter = self.waiting.lock().remove(&number);
        if let Some(waiter) = waiter {
            // A request that has just been cancelled does not need it.
            let _ = waiter.send(outcome);
        }
    }
}
