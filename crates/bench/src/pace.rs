//! When each request is meant to start.
//!
//! Open loop: the schedule says when request *i* is meant to start, whatever became of those before it. Latency counts
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

use crate::schedule::Schedule;

/// The beat is kept at most this exactly, so that a high rate does not become a busy loop.
const SLEEP_MIN: Duration = Duration::from_micros(100);

/// A thread that is asleep notices a stop after so long.
const SLEEP_MAX: Duration = Duration::from_millis(100);
/// More than there are tasks that wait for a start.
const LANES_MAX: usize = 1 << 20;

/// Hands out the times at which requests are meant to start.
#[derive(Clone)]
pub(crate) struct Pace {
    shared: Arc<PaceState>,
}

struct PaceState {
    begin: OnceLock<Instant>,
    /// `None` is the closed loop.
    schedule: Option<Schedule>,
    next: AtomicU64,
    count_max: u64,
    due: Semaphore,
    stopped: AtomicBool,
}

impl Pace {
    /// By a schedule, or closed loop; at most `count_max` starts.
    pub(crate) fn new(schedule: Option<Schedule>, count_max: Option<u64>) -> Self {
        let shared = PaceState {
            begin: OnceLock::new(),
            schedule,
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
        if self.shared.schedule.is_some() {
            let pace = self.clone();
            std::thread::spawn(move || pace.beat(begin));
        }
    }

    fn beat(&self, begin: Instant) {
        let Some(schedule) = &self.shared.schedule else { return };
        let mut released = 0_u64;
        while !self.shared.stopped.load(Ordering::Relaxed) {
            let elapsed = begin.elapsed().as_secs_f64();
            let (mut due, mut next) = (released, schedule.start(released));
            while next.is_some_and(|next| next <= elapsed) {
                due += 1;
                next = schedule.start(due);
            }
            self.shared.due.add_permits((due - released) as usize);
            released = due;
            let Some(next) = next else {
                // All are on their way: who waits for more learns that there are none.
                self.shared.due.add_permits(LANES_MAX);
                return;
            };
            let next = Duration::from_secs_f64(next);
            std::thread::sleep(next.saturating_sub(begin.elapsed()).clamp(SLEEP_MIN, SLEEP_MAX));
        }
    }

    /// Waits for the next start and returns its number and when it was meant to be; `None` when there are no more.
    pub(crate) async fn next(&self) -> Option<(u64, Instant)> {
        if self.shared.schedule.is_some() {
            self.shared.due.acquire().await.ok()?.forget();
        }
        let index = self.shared.next.fetch_add(1, Ordering::Relaxed);
        if self.shared.stopped.load(Ordering::Relaxed) || index >= self.shared.count_max {
            return None;
        }
        let intended = match &self.shared.schedule {
            Some(schedule) => *self.shared.begin.get()? + Duration::from_secs_f64(schedule.start(index)?),
            None => Instant::now(),
        };
        Some((index, intended))
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
        let pace = Pace::new(Some(Schedule::steady(10_000.0)), None);
        pace.start();
        let begin = *pace.shared.begin.get().unwrap();
        for index in 0..200_u32 {
            let (number, intended) = pace.next().await.unwrap();
            assert_eq!(number, u64::from(index));
            assert_eq!(intended, begin + Duration::from_secs_f64(f64::from(index) / 10_000.0));
            assert!(intended <= Instant::now());
        }
        pace.stop();
        assert_eq!(pace.next().await, None);
    }

    #[tokio::test]
    async fn an_open_loop_ends_with_its_schedule() {
        let pace = Pace::new(Some(Schedule::parse("burst 3").unwrap()), None);
        pace.start();
        for number in 0..3 {
            assert_eq!(pace.next().await.unwrap().0, number);
        }
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
