//! The clocks of the brokers of a cluster: one that is ahead of the others' must not set the time of the log, since the
//! time of the log never goes back.
//!
//! Each broker asks the others for their time again and again. The middle one of all clocks, this one's included, is
//! the reference; of two clocks it is the one that is behind. Entries get times of at most [`LIMIT_MS`] after it, also
//! right after a jump, as the reference goes on with the monotonic clock. A broker whose clock is further ahead than
//! that stands for no election, and hands over if it leads.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Milliseconds by which the clock of a leader may be ahead of the reference.
pub const LIMIT_MS: i64 = 1_000;
/// Milliseconds by which a clock that was too far ahead may be ahead when it leads again.
const FINE_MS: i64 = LIMIT_MS / 2;
/// Longest round trip of an answer that tells the time.
const ANSWER_TIME_MAX: Duration = Duration::from_millis(500);

/// The clock of another broker, compared with this one's.
#[derive(Debug, Clone, Copy)]
pub struct ClockSample {
    /// Milliseconds by which the other clock is ahead.
    offset_ms: i64,
}

impl ClockSample {
    /// Of an answer that arrived at `own_ms`; `None` if it took too long to tell.
    pub fn new(theirs_ms: i64, own_ms: i64, answer_time: Duration) -> Option<Self> {
        let on_the_way_ms = answer_time.as_millis() as i64 / 2;
        let offset_ms = theirs_ms.saturating_add(on_the_way_ms).saturating_sub(own_ms);
        (answer_time <= ANSWER_TIME_MAX).then_some(Self { offset_ms })
    }
}

/// The reference of this broker's clock.
#[derive(Debug, Default)]
pub struct ClusterClock {
    /// Time of the reference, and when that was.
    reference: Mutex<Option<(i64, Instant)>>,
    ahead_ms: AtomicI64,
    is_ahead: AtomicBool,
}

impl ClusterClock {
    /// Compares the clocks of other brokers with this one's, which shows `own_ms` now. Returns whether this one is too
    /// far ahead, if that has changed.
    pub fn compare(&self, own_ms: i64, samples: &[ClockSample]) -> Option<bool> {
        if samples.is_empty() {
            return None;
        }
        let mut offsets: Vec<i64> = samples.iter().map(|sample| sample.offset_ms).chain([0]).collect();
        offsets.sort_unstable();
        let middle = offsets[(offsets.len() - 1) / 2];
        *self.reference.lock() = Some((own_ms.saturating_add(middle), Instant::now()));
        let ahead_ms = middle.saturating_neg();
        self.ahead_ms.store(ahead_ms, Ordering::Relaxed);
        let was_ahead = self.is_ahead.load(Ordering::Acquire);
        let is_ahead = ahead_ms > if was_ahead { FINE_MS } else { LIMIT_MS };
        self.is_ahead.store(is_ahead, Ordering::Release);
        (is_ahead != was_ahead).then_some(is_ahead)
    }

    /// The latest time that an entry may have now; `None` before clocks were compared.
    pub fn latest_ms(&self) -> Option<i64> {
        let (reference_ms, since) = (*self.reference.lock())?;
        let elapsed_ms = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
        Some(reference_ms.saturating_add(elapsed_ms).saturating_add(LIMIT_MS))
    }

    /// Whether the clock of this broker is too far ahead for a leader.
    pub fn is_ahead(&self) -> bool {
        self.is_ahead.load(Ordering::Acquire)
    }

    /// Milliseconds by which the clock was ahead of the reference when they were last compared.
    pub fn ahead_ms(&self) -> i64 {
        self.ahead_ms.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    fn samples(offsets_ms: &[i64]) -> Vec<ClockSample> {
        offsets_ms.iter().map(|&offset_ms| ClockSample { offset_ms }).collect()
    }

    #[test]
    fn the_middle_clock_is_the_reference() {
        for (others, ahead_ms) in [
            (vec![0, 0], 0),
            (vec![-HOUR_MS, -HOUR_MS], HOUR_MS),
            // One of the others is wrong.
            (vec![HOUR_MS, 0], 0),
            (vec![-HOUR_MS, 0], 0),
            (vec![-HOUR_MS, HOUR_MS], 0),
            // Of two, that which is ahead does not lead.
            (vec![-HOUR_MS], HOUR_MS),
            (vec![HOUR_MS], 0),
            (vec![-5, -5, -7, 10], 5),
        ] {
            let clock = ClusterClock::default();
            assert!(clock.latest_ms().is_none());
            clock.compare(HOUR_MS, &samples(&others));
            assert_eq!(clock.ahead_ms(), ahead_ms, "{others:?}");
            let latest = clock.latest_ms().unwrap() - (HOUR_MS - ahead_ms + LIMIT_MS);
            assert!((0..1_000).contains(&latest), "{others:?}: {latest} ms more");
        }
    }

    #[test]
    fn a_clock_at_the_limit_does_not_change_its_mind_all_the_time() {
        let clock = ClusterClock::default();
        let seen =
            [-900, -1_001, -999, -501, -500, -999].map(|other| clock.compare(0, &samples(&[other, other])));
        assert_eq!(seen, [None, Some(true), None, None, Some(false), None]);
        assert_eq!(clock.compare(0, &[]), None);
    }

    #[test]
    fn an_answer_that_took_long_tells_no_time() {
        let after = |millis| ClockSample::new(1_000, 1_100, Duration::from_millis(millis));
        assert_eq!(after(200).unwrap().offset_ms, 0);
        assert!(after(501).is_none());
    }
}
