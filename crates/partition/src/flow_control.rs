//! Flow control: how many commands of clients a partition takes on at once.
//!
//! New work (creations, messages, deployments) is admitted up to an adaptive limit. Commands that end work already
//! begun (completing and failing jobs and the like) is admitted well beyond it, so that it is never refused before
//! creations are. Commands without a place wait, bounded in time and number, or are refused.

#![expect(missing_docs, reason = "names say what is held")]

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use broker_api::SubmitError;
use protocol::{Command, CommandClass, PartitionId};

/// Factor between the limits of work that is already begun and of new work.
const BEGUN_FACTOR: usize = 4;

/// Policy for commands that find no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    Wait,
    Reject,
}

/// How the limit follows the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Algorithm {
    /// Additive increase, multiplicative decrease on latency.
    Aimd {
        /// Latency above which the limit shrinks.
        request_timeout: Duration,
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

#[derive(Debug, Clone)]
pub struct FlowControlOptions {
    /// How the limit follows the load.
    pub algorithm: Algorithm,
    pub initial_limit: usize,
    /// Least limit.
    pub min_limit: usize,
    /// Largest limit.
    pub max_limit: usize,
    /// Policies for commands without a place.
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
pub enum Class {
    New,
    Begun,
}

impl Class {
    /// Class of a command. Nothing else competes with those of the leader.
    pub fn of(command: &Command) -> Self {
        match command.facts().class {
            CommandClass::New => Self::New,
            CommandClass::Begun | CommandClass::Leader => Self::Begun,
        }
    }
}

/// The state of flow control, to look at.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowControlStatus {
    /// Commands admitted at once.
    pub limit: usize,
    pub in_flight: usize,
    /// Commands that wait for a place.
    pub waiting: usize,
    pub rejected: u64,
}

/// Flow control of one partition.
pub struct FlowControl {
    partition: PartitionId,
    options: FlowControlOptions,
    limit: AtomicUsize,
    in_flight: AtomicUsize,
    waiting: AtomicUsize,
    rejected: AtomicU64,
    /// Those who wait for a place, the first come first.
    queues: Mutex<Queues>,
    window: Mutex<Window>,
}

/// Waiting commands by class; a sender tells one that it has a place.
#[derive(Default)]
struct Queues {
    begun: VecDeque<oneshot::Sender<()>>,
    new: VecDeque<oneshot::Sender<()>>,
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
    /// Flow control of a partition with these options.
    pub fn new(partition: PartitionId, options: FlowControlOptions) -> Arc<Self> {
        let limit = options.initial_limit;
        Arc::new(Self {
            partition,
            options,
            limit: AtomicUsize::new(limit),
            in_flight: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            rejected: AtomicU64::new(0),
            queues: Mutex::default(),
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

    /// Commands in flight below which one more of a class is admitted.
    fn limit(&self, class: Class) -> usize {
        let limit = self.limit.load(Ordering::Relaxed).max(1);
        if class == Class::New { limit } else { limit.saturating_mul(BEGUN_FACTOR) }
    }

    /// Takes a place if there is one.
    fn take(&self, class: Class) -> bool {
        let limit = self.limit(class);
        self.in_flight
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| (now < limit).then_some(now + 1))
            .is_ok()
    }

    fn permit(self: &Arc<Self>) -> Permit {
        Permit { control: Arc::clone(self), admitted: Instant::now() }
    }

    /// Takes a place, or waits for one as the options say.
    pub(crate) async fn admit(self: &Arc<Self>, class: Class) -> Result<Permit, SubmitError> {
        // No new command overtakes waiting ones, except for work that is begun already.
        let free = class == Class::Begun || self.waiting.load(Ordering::SeqCst) == 0;
        if free && self.take(class) {
            return Ok(self.permit());
        }
        if self.options.overflow == Overflow::Reject {
            return Err(self.refuse(class, "are in flight"));
        }
        let waiting = self.waiting.fetch_add(1, Ordering::SeqCst);
        let _leave = Leave(&self.waiting);
        if waiting >= self.options.max_waiting {
            return Err(self.refuse(class, "are in flight, and the queue of waiting commands is full"));
        }
        let (sender, place) = oneshot::channel();
        let mut place = Place { control: Arc::clone(self), place };
        {
            let mut queues = self.lock_queues();
            match class {
                Class::New => queues.new.push_back(sender),
                Class::Begun => queues.begun.push_back(sender),
            }
            // A place may have come free in between.
            self.hand_over(&mut queues);
        }
        match tokio::time::timeout(self.options.max_wait, &mut place.place).await {
            Ok(Ok(())) => Ok(self.permit()),
            _ => Err(self.refuse(class, "are in flight, and none ended in time")),
        }
    }

    fn lock_queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock()
    }

    /// Gives free places to waiting commands. Cancelled ones are skipped.
    fn hand_over(&self, queues: &mut Queues) {
        for (class, queue) in [(Class::Begun, &mut queues.begun), (Class::New, &mut queues.new)] {
            while let Some(first) = queue.front() {
                if first.is_closed() {
                    queue.pop_front();
                    continue;
                }
                if !self.take(class) {
                    break;
                }
                if queue.pop_front().is_some_and(|first| first.send(()).is_err()) {
                    let before = self.in_flight.fetch_sub(1, Ordering::SeqCst);
                    debug_assert!(before > 0, "a permit is given back once");
                }
            }
        }
    }

    /// Gives a place back without a sample of the latency.
    fn free(&self) {
        let before = self.in_flight.fetch_sub(1, Ordering::SeqCst);
        debug_assert!(before > 0, "a permit is given back once");
        self.wake();
    }

    /// Has waiting commands take free places.
    fn wake(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.hand_over(&mut self.lock_queues());
        }
    }

    fn refuse(&self, class: Class, why: &str) -> SubmitError {
        self.rejected.fetch_add(1, Ordering::Relaxed);
        let limit = self.limit(class);
        SubmitError::ResourceExhausted(format!(
            "Expected to handle the command on partition {}, but the flow control limit is reached: {limit} commands {why}. Try again later.",
            self.partition
        ))
    }

    fn release(&self, latency: Duration) {
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        self.free();
        if self.options.algorithm == Algorithm::Fixed {
            return;
        }
        // One answer that cannot have a look now is not missed.
        let Some(mut window) = self.window.try_lock() else { return };
        window.samples += 1;
        window.sum += latency;
        window.peak_in_flight = window.peak_in_flight.max(in_flight);
        if window.samples >= WINDOW_SAMPLES || window.since.elapsed() >= WINDOW {
            self.adapt(&mut window);
            drop(window);
            self.wake();
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
        self.window.lock().limit = limit as f64;
        self.limit.store(limit, Ordering::Relaxed);
        self.wake();
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.control.release(self.admitted.elapsed());
    }
}

/// A place in the queue.
struct Place {
    control: Arc<FlowControl>,
    place: oneshot::Receiver<()>,
}

impl Drop for Place {
    /// A command that is cancelled at the same time gives the place back.
    fn drop(&mut self) {
        self.place.close();
        if self.place.try_recv().is_ok() {
            self.control.free();
        }
    }
}

struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let before = self.0.fetch_sub(1, Ordering::SeqCst);
        debug_assert!(before > 0, "a permit is given back once");
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use futures::FutureExt;

    use super::*;

    fn fixed(limit: usize, overflow: Overflow) -> Arc<FlowControl> {
        FlowControl::new(
            1,
            FlowControlOptions {
                algorithm: Algorithm::Fixed,
                initial_limit: limit,
                overflow,
                max_wait: Duration::from_millis(20),
                ..FlowControlOptions::default()
            },
        )
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
        let control = FlowControl::new(1, FlowControlOptions::default());
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

    fn window(latency_ms: u64, best_ms: u64, peak_in_flight: usize) -> Window {
        Window {
            since: Instant::now(),
            samples: 1,
            sum: Duration::from_millis(latency_ms),
            peak_in_flight,
            best: Some(Duration::from_millis(best_ms)),
            limit: 100.0,
        }
    }

    fn adapted(algorithm: Algorithm, mut window: Window) -> usize {
        let options =
            FlowControlOptions { algorithm, min_limit: 95, max_limit: 105, ..FlowControlOptions::default() };
        let control = FlowControl::new(1, options);
        control.adapt(&mut window);
        control.status().limit
    }

    #[test]
    fn vegas_keeps_the_queue_between_its_bounds() {
        let vegas = Algorithm::Vegas { alpha: 3, beta: 6 };
        assert_eq!(adapted(vegas, window(10, 10, 100)), 101, "nothing queues");
        assert_eq!(adapted(vegas, window(10, 10, 10)), 100, "nothing queues, but the limit is not used");
        assert_eq!(adapted(vegas, window(100, 95, 100)), 100, "as much as there should");
        assert_eq!(adapted(vegas, window(20, 10, 100)), 99, "half of it queues");
    }

    #[test]
    fn gradient_follows_the_ratio_of_latencies() {
        let gradient = Algorithm::Gradient { rtt_tolerance: 2.0 };
        assert_eq!(adapted(gradient, window(20, 10, 100)), 102, "within the tolerance");
        assert_eq!(adapted(gradient, window(20, 10, 10)), 100, "but not used");
        assert_eq!(adapted(gradient, window(1000, 10, 100)), 95, "far beyond it, down to the least");
    }

    #[test]
    fn the_limit_stays_within_its_bounds() {
        let aimd = Algorithm::Aimd { request_timeout: Duration::from_millis(100), backoff_ratio: 0.5 };
        assert_eq!(adapted(aimd, window(1000, 1, 100)), 95);
        assert_eq!(adapted(aimd, window(1, 1, 100)), 105);
        assert_eq!(adapted(Algorithm::Fixed, window(1000, 1, 100)), 100);
    }

    fn queued(
        control: &Arc<FlowControl>,
        class: Class,
    ) -> Pin<Box<dyn Future<Output = Result<Permit, SubmitError>>>> {
        let control = Arc::clone(control);
        let mut admission: Pin<Box<dyn Future<Output = _>>> =
            Box::pin(async move { control.admit(class).await });
        assert!((&mut admission).now_or_never().is_none(), "there is a place");
        admission
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_come_is_the_first_served_and_nobody_overtakes() {
        let control = fixed(1, Overflow::Wait);
        let held = control.admit(Class::New).await.unwrap();
        let mut first = queued(&control, Class::New);
        let mut second = queued(&control, Class::New);
        drop(held);
        let mut third = queued(&control, Class::New);
        assert!((&mut second).now_or_never().is_none());
        assert!((&mut third).now_or_never().is_none());
        drop((&mut first).now_or_never().unwrap().unwrap());
        drop((&mut second).now_or_never().unwrap().unwrap());
        drop((&mut third).now_or_never().unwrap().unwrap());
        drop((first, second, third));
        assert_eq!((control.status().in_flight, control.status().waiting), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn who_goes_away_leaves_nothing_behind() {
        let control = fixed(1, Overflow::Wait);
        let held = control.admit(Class::New).await.unwrap();
        let gone = queued(&control, Class::New);
        let told = queued(&control, Class::New);
        let mut last = queued(&control, Class::New);
        drop(gone);
        drop(held);
        // It was given the place and goes away before it takes notice.
        drop(told);
        drop((&mut last).now_or_never().unwrap().unwrap());
        drop(last);
        let late = queued_until_refused(&control).await;
        assert!(late.to_string().contains("1 commands are in flight, and none ended in time"), "{late}");
        assert_eq!((control.status().in_flight, control.status().waiting), (0, 0));
    }

    async fn queued_until_refused(control: &Arc<FlowControl>) -> SubmitError {
        let _held = control.admit(Class::New).await.unwrap();
        control.admit(Class::New).await.err().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_higher_limit_lets_those_in_who_wait() {
        let control = fixed(1, Overflow::Wait);
        let _held = control.admit(Class::New).await.unwrap();
        let mut waiting: Vec<_> = (0..3).map(|_| queued(&control, Class::New)).collect();
        control.set_limit(3);
        let admitted: Vec<_> = waiting.iter_mut().filter_map(FutureExt::now_or_never).collect();
        assert_eq!(admitted.len(), 2);
        assert_eq!(control.status().in_flight, 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_queue_has_an_end_and_work_begun_goes_before_it() {
        let options = FlowControlOptions {
            algorithm: Algorithm::Fixed,
            initial_limit: 1,
            max_waiting: 2,
            ..FlowControlOptions::default()
        };
        let control = FlowControl::new(1, options);
        let held = control.admit(Class::New).await.unwrap();
        let mut waiting = [queued(&control, Class::New), queued(&control, Class::New)];
        let error = control.admit(Class::New).await.err().unwrap().to_string();
        assert!(
            error.contains("partition 1") && error.contains("the queue of waiting commands is full"),
            "{error}"
        );
        let mut begun = Vec::new();
        for _ in 0..3 {
            begun.push(control.admit(Class::Begun).await.unwrap());
        }
        let error = control.admit(Class::Begun).await.err().unwrap().to_string();
        assert!(error.contains("4 commands"), "{error}");
        drop(begun);
        assert!((&mut waiting[0]).now_or_never().is_none(), "the place for new work is still taken");
        drop(held);
        assert!((&mut waiting[0]).now_or_never().is_some());
    }
}
