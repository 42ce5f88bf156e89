//! The write limit: how many records a second the partition takes on, and how that follows the exporters.
//!
//! Every record counts, whoever caused it; only new work waits for its turn, so that what is begun drains. What a command
//! will write is not known when it comes: it is charged what commands wrote lately, and set right afterwards.
//!
//! With throttling, the limit follows the rate of export: as long as the backlog is at most half of what is acceptable, the
//! configured limit holds; above, it is the exporting rate of the last minutes times acceptable over present backlog. Where
//! both are equal, the backlog stands still.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::api::SubmitError;
use crate::flow_control::Overflow;

/// The exporting rate is an average over this time.
const RATE_WINDOW: Duration = Duration::from_mins(5);
/// Unused room is kept for this long.
const BURST: Duration = Duration::from_millis(100);
/// The longest time between two looks at the room.
const LOOK_MAX: Duration = Duration::from_millis(100);
/// The shortest: timers are no finer.
const LOOK_MIN: Duration = Duration::from_millis(1);
/// How fast the limit begins to grow when it is ramped up.
const RAMP_START: f64 = 0.01;

/// Options of the write limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteLimitOptions {
    /// Whether there is any limit, also by throttling.
    pub enabled: bool,
    /// Records a second; 0 for no limit but that of throttling.
    pub limit: u64,
    /// Time in which the limit grows to its full height after it was set.
    pub ramp_up: Duration,
    /// Following the exporters.
    pub throttle: ThrottleOptions,
}

/// How the write limit follows the exporters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThrottleOptions {
    /// Whether it does.
    pub enabled: bool,
    /// Records that may wait for the slowest exporter.
    pub acceptable_backlog: u64,
    /// The limit never falls below, in records a second.
    pub minimum_limit: u64,
    /// How often the limit is looked at.
    pub resolution: Duration,
}

impl Default for ThrottleOptions {
    fn default() -> Self {
        Self {
            enabled: false,
            acceptable_backlog: 100_000,
            minimum_limit: 100,
            resolution: Duration::from_secs(15),
        }
    }
}

/// The write limit, to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteLimitStatus {
    /// What is set.
    pub options: WriteLimitOptions,
    /// Records a second now; `None` for no limit.
    pub limit: Option<f64>,
    /// Records a second that the slowest exporter has taken lately.
    pub exporting_rate: f64,
    /// Commands that wait for their turn.
    pub waiting: usize,
}

/// How far the exporters are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exported {
    /// Position up to which all have acknowledged.
    pub position: u64,
    /// Records that the slowest has not.
    pub backlog: u64,
}

/// The write limit of one partition.
pub struct WriteLimit {
    state: Mutex<State>,
    is_enabled: AtomicBool,
    began: Instant,
    overflow: Overflow,
    max_wait: Duration,
    max_waiting: usize,
    waiting: AtomicUsize,
    /// One looks at the room at a time, the first come first.
    turn: tokio::sync::Mutex<()>,
}

impl WriteLimit {
    /// A limit with these options; what finds no room is dealt with as flow control does.
    pub(crate) fn new(
        options: WriteLimitOptions,
        overflow: Overflow,
        max_wait: Duration,
        max_waiting: usize,
    ) -> Self {
        Self {
            is_enabled: AtomicBool::new(options.enabled),
            state: Mutex::new(State::new(options, Duration::ZERO)),
            began: Instant::now(),
            overflow,
            max_wait,
            max_waiting,
            waiting: AtomicUsize::new(0),
            turn: tokio::sync::Mutex::new(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a command that begins work in, at its turn, or refuses it. `written` tells the position of the last record.
    pub(crate) async fn admit(&self, written: impl Fn() -> u64) -> Result<(), SubmitError> {
        if !self.is_enabled.load(Ordering::Relaxed) {
            return Ok(());
        }
        let look = || self.state().admit(self.began.elapsed(), written());
        if self.overflow == Overflow::Reject {
            return look().map_err(|_| self.refuse("more would be written"));
        }
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= self.max_waiting {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return Err(self.refuse("the queue of waiting commands is full"));
        }
        let turn = async {
            let _turn = self.turn.lock().await;
            while let Err(wait) = look() {
                tokio::time::sleep(wait.clamp(LOOK_MIN, LOOK_MAX)).await;
            }
        };
        let waited = {
            let _leave = Leave(&self.waiting);
            tokio::time::timeout(self.max_wait, turn).await
        };
        waited.map_err(|_| self.refuse("there was no room in time"))
    }

    fn refuse(&self, why: &str) -> SubmitError {
        let limit = self.state().limit(self.began.elapsed()).unwrap_or(f64::INFINITY);
        SubmitError::ResourceExhausted(format!(
            "Expected to handle the command on partition 1, but the write limit is reached: {limit:.0} records a second, and {why}. Try again later."
        ))
    }

    /// Has a look at the exporters; to be called about once a second.
    pub(crate) fn observe(&self, exported: Exported) {
        let now = self.began.elapsed();
        self.state().observe(now, exported);
    }

    /// Sets other options until the next start.
    pub fn set(&self, options: WriteLimitOptions) {
        let mut state = self.state();
        self.is_enabled.store(options.enabled, Ordering::Relaxed);
        state.set(options, self.began.elapsed());
    }

    /// The limit and how it is used.
    pub fn status(&self) -> WriteLimitStatus {
        let state = self.state();
        WriteLimitStatus {
            options: state.options.clone(),
            limit: state.limit(self.began.elapsed()),
            exporting_rate: state.exporting_rate(),
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }
}

struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Knows no clock: it is told the time since the partition began.
#[derive(Debug)]
struct State {
    options: WriteLimitOptions,
    /// When the options were set.
    since: Duration,
    /// Records that may be written now; negative when more were than should.
    room: f64,
    /// When the room was last set right, and what was written then.
    seen_at: Duration,
    seen_written: Option<u64>,
    /// Charged since then, and for how many commands.
    charged: f64,
    admitted: u64,
    /// What a command writes, on average.
    cost: f64,
    /// What throttling allows.
    throttled: Option<f64>,
    throttled_at: Option<Duration>,
    /// Positions that were exported at times, over the window.
    exported: VecDeque<(Duration, u64)>,
}

impl State {
    fn new(options: WriteLimitOptions, now: Duration) -> Self {
        Self {
            options,
            since: now,
            room: 0.0,
            seen_at: now,
            seen_written: None,
            charged: 0.0,
            admitted: 0,
            cost: 1.0,
            throttled: None,
            throttled_at: None,
            exported: VecDeque::new(),
        }
    }

    fn set(&mut self, options: WriteLimitOptions, now: Duration) {
        let exported = std::mem::take(&mut self.exported);
        *self = Self { exported, cost: self.cost, ..Self::new(options, now) };
    }

    /// Records a second now.
    fn limit(&self, now: Duration) -> Option<f64> {
        let WriteLimitOptions { enabled, limit, ramp_up, throttle } = &self.options;
        if !enabled {
            return None;
        }
        let configured = (*limit > 0).then_some(*limit as f64);
        let throttled = self.throttled.filter(|_| throttle.enabled);
        let lower = [configured, throttled].into_iter().flatten().reduce(f64::min)?;
        let grown = if ramp_up.is_zero() {
            1.0
        } else {
            (now.saturating_sub(self.since).as_secs_f64() / ramp_up.as_secs_f64()).clamp(RAMP_START, 1.0)
        };
        Some((lower * grown).max(1.0))
    }

    /// Lets a command in, or says in which time there may be room.
    fn admit(&mut self, now: Duration, written: u64) -> Result<(), Duration> {
        let Some(limit) = self.limit(now) else { return Ok(()) };
        self.set_right(now, written, limit);
        if self.room <= 0.0 {
            return Err(Duration::from_secs_f64((-self.room / limit).max(0.0)));
        }
        self.room -= self.cost;
        self.charged += self.cost;
        self.admitted += 1;
        Ok(())
    }

    /// What was written counts, not what was charged for it.
    fn set_right(&mut self, now: Duration, written: u64, limit: f64) {
        let passed = now.saturating_sub(self.seen_at);
        let Some(seen) = self.seen_written else {
            (self.seen_at, self.seen_written, self.room) = (now, Some(written), limit * BURST.as_secs_f64());
            return;
        };
        if passed < LOOK_MIN {
            return;
        }
        let news = written.saturating_sub(seen) as f64;
        if self.admitted > 0 && news > 0.0 {
            self.cost += (news / self.admitted as f64 - self.cost) * 0.1;
            self.cost = self.cost.max(1.0);
        }
        let burst = limit * BURST.as_secs_f64();
        self.room = (self.room + self.charged - news + limit * passed.as_secs_f64()).min(burst);
        (self.seen_at, self.seen_written) = (now, Some(written));
        (self.charged, self.admitted) = (0.0, 0);
    }

    fn exporting_rate(&self) -> f64 {
        match (self.exported.front(), self.exported.back()) {
            (Some((from, first)), Some((to, last))) if to > from => {
                last.saturating_sub(*first) as f64 / to.saturating_sub(*from).as_secs_f64()
            }
            _ => 0.0,
        }
    }

    fn observe(&mut self, now: Duration, exported: Exported) {
        if exported.position == u64::MAX {
            // All exporters are switched off.
            self.exported.clear();
            self.throttled = None;
            return;
        }
        while self.exported.front().is_some_and(|(at, _)| now.saturating_sub(*at) > RATE_WINDOW) {
            self.exported.pop_front();
        }
        self.exported.push_back((now, exported.position));
        let throttle = &self.options.throttle;
        if self.throttled_at.is_some_and(|at| now.saturating_sub(at) < throttle.resolution) {
            return;
        }
        self.throttled_at = Some(now);
        let acceptable = throttle.acceptable_backlog.max(1);
        self.throttled = (exported.backlog > acceptable / 2).then(|| {
            let rate = self.exporting_rate() * acceptable as f64 / exported.backlog as f64;
            rate.max(throttle.minimum_limit as f64)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_millis(10);

    /// A partition under as much load as it takes, with an exporter of a fixed rate.
    struct Simulation {
        state: State,
        now: Duration,
        written: u64,
        exported: f64,
        /// Records a second that are exported.
        rate: f64,
        /// Records that work begun writes per second, admitted or not.
        begun: f64,
        carry: f64,
    }

    impl Simulation {
        fn new(options: WriteLimitOptions, rate: f64) -> Self {
            let state = State::new(options, Duration::ZERO);
            Self { state, now: Duration::ZERO, written: 0, exported: 0.0, rate, begun: 0.0, carry: 0.0 }
        }

        fn backlog(&self) -> u64 {
            self.written - self.exported as u64
        }

        /// Runs for a time. Returns the least and the largest backlog.
        fn run(&mut self, time: Duration) -> (u64, u64) {
            let (end, mut least, mut largest) = (self.now + time, u64::MAX, 0);
            while self.now < end {
                self.now += STEP;
                // Up to 20 000 commands a second come, of eleven records each.
                for _ in 0..200 {
                    if self.state.admit(self.now, self.written).is_err() {
                        break;
                    }
                    self.written += 11;
                }
                self.carry += self.begun * STEP.as_secs_f64();
                self.written += self.carry as u64;
                self.carry = self.carry.fract();
                self.exported = (self.exported + self.rate * STEP.as_secs_f64()).min(self.written as f64);
                if self.now.subsec_millis() == 0 {
                    let exported = Exported { position: self.exported as u64, backlog: self.backlog() };
                    self.state.observe(self.now, exported);
                }
                least = least.min(self.backlog());
                largest = largest.max(self.backlog());
            }
            (least, largest)
        }
    }

    fn throttled(acceptable_backlog: u64) -> WriteLimitOptions {
        let throttle = ThrottleOptions { enabled: true, acceptable_backlog, ..ThrottleOptions::default() };
        WriteLimitOptions { enabled: true, limit: 5_000, throttle, ..WriteLimitOptions::default() }
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn a_slow_exporter_keeps_a_flat_backlog() {
        let mut simulation = Simulation::new(throttled(20_000), 1_000.0);
        simulation.run(seconds(1_200));
        let (least, largest) = simulation.run(seconds(1_800));
        assert!(least > 15_000 && largest < 25_000, "{least} to {largest}");
        // It catches up when the exporter is fast again, and the configured limit holds.
        simulation.rate = 50_000.0;
        simulation.run(seconds(60));
        let before = simulation.written;
        simulation.run(seconds(60));
        let rate = (simulation.written - before) as f64 / 60.0;
        assert!((4_500.0..5_500.0).contains(&rate), "{rate}");
        assert!(simulation.backlog() < 10_000);
    }

    #[test]
    fn without_throttling_the_backlog_grows() {
        let options = WriteLimitOptions { throttle: ThrottleOptions::default(), ..throttled(20_000) };
        let mut simulation = Simulation::new(options, 1_000.0);
        simulation.run(seconds(60));
        assert!(simulation.backlog() > 200_000, "{}", simulation.backlog());
    }

    #[test]
    fn the_limit_falls_to_the_least_when_nothing_is_exported() {
        let mut simulation = Simulation::new(throttled(1_000), 0.0);
        simulation.run(seconds(60));
        assert_eq!(simulation.state.limit(simulation.now), Some(100.0));
        let before = simulation.written;
        simulation.run(seconds(60));
        let rate = (simulation.written - before) as f64 / 60.0;
        assert!((80.0..130.0).contains(&rate), "{rate}");
    }

    #[test]
    fn work_begun_is_counted_and_new_work_takes_what_is_left() {
        let options = WriteLimitOptions { enabled: true, limit: 2_000, ..WriteLimitOptions::default() };
        let mut simulation = Simulation::new(options, 1e9);
        simulation.begun = 1_500.0;
        simulation.run(seconds(20));
        let before = simulation.written;
        simulation.run(seconds(60));
        let rate = (simulation.written - before) as f64 / 60.0;
        assert!((1_800.0..2_200.0).contains(&rate), "{rate}");
        simulation.begun = 3_000.0;
        simulation.run(seconds(20));
        let now = simulation.now;
        assert!(simulation.state.admit(now, simulation.written).is_err(), "nothing is left");
    }

    #[test]
    fn the_limit_is_ramped_up() {
        let options = WriteLimitOptions {
            enabled: true,
            limit: 1_000,
            ramp_up: seconds(100),
            ..WriteLimitOptions::default()
        };
        let state = State::new(options, seconds(50));
        let at = |second| state.limit(seconds(second)).unwrap();
        assert_eq!([at(50), at(75), at(150), at(900)].map(|limit| limit as u64), [10, 250, 1_000, 1_000]);
    }

    fn limit(options: WriteLimitOptions, overflow: Overflow) -> WriteLimit {
        WriteLimit::new(options, overflow, seconds(1), 10)
    }

    #[tokio::test(start_paused = true)]
    async fn commands_wait_for_their_turn_or_are_refused() {
        let options = WriteLimitOptions { enabled: true, limit: 100, ..WriteLimitOptions::default() };
        let waits = limit(options.clone(), Overflow::Wait);
        let began = Instant::now();
        for _ in 0..50 {
            waits.admit(|| 0).await.unwrap();
        }
        // Each is charged one record until it is known better.
        assert!(began.elapsed() < seconds(1), "{:?}", began.elapsed());
        waits.set(WriteLimitOptions { limit: 1, ..options.clone() });
        waits.admit(|| 0).await.unwrap();
        let error = waits.admit(|| 1_000).await.unwrap_err().to_string();
        assert!(error.contains("1 records a second, and there was no room in time"), "{error}");
        assert_eq!(waits.status().waiting, 0);
        waits.set(WriteLimitOptions::default());
        waits.admit(|| 1_000).await.unwrap();

        let rejects = limit(WriteLimitOptions { limit: 1, ..options }, Overflow::Reject);
        rejects.admit(|| 0).await.unwrap();
        let error = rejects.admit(|| 0).await.unwrap_err().to_string();
        assert!(error.contains("write limit"), "{error}");
    }
}
