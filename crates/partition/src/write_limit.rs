//! The write limit: how many records a second the partition takes on, and how that follows the exporters.
//!
//! Every record counts, whoever caused it. New work waits for its turn, and so do what is due and the steps that
//! commands have left over, so that a loop of them neither takes the limit from everybody nor stands still: they
//! have a part of the limit, and what commands leave of the rest; commands have the rest, and what those steps
//! leave of their part. Commands of clients on work in progress, jobs above all, do not wait, so that it drains.
//! Records beyond the limit are a debt, which is bounded by one second of the limit.
//!
//! The records of a command are not known on its arrival: it is charged the recent average, and corrected
//! afterwards. Of steps left over, as many run as there is room for what they record.
//!
//! With throttling, the limit follows the rate of export: as long as the backlog is at most half of what is
//! acceptable, the configured limit holds; above, it is the exporting rate of the last minutes times acceptable
//! over present backlog. Where both are equal, the backlog stands still.

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use broker_api::SubmitError;
use protocol::PartitionId;
use tokio::time::Instant;

use crate::flow_control::Overflow;

/// The exporting rate is an average over this time.
const RATE_WINDOW: Duration = Duration::from_mins(5);
/// Time for which unused room is kept.
const BURST: Duration = Duration::from_millis(100);
/// Largest debt, as the time in which the limit pays it.
const DEBT_MAX: Duration = Duration::from_secs(1);
/// The part of the limit that steps left over have when commands would take all of it.
const LEFT_OVER_PART: f64 = 0.25;
/// Time of writing that steps left over save up before they go on: it is worth an entry of the log.
const SLICE: Duration = Duration::from_millis(20);
const _: () = assert!(SLICE.as_millis() < BURST.as_millis(), "or no room would ever be enough for a slice");
/// The longest time between two looks at the room.
const LOOK_MAX: Duration = Duration::from_millis(100);
/// The shortest: timers are no finer.
const LOOK_MIN: Duration = Duration::from_millis(1);
const _: () = assert!(LOOK_MIN.as_nanos() < LOOK_MAX.as_nanos());
/// How fast the limit begins to grow when it is ramped up.
const RAMP_START: f64 = 0.01;

/// Options of the write limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteLimitOptions {
    /// Whether the limit, throttling included, is on.
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
    /// Smallest limit, in records per second.
    pub minimum_limit: u64,
    /// Interval between adjustments of the limit.
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
    /// The settings.
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

/// Records that the partition has written so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Position of the last record.
    pub position: u64,
    /// Records written by steps left over.
    pub left_over: u64,
}

/// The write limit of one partition.
pub struct WriteLimit {
    partition: PartitionId,
    state: Mutex<State>,
    is_enabled: AtomicBool,
    began: Instant,
    overflow: Overflow,
    max_wait: Duration,
    max_waiting: usize,
    waiting: AtomicUsize,
    /// Held by the one command that looks at the room, the first come first.
    turn: tokio::sync::Mutex<()>,
}

impl WriteLimit {
    /// A limit of a partition with these options; what finds no room is dealt with as flow control does.
    pub(crate) fn new(
        partition: PartitionId,
        options: WriteLimitOptions,
        overflow: Overflow,
        max_wait: Duration,
        max_waiting: usize,
    ) -> Self {
        Self {
            partition,
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
        self.state.lock()
    }

    /// Lets a command that begins work in, at its turn, or refuses it.
    pub(crate) async fn admit(&self, written: impl Fn() -> Written) -> Result<(), SubmitError> {
        if !self.is_enabled.load(Ordering::Relaxed) {
            return Ok(());
        }
        let look = || self.state().admit(self.began.elapsed(), written());
        if self.overflow == Overflow::Reject {
            return look().map_err(|_| self.refuse("more would be written"));
        }
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= self.max_waiting {
            let before = self.waiting.fetch_sub(1, Ordering::SeqCst);
            debug_assert!(before > 0, "a permit is given back once");
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

    /// Records that steps left over may write now, or the time after which to ask again.
    pub(crate) fn left_over(&self, written: Written) -> Result<u32, Duration> {
        if !self.is_enabled.load(Ordering::Relaxed) {
            return Ok(u32::MAX);
        }
        self.state().left_over(self.began.elapsed(), written).map_err(|wait| wait.clamp(LOOK_MIN, LOOK_MAX))
    }

    fn refuse(&self, why: &str) -> SubmitError {
        let limit = self.state().limit(self.began.elapsed()).unwrap_or(f64::INFINITY);
        SubmitError::ResourceExhausted(format!(
            "Expected to handle the command on partition {}, but the write limit is reached: {limit:.0} records a second, and {why}. Try again later.",
            self.partition
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
        let before = self.0.fetch_sub(1, Ordering::SeqCst);
        debug_assert!(before > 0, "a permit is given back once");
    }
}

/// State of the limit, without a clock: it is told the time since the partition began.
#[derive(Debug)]
struct State {
    options: WriteLimitOptions,
    /// When the options were set.
    since: Duration,
    /// Records that commands may write now; negative when more were than should.
    room: f64,
    /// Records that steps left over may write now.
    left_over_room: f64,
    /// When the room was last set right, and what was written then.
    seen_at: Duration,
    seen_written: Option<Written>,
    /// Charged since then, and for how many commands.
    charged: f64,
    admitted: u64,
    /// Average records of a command.
    cost: f64,
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
            left_over_room: 0.0,
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
    fn admit(&mut self, now: Duration, written: Written) -> Result<(), Duration> {
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

    /// Records that steps left over may write, or the time in which there will be room at the latest.
    fn left_over(&mut self, now: Duration, written: Written) -> Result<u32, Duration> {
        let Some(limit) = self.limit(now) else { return Ok(u32::MAX) };
        self.set_right(now, written, limit);
        let income = limit * LEFT_OVER_PART;
        let enough = income * SLICE.as_secs_f64();
        if self.left_over_room < enough {
            return Err(Duration::from_secs_f64((enough - self.left_over_room) / income));
        }
        // Less than a record is one.
        Ok((self.left_over_room as u32).max(1))
    }

    /// Sets the room right by the records that were written, in place of those that were charged.
    fn set_right(&mut self, now: Duration, written: Written, limit: f64) {
        let burst = limit * BURST.as_secs_f64();
        let Some(seen) = self.seen_written else {
            (self.seen_at, self.seen_written) = (now, Some(written));
            (self.room, self.left_over_room) = (burst, burst);
            return;
        };
        let passed = now.saturating_sub(self.seen_at);
        // A slice of steps is charged at once, or the same room would be given again.
        if passed < LOOK_MIN && seen.left_over == written.left_over {
            return;
        }
        debug_assert!(written.left_over >= seen.left_over, "records are not taken back");
        debug_assert!(written.position >= seen.position, "the position of records never goes back");
        let all = written.position.saturating_sub(seen.position);
        let of_steps = written.left_over.saturating_sub(seen.left_over).min(all);
        let (of_commands, of_steps) = ((all - of_steps) as f64, of_steps as f64);
        if self.admitted > 0 && of_commands > 0.0 {
            self.cost += (of_commands / self.admitted as f64 - self.cost) * 0.1;
            self.cost = self.cost.max(1.0);
        }
        let income = limit * passed.as_secs_f64();
        self.room += self.charged - of_commands + income * (1.0 - LEFT_OVER_PART);
        self.left_over_room += income * LEFT_OVER_PART - of_steps;
        // The unused part of one is the other's.
        self.room += (self.left_over_room - burst).max(0.0);
        self.left_over_room = (self.left_over_room + (self.room - burst).max(0.0)).min(burst);
        let debt = limit * DEBT_MAX.as_secs_f64();
        self.room = self.room.clamp(-debt * (1.0 - LEFT_OVER_PART), burst);
        self.left_over_room = self.left_over_room.max(-debt * LEFT_OVER_PART);
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
mod tests;
