//! Flow control: how many commands of clients a partition takes on at once.
//!
//! New work (creations, messages, deployments) is admitted up to an adaptive limit. What ends work already begun
//! (completing and failing jobs and the like) is admitted well beyond it, so that it is never refused before creations
//! are. What finds no place waits, bounded in time and number, or is refused.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::api::SubmitError;

/// How much more of the work that is already begun is admitted than of new work.
const BEGUN_FACTOR: usize = 4;

/// What to do with commands that find no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// They wait.
    Wait,
    /// They are refused.
    Reject,
}

/// How the limit follows the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Algorithm {
    /// Additive increase, multiplicative decrease on latency.
    Aimd {
        /// Latency above which the limit shrinks.
        request_timeout: Duration,
        /// What it is multiplied by then.
        backoff_ratio: f64,
    },
    /// Always the initial limit.
    Fixed,
    /// By the estimated queue: grows below alpha, shrinks above beta.
    Vegas {
        /// Queue below which the limit grows.
        alpha: usize,
        /// Queue above which it shrinks.
        beta: usize,
    },
    /// By the ratio of the best latency to the present one.
    Gradient {
        /// Ratio that is tolerated.
        rtt_tolerance: f64,
    },
}

/// Options of flow control.
#[derive(Debug, Clone)]
pub struct FlowControlOptions {
    /// How the limit follows the load.
    pub algorithm: Algorithm,
    /// Limit at start.
    pub initial_limit: usize,
    /// The limit never falls below.
    pub min_limit: usize,
    /// The limit never grows above.
    pub max_limit: usize,
    /// What to do with commands that find no place.
    pub overflow: Overflow,
    /// How long a command waits for a place.
    pub max_wait: Duration,
    /// How many commands wait for a place.
    pub max_waiting: usize,
}

impl Default for FlowControlOptions {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Aimd { request_timeout: Duration::from_millis(200), backoff_ratio: 0.9 },
            initial_limit: 100,
            min_limit: 1,
            max_limit: 1000,
            overflow: Overflow::Wait,
            max_wait: Duration::from_secs(10),
            max_waiting: 10_000,
        }
    }
}

/// Whether a command begins work or goes on with work begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    New,
    Begun,
}

/// The state of flow control, to look at.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowControlStatus {
    /// Commands admitted at once.
    pub limit: usize,
    /// Commands admitted now.
    pub in_flight: usize,
    /// Commands that wait for a place.
    pub waiting: usize,
    /// Commands ever refused.
    pub rejected: u64,
}

/// Flow control of one partition.
pub struct FlowControl {
    options: FlowControlOptions,
    limit: AtomicUsize,
    in_flight: AtomicUsize,
    waiting: AtomicUsize,
    rejected: AtomicU64,
    freed: Notify,
    window: Mutex<Window>,
}

/// Latencies since the limit was last looked at.
struct Window {
    since: Instant,
    samples: u32,
    sum: Duration,
    peak_in_flight: usize,
    best: Option<Duration>,
    limit: f64,
}

/// The limit is looked at after this time, or
const WINDOW: Duration = Duration::from_millis(100);
/// after this many answers.
const WINDOW_SAMPLES: u32 = 1000;

/// A place; given back when dropped.
pub(crate) struct Permit {
    control: Arc<FlowControl>,
    admitted: Instant,
}

impl FlowControl {
    /// Flow control with these options.
    pub fn new(options: FlowControlOptions) -> Arc<Self> {
        let limit = options.initial_limit;
        Arc::new(Self {
            options,
            limit: AtomicUsize::new(limit),
            in_flight: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            rejected: AtomicU64::new(0),
            freed: Notify::new(),
            window: Mutex::new(Window {
                since: Instant::now(),
                samples: 0,
                sum: Duration::ZERO,
                peak_in_flight: 0,
                best: None,
                limit: limit as f64,
            }),
        })
    }

    fn try_admit(self: &Arc<Self>, class: Class) -> Option<Permit> {
        let limit = self.limit.load(Ordering::Relaxed);
        let limit = if class == Class::New { limit } else { limit.saturating_mul(BEGUN_FACTOR) };
        self.in_flight
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| (now < limit).then_some(now + 1))
            .ok()
            .map(|_| Permit { control: Arc::clone(self), admitted: Instant::now() })
    }

    /// Takes a place, or waits for one as the options say.
    pub(crate) async fn admit(self: &Arc<Self>, class: Class) -> Result<Permit, SubmitError> {
        if let Some(permit) = self.try_admit(class) {
            return Ok(permit);
        }
        if self.options.overflow == Overflow::Reject {
            return Err(self.refuse("are in flight"));
        }
        let waiting = self.waiting.fetch_add(1, Ordering::AcqRel);
        let _leave = Leave(&self.waiting);
        if waiting >= self.options.max_waiting {
            return Err(self.refuse("are in flight, and the queue of waiting commands is full"));
        }
        let wait = async {
            loop {
                let freed = self.freed.notified();
                if let Some(permit) = self.try_admit(class) {
                    return permit;
                }
                freed.await;
            }
        };
        match tokio::time::timeout(self.options.max_wait, wait).await {
            Ok(permit) => Ok(permit),
            Err(_) => Err(self.refuse("are in flight, and none ended in time")),
        }
    }

    fn refuse(&self, why: &str) -> SubmitError {
        self.rejected.fetch_add(1, Ordering::Relaxed);
        let limit = self.limit.load(Ordering::Relaxed);
        SubmitError::ResourceExhausted(format!(
            "Expected to handle the command on partition 1, but the flow control limit is reached: {limit} commands {why}. Try again later."
        ))
    }

    fn release(&self, latency: Duration) {
        let in_flight = self.in_flight.fetch_sub(1, Ordering::AcqRel);
        if self.waiting.load(Ordering::Acquire) > 0 {
            self.freed.notify_one();
        }
        if self.options.algorithm == Algorithm::Fixed {
            return;
        }
        // One answer that cannot have a look now is not missed.
        let Ok(mut window) = self.window.try_lock() else { return };
        window.samples += 1;
        window.sum += latency;
        window.peak_in_flight = window.peak_in_flight.max(in_flight);
        if window.samples >= WINDOW_SAMPLES || window.since.elapsed() >= WINDOW {
            self.adapt(&mut window);
        }
    }

    fn adapt(&self, window: &mut Window) {
        let average = window.sum / window.samples;
        let best = window.best.map_or(average, |best| best.min(average));
        // The best latency is forgotten slowly, so that it follows a change of the disk.
        window.best = Some(best + best / 256);
        let limit = window.limit;
        // A limit that is not used says nothing about a higher one.
        let used = window.peak_in_flight as f64 >= limit * 0.8;
        let new = match self.options.algorithm {
            Algorithm::Fixed => limit,
            Algorithm::Aimd { request_timeout, backoff_ratio } => {
                if average > request_timeout {
                    limit * backoff_ratio
                } else if used {
                    limit + 10.0
                } else {
                    limit
                }
            }
            Algorithm::Vegas { alpha, beta } => {
                let queue = limit * (1.0 - best.as_secs_f64() / average.as_secs_f64().max(1e-9));
                if queue > beta as f64 {
                    limit - 1.0
                } else if queue < alpha as f64 && used {
                    limit + 1.0
                } else {
                    limit
                }
            }
            Algorithm::Gradient { rtt_tolerance } => {
                let ratio = best.as_secs_f64() * rtt_tolerance / average.as_secs_f64().max(1e-9);
                let target = limit * ratio.clamp(0.5, 1.0) + limit.sqrt();
                if target < limit || used { limit * 0.8 + target * 0.2 } else { limit }
            }
        };
        window.limit = new.clamp(self.options.min_limit as f64, self.options.max_limit as f64);
        self.limit.store(window.limit as usize, Ordering::Relaxed);
        window.since = Instant::now();
        window.samples = 0;
        window.sum = Duration::ZERO;
        window.peak_in_flight = 0;
    }

    /// The limit and how it is used.
    pub fn status(&self) -> FlowControlStatus {
        FlowControlStatus {
            limit: self.limit.load(Ordering::Relaxed),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
            rejected: self.rejected.load(Ordering::Relaxed),
        }
    }

    /// Sets the limit; an adaptive one goes on from there.
    pub fn set_limit(&self, limit: usize) {
        let limit = limit.clamp(self.options.min_limit, self.options.max_limit);
        self.window.lock().unwrap_or_else(PoisonError::into_inner).limit = limit as f64;
        self.limit.store(limit, Ordering::Relaxed);
        self.freed.notify_waiters();
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.control.release(self.admitted.elapsed());
    }
}

struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(limit: usize, overflow: Overflow) -> Arc<FlowControl> {
        FlowControl::new(FlowControlOptions {
            algorithm: Algorithm::Fixed,
            initial_limit: limit,
            overflow,
            max_wait: Duration::from_millis(20),
            ..FlowControlOptions::default()
        })
    }

    #[tokio::test]
    async fn new_work_is_refused_before_work_begun() {
        let control = fixed(1, Overflow::Reject);
        let _first = control.admit(Class::New).await.unwrap();
        assert!(matches!(control.admit(Class::New).await, Err(SubmitError::ResourceExhausted(_))));
        let _begun = control.admit(Class::Begun).await.unwrap();
        assert_eq!(control.status().rejected, 1);
    }

    #[tokio::test]
    async fn a_waiting_command_gets_the_place_of_one_that_ends() {
        let control = fixed(1, Overflow::Wait);
        let first = control.admit(Class::New).await.unwrap();
        assert!(control.admit(Class::New).await.is_err(), "nothing ended in time");
        let waiting = tokio::spawn({
            let control = Arc::clone(&control);
            async move { control.admit(Class::New).await.is_ok() }
        });
        drop(first);
        assert!(waiting.await.unwrap());
        assert_eq!(control.status().in_flight, 0);
        assert_eq!(control.status().waiting, 0);
    }

    #[test]
    fn aimd_shrinks_on_latency_and_grows_when_used() {
        let control = FlowControl::new(FlowControlOptions::default());
        let window = |latency, peak| Window {
            since: Instant::now(),
            samples: 1,
            sum: latency,
            peak_in_flight: peak,
            best: None,
            limit: 100.0,
        };
        control.adapt(&mut window(Duration::from_secs(1), 100));
        assert_eq!(control.status().limit, 90);
        control.adapt(&mut window(Duration::from_millis(1), 100));
        assert_eq!(control.status().limit, 110);
        control.adapt(&mut window(Duration::from_millis(1), 5));
        assert_eq!(control.status().limit, 100);
    }
}
