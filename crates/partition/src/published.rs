//! The memory of the figures of a partition from one time that they are published to the next.

use std::time::Instant;

use parking_lot::Mutex;

use crate::metric_definitions::PublishedSeries;

/// Figures of the last publication, for rates.
#[derive(Default)]
pub(crate) struct Published {
    pub series: PublishedSeries,
    /// When it was, and the position of the last record then.
    written: Mutex<Option<(Instant, u64)>>,
}

impl Published {
    /// Records a second since the last time.
    pub fn rate(&self, now: Instant, position: u64) -> f64 {
        let before = self.written.lock().replace((now, position));
        let Some((since, from)) = before else { return 0.0 };
        position.saturating_sub(from) as f64 / now.duration_since(since).as_secs_f64().max(0.001)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn records_a_second_are_those_since_the_last_time() {
        let (published, began) = (Published::default(), Instant::now());
        assert!(published.rate(began, 1000) < 1.0, "nobody knows when they were written");
        assert!((published.rate(began + Duration::from_secs(2), 1500) - 250.0).abs() < 1e-9);
        assert!(published.rate(began + Duration::from_secs(3), 1500) < 1e-9);
    }
}
