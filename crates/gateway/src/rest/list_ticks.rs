//! The moments at which changes of lists are told to all readers that wait: they ask the same then, and share answers.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Interval at which changes of lists are announced at most: of instances, sooner.
const PERIOD: Duration = Duration::from_secs(2);
/// Time after an announcement within which a reader still gets it.
const OPEN: Duration = Duration::from_millis(500);

/// Last announcement of changes of lists.
#[derive(Debug, Default)]
pub(super) struct ListTicks(Mutex<Option<Tick>>);

#[derive(Debug)]
struct Tick {
    at: Instant,
    /// The place in the changes up to which it told.
    place: u64,
}

impl ListTicks {
    /// Whether a reader that knows the changes up to a place is told of those up to another one; else the time until it
    /// is. After a quiet time that is at once, for all.
    pub(super) fn tell(&self, known: u64, place: u64) -> Result<(), Duration> {
        let now = Instant::now();
        let mut last = self.0.lock();
        if let Some(tick) = &*last {
            let since = now - tick.at;
            if since < OPEN && known < tick.place {
                return Ok(());
            }
            let left = PERIOD.saturating_sub(since);
            if !left.is_zero() {
                return Err(left);
            }
        }
        *last = Some(Tick { at: now, place });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn all_readers_are_told_at_once_and_none_twice() {
        let ticks = ListTicks::default();
        assert_eq!(ticks.tell(1, 2), Ok(()), "after a quiet time");
        tokio::time::advance(Duration::from_millis(400)).await;
        assert_eq!(ticks.tell(0, 3), Ok(()), "a reader that came late");
        assert_eq!(ticks.tell(2, 3), Err(Duration::from_millis(1600)), "one that was told");
        tokio::time::advance(Duration::from_millis(600)).await;
        assert_eq!(ticks.tell(0, 3), Err(Duration::from_secs(1)), "one that came too late");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(ticks.tell(2, 3), Ok(()));
        assert_eq!(ticks.tell(2, 4), Ok(()));
        assert_eq!(ticks.tell(3, 4), Err(PERIOD));
    }
}
