//! Requests that wait for an answer.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use broker_api::{Answer, SubmitError};
use engine::Outcome;
use protocol::{Command, PartitionId};
use tokio::sync::oneshot;

use crate::flow_control::Permit;
use crate::numbers::Numbers;

/// The answer to all requests once the broker stops, but for those that an entry has.
pub(crate) fn stopping() -> SubmitError {
    SubmitError::Unavailable("Expected to handle the command, but the broker is stopping".to_owned())
}

/// The answer to requests that an entry has when the broker stops.
pub(crate) fn stopped_meanwhile() -> SubmitError {
    SubmitError::Timeout(
        "Expected to handle the command, but the broker is stopping; it may have happened".to_owned(),
    )
}

/// The answer to requests that no leader was found for in time.
pub(crate) fn no_leader(partition: PartitionId) -> SubmitError {
    SubmitError::Unavailable(format!(
        "Expected to handle the command on partition {partition}, but it has no leader; nothing has happened"
    ))
}

/// The answer to requests that the leader has not answered in time.
pub(crate) fn no_answer(partition: PartitionId) -> SubmitError {
    SubmitError::Timeout(format!(
        "Expected to handle the command on partition {partition}, but its leader did not answer; it may have happened"
    ))
}

/// The answer to all requests while processing is paused.
pub(crate) fn paused(partition: PartitionId) -> SubmitError {
    SubmitError::Unavailable(format!(
        "Expected to handle the command, but processing is paused on partition {partition}"
    ))
}

/// A command on its way into the log.
pub(crate) struct PendingRequest {
    pub command: Command,
    pub waiter: Waiter,
    /// Whether it is the broker's own, which runs while processing is paused, too.
    pub is_own: bool,
    pub claim: Arc<Claim>,
}

/// Where a request is: whoever asked may give it up until an entry has it.
#[derive(Debug, Default)]
pub(crate) struct Claim(AtomicU8);

const WAITS: u8 = 0;
const TAKEN: u8 = 1;
const GIVEN_UP: u8 = 2;

impl Claim {
    fn go_to(&self, next: u8) -> bool {
        self.0.compare_exchange(WAITS, next, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Marks the request as taken by an entry; false if its client has given it up.
    pub fn take(&self) -> bool {
        self.go_to(TAKEN)
    }

    /// Gives the request up, since its client no longer waits; false if an entry has taken it.
    pub fn give_up(&self) -> bool {
        self.go_to(GIVEN_UP)
    }
}

/// Requests that wait for the answer to a command.
pub(crate) struct Waiter {
    pub reply: oneshot::Sender<Result<Answer, SubmitError>>,
    pub arrived: Instant,
    /// Time-out of waiting for a leader. A broker that is alone has none to wait for.
    pub deadline: Option<Instant>,
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

    /// Registers a request and returns its number, with the receiver of its answer.
    pub fn register(&self) -> (u64, oneshot::Receiver<Outcome>) {
        let (sender, receiver) = oneshot::channel();
        let number = self.numbers.next();
        self.waiting.lock().insert(number, sender);
        (number, receiver)
    }

    /// Forgets a request whose client no longer waits.
    pub fn forget(&self, number: u64) {
        self.waiting.lock().remove(&number);
    }

    /// Sends the answer to the client, if it still waits.
    pub fn answer(&self, number: u64, outcome: Outcome) {
        let waiter = self.waiting.lock().remove(&number);
        if let Some(waiter) = waiter {
            // A request that has just been cancelled does not need it.
            let _ = waiter.send(outcome);
        }
    }
}
