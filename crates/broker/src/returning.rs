//! The pace at which a partition returns to the broker that is to lead it.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Time for which a broker must have been well before it gets its partitions back: one that fails again and again is
/// not to move leaders each time.
const WELL_FOR: Duration = Duration::from_secs(10);
/// First pause after a hand-over that failed, and the longest.
const PAUSE_MIN: Duration = Duration::from_secs(10);
const PAUSE_MAX: Duration = Duration::from_secs(300);

/// Progress of a partition on its way to the broker that is to lead it.
#[derive(Debug, Default)]
pub(crate) struct Returning(Mutex<ReturnState>);

#[derive(Debug, Default)]
struct ReturnState {
    /// Time since which this broker leads in the place of another, which is well.
    since: Option<Instant>,
    pause: Option<(Instant, Duration)>,
}

impl Returning {
    /// Notes whether a partition is led in the place of a broker that is well, and returns whether it is to be handed
    /// to it now.
    pub fn is_due(&self, is_displaced: bool) -> bool {
        let mut state = self.0.lock();
        if !is_displaced {
            state.since = None;
            return false;
        }
        let since = *state.since.get_or_insert_with(Instant::now);
        let is_paused = state.pause.is_some_and(|(until, _)| Instant::now() < until);
        since.elapsed() >= WELL_FOR && !is_paused
    }

    /// Notes whether the broker took over.
    pub fn handed_over(&self, is_taken: bool) {
        let mut state = self.0.lock();
        let pause = state.pause.map_or(PAUSE_MIN, |(_, pause)| (pause * 2).min(PAUSE_MAX));
        state.pause = (!is_taken).then(|| (Instant::now() + pause, pause));
        state.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_partition_returns_to_a_broker_that_has_been_well_for_some_time() {
        let returning = Returning::default();
        assert!(!returning.is_due(true), "it is back for a moment only");
        tokio::time::advance(WELL_FOR / 2).await;
        assert!(!returning.is_due(false) && !returning.is_due(true), "it went away again");
        tokio::time::advance(WELL_FOR).await;
        assert!(returning.is_due(true));
        returning.handed_over(true);
        assert!(!returning.is_due(true));
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_after_refusals_grow() {
        let returning = Returning::default();
        let mut pauses = Vec::new();
        for _ in 0..7 {
            let mut waited = Duration::ZERO;
            while !returning.is_due(true) {
                tokio::time::advance(Duration::from_secs(1)).await;
                waited += Duration::from_secs(1);
            }
            returning.handed_over(false);
            pauses.push(waited.as_secs());
        }
        assert_eq!(pauses, [10, 10, 20, 40, 80, 160, 300]);
    }
}
