//! When each request is meant to start.
//!
//! Open loop: request *i* is meant to start at *i* / rate, whatever became of those before it. Latency is counted from then, so a
//! server that stalls is charged for every request that it made wait (no coordinated omission). A thread of its own keeps the
//! beat: the runtime's timers tick in milliseconds, too coarse to measure a server that answers in less.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use tokio::sync::Semaphore;

/// The beat is kept at most this exactly, so that a high rate does not become a busy loop.
const SLEEP_MIN: Duration = Duration::from_micros(100);

/// Hands out the times at which requests are meant to start.
#[derive(Clone)]
pub(crate) struct Pace {
    shared: Arc<Shared>,
}

struct Shared {
    begin: Instant,
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
        let shared = Shared {
            begin: Instant::now(),
            interval_seconds: rate.map(f64::recip),
            next: AtomicU64::new(0),
            count_max: count_max.unwrap_or(u64::MAX),
            due: Semaphore::new(0),
            stopped: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Starts the thread that keeps the beat; it ends with [`Self::stop`]. The closed loop needs none.
    pub(crate) fn start(&self) -> Option<JoinHandle<()>> {
        let interval = self.shared.interval_seconds?;
        let pace = self.clone();
        Some(std::thread::spawn(move || pace.beat(interval)))
    }

    fn beat(&self, interval: f64) {
        let mut released = 0_u64;
        while !self.shared.stopped.load(Ordering::Relaxed) {
            let elapsed = self.shared.begin.elapsed().as_secs_f64();
            let due = (elapsed / interval) as u64 + 1;
            if due > released {
                self.shared.due.add_permits((due - released) as usize);
                released = due;
            }
            let next = Duration::from_secs_f64(released as f64 * interval);
            std::thread::sleep(next.saturating_sub(self.shared.begin.elapsed()).max(SLEEP_MIN));
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
            Some(interval) => self.shared.begin + Duration::from_secs_f64(index as f64 * interval),
            None => Instant::now(),
        })
    }

    /// No more starts.
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
        let thread = pace.start().unwrap();
        for index in 0..200_u32 {
            let intended = pace.next().await.unwrap();
            assert_eq!(intended, pace.shared.begin + Duration::from_secs_f64(f64::from(index) / 10_000.0));
            assert!(intended <= Instant::now());
        }
        pace.stop();
        thread.join().unwrap();
        assert_eq!(pace.next().await, None);
    }

    #[tokio::test]
    async fn closed_loop_ends_with_the_count() {
        let pace = Pace::new(None, Some(3));
        assert!(pace.start().is_none());
        for _ in 0..3 {
            assert!(pace.next().await.is_some());
        }
        assert_eq!(pace.next().await, None);
    }
}
