//! The silence of a leader that no majority answers.
//!
//! Followers that hear a leader elect no other one, even if it does not hear them, as while a network works in one
//! direction only: then nothing is committed. So such a leader is silent for a while, and another one can be elected.
//! It speaks again after that, since it may be the only one with the whole log.

use std::time::Duration;

use openraft::{Raft, ServerState};
use tokio::time::Instant;

use crate::types::TypeConfig;

/// After so many leases without an answer a leader is silent.
const PATIENCE_LEASES: u32 = 4;
/// It is silent for so many, and speaks for as many. An election takes two, and may fail once.
const TURN_LEASES: u32 = 3;

/// Time after which every voter has forgotten the lease of a silent leader.
pub(crate) fn lease(raft: &Raft<TypeConfig>) -> Duration {
    Duration::from_millis(raft.config().election_timeout_max + raft.config().heartbeat_interval)
}

/// Time since a majority has last answered a leader, if `raft` is one.
pub(crate) fn unanswered(raft: &Raft<TypeConfig>) -> Option<Duration> {
    let metrics = raft.metrics();
    let now = metrics.borrow();
    (now.state == ServerState::Leader)
        .then(|| Duration::from_millis(now.millis_since_quorum_ack.unwrap_or(0)))
}

/// Turns of silence and speech.
#[derive(Debug)]
pub(crate) struct Silence {
    lease: Duration,
    since: Option<Instant>,
}

impl Silence {
    pub fn new(lease: Duration) -> Self {
        Self { lease, since: None }
    }

    /// Whether to be silent now.
    pub fn is_due(&mut self, unanswered: Option<Duration>, now: Instant) -> bool {
        if unanswered.is_none_or(|unanswered| unanswered < self.lease * PATIENCE_LEASES) {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let turn = (self.lease * TURN_LEASES).as_nanos().max(1);
        ((now - since).as_nanos() / turn).is_multiple_of(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leader_without_answers_is_silent_in_turns() {
        const LEASE: Duration = Duration::from_millis(100);
        let mut silence = Silence::new(LEASE);
        let began = Instant::now();
        let mut at = |leases: u32, unanswered| silence.is_due(unanswered, began + LEASE * leases);
        let (short, long) = (Some(LEASE), Some(LEASE * PATIENCE_LEASES));
        assert!(!at(0, None) && !at(1, short));
        let turns = [10, 12, 13, 15, 16, 18].map(|leases| at(leases, long));
        assert_eq!(turns, [true, true, false, false, true, true]);
        assert!(!at(18, short), "it was answered");
        assert!(at(19, long));
        assert!(!at(20, None), "another one leads");
    }
}
