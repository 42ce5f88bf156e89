//! When each request is meant to start.
//!
//! Open loop: request *i* is meant to start at *i* / rate, whatever became of those before it. Latency is counted
//! from then, so a server that stalls is charged for every request that it made wait (no coordinated omission). A
//! thread of its own keeps the beat: the runtime's timers tick in milliseconds, too coarse to measure a server that
//! answers in less.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Semaphore;

/// The beat is kept at most this exactly, so that a high rate does not become a busy loop.
const SLEEP_MIN: Duration = Duration::from_micros(100);

/// Hands out the times at which requests are meant to start.
#[derive(Clone)]
pub(crate) struct Pace {
    shared: Arc<PaceState>,
}

struct PaceState {
    begin: OnceLock<Instant>,
    /// Seconds between two starts; `None` is the closed loop.
    interval_seconds: Option<f64>,
    next: AtomicU64,
    count_max: u64,
    due: Semaphore,
    stopped: AtomicBool,
}

impl Pace {
    /// `rate` per second, or closed loop; at most `count_max` starts.
    pub(crate) fn new(rate: Option<f64>, count_max: Option<u64>) -> Self {
        let shared = PaceState {
            begin: OnceLock::new(),
            interval_seconds: rate.map(f64::recip),
            next: AtomicU64::new(0),
            count_max: count_max.unwrap_or(u64::MAX),
            due: Semaphore::new(0),
            stopped: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The first start is meant to be now. In the open loop a thread keeps the beat from here on until [`Self::stop`].
    pub(crate) fn start(&self) {
        let begin = *self.shared.begin.get_or_init(Instant::now);
        if let Some(interval) = self.shared.interval_seconds {
            let pace = self.clone();
            std::thread::spawn(move || pace.beat(begin, interval));
        }
    }

    fn beat(&self, begin: Instant, interval: f64) {
        let mut released = 0_u64;
        while !self.shared.stopped.load(Ordering::Relaxed) {
            let elapsed = begin.elapsed().as_secs_f64();
            let due = (elapsed / interval) as u64 + 1;
            if due > released {
                self.shared.due.add_permits((due - released) as usize);
                released = due;
            }
            let next = Duration::from_secs_f64(released as f64 * interval);
            std::thread::sleep(next.saturating_sub(begin.elapsed()).max(SLEEP_MIN));
        }
    }

    /// Waits for the next start and returns when it was meant to be; `None` when there are no more.
    pub(crate) async fn next(&self) -> Option<Instant> {
        if self.shared.interval_seconds.is_some() {
            self.shared.due.acquire().await.ok()?.forget();
        }
        let index = self.shared.next.fetch_add(1, Ordering::Relaxed);
        if self.shared.stopped.load(Ordering::Relaxed) || index >= self.shared.count_max {
            return None;
        }
        Some(match self.shared.interval_seconds {
            Some(interval) => *self.shared.begin.get()? + Duration::from_secs_f64(index as f64 * interval),
            None => Instant::now(),
        })
    }

    pub(crate) fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.shared.due.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn open_loop_counts_from_the_schedule() {
        let pace = Pace::new(Some(10_000.0), None);
        pace.start();
        let begin = *pace.shared.begin.get().unwrap();
        for index in 0..200_u32 {
            let intended = pace.next().await.unwrap();
            assert_eq!(intended, begin + Duration::from_secs_f64(f64::from(index) / 10_000.0));
            assert!(intended <= Instant::now());
        }
        pace.stop();
        assert_eq!(pace.next().await, None);
    }

    #[tokio::test]
    async fn closed_loop_ends_with_the_count() {
        let pace = Pace::new(None, Some(3));
        pace.start();
        for _ in 0..3 {
            assert!(pace.next().await.is_some());
        }
        assert_eq!(pace.next().await, None);
    }
}
