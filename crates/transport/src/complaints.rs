//! Reasons that are told once in a while, however often a stranger causes them.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Time after which the same reason is told again.
const AGAIN: Duration = Duration::from_secs(60);
/// Reasons told within that time at most.
const REASONS_MAX: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Complaints(Mutex<HashMap<String, Instant>>);

impl Complaints {
    /// Whether a reason is to be told now.
    pub fn admit(&self, reason: &str) -> bool {
        self.admit_at(reason, Instant::now())
    }

    fn admit_at(&self, reason: &str, now: Instant) -> bool {
        let mut told = self.0.lock();
        told.retain(|_, since| now.saturating_duration_since(*since) < AGAIN);
        if told.len() >= REASONS_MAX || told.contains_key(reason) {
            return false;
        }
        told.insert(reason.to_owned(), now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_once_and_not_without_end() {
        let complaints = Complaints::default();
        let told = (0..1000).filter(|number| complaints.admit(&format!("reason {}", number / 2))).count();
        assert_eq!(told, REASONS_MAX);
        assert!(!complaints.admit("reason 0"));
    }

    #[test]
    fn a_reason_is_told_again_after_a_time() {
        let (complaints, now) = (Complaints::default(), Instant::now());
        assert!(complaints.admit_at("reason", now));
        assert!(!complaints.admit_at("reason", now + AGAIN / 2));
        assert!(complaints.admit_at("reason", now + AGAIN));
    }
}
