//! The credit of one job stream: how many jobs it may hold that were delivered and have not ended.
//! `docs/decisions/0010-stream-credit.md` states the law that is here. It knows times and counts only: no job, no
//! stream, no clock.
//!
//! A change of the credit is an experiment. More credit is kept if more jobs end by it, less if not fewer do.

use std::time::Duration;

use planted::Bug;

/// Credit that a stream has at the most, whatever the settings say.
pub(crate) const CREDIT_MAX: u32 = 10_000;

/// Duration up to which a job counts as fast: such a worker is never held back.
const FAST: Duration = Duration::from_millis(50);
/// Divisor of the time-out of a job that gives a second limit of a fast job, beside [`FAST`].
const FAST_PART: u32 = 20;
/// Growth of a fast stream.
const FAST_GROWTH: f64 = 2.0;
/// Growth of the credit until growth first failed to raise the rate.
const FIRST_GROWTH: f64 = 1.5;
const GROWTH: f64 = 1.25;
/// Part of the growth of the credit by which the rate must grow for the credit to be kept.
const KEPT_PART: f64 = 0.5;
/// Factor over the best time of a job at which the credit stops growing.
const STRETCH_MAX: f64 = 2.0;
/// Part of the time between what a job takes and its deadline that it may wait at the worker.
const WAIT_PART: f64 = 0.5;
/// Ends of a window, as a multiple of the credit.
const WINDOW_FLIGHTS: u32 = 4;
/// [`WINDOW_FLIGHTS`] of a fast stream.
const FAST_WINDOW_FLIGHTS: u32 = 1;
/// Least ends of a window.
const WINDOW_ENDS_MIN: u32 = 8;
/// Windows that the best time is taken over, at the least; at the most, twice as many.
const BEST_WINDOWS: u32 = 16;
/// Divisor of the ends: with more failed jobs than that part, the credit does not grow.
const FAILED_PART: u32 = 8;
/// Windows between two experiments at the most.
const HOLD_MAX: u32 = 64;
/// Multiple of the credit of others that may overtake a job before it counts as stuck by itself.
const OVERTAKEN: u64 = 2;
/// Share of the credit that remains after a timeout.
const CUT: u32 = 2;

/// Data of a job at its delivery.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Departure {
    at: Duration,
    /// Jobs that had ended by then.
    ended: u64,
}

/// Ends of jobs that were delivered under the credit of now.
#[derive(Debug, Default)]
struct Window {
    /// When the first job came back that was delivered under this credit: from there on the credit shows.
    since: Option<Duration>,
    ends: u32,
    took: Duration,
    /// Ends while the credit was used up and more was waiting.
    limited: u32,
    /// Jobs that the worker failed.
    failed: u32,
}

/// A change that must prove itself.
#[derive(Debug, Clone, Copy)]
struct Trial {
    from: u32,
    /// Jobs per second before.
    rate: f64,
}

/// The credit of a stream.
#[derive(Debug)]
pub(crate) struct Credit {
    limit: u32,
    max: u32,
    /// How long the worker may keep a job.
    timeout: Duration,
    ended: u64,
    changed: Duration,
    window: Window,
    /// Jobs per second under this credit, smoothed.
    rate: Option<f64>,
    trial: Option<Trial>,
    /// The best times of now and of before, in seconds.
    best: [Option<f64>; 2],
    best_windows: u32,
    /// Windows until the next growth, and how many that were last.
    hold: u32,
    held: u32,
    growth: f64,
    /// When the credit was last cut. Jobs delivered before have had their effect.
    cut: Option<Duration>,
}

impl Credit {
    /// The credit of a new stream, whose worker may keep a job for so long.
    pub fn new(first: u32, max: u32, timeout: Duration) -> Self {
        let max = max.clamp(1, CREDIT_MAX);
        Self {
            limit: first.clamp(1, max),
            max,
            timeout: timeout.max(Duration::from_millis(1)),
            ended: 0,
            changed: Duration::ZERO,
            window: Window::default(),
            rate: None,
            trial: None,
            best: [None; 2],
            best_windows: 0,
            hold: 0,
            held: 0,
            growth: FIRST_GROWTH,
            cut: None,
        }
    }

    /// Jobs that the stream may hold.
    pub fn limit(&self) -> u32 {
        debug_assert!((1..=self.max).contains(&self.limit), "a stream always may hold one job");
        if planted::has(Bug::PushesWithoutDemand) {
            return CREDIT_MAX;
        }
        self.limit
    }

    /// Notes the delivery of a job.
    pub fn depart(&self, now: Duration) -> Departure {
        Departure { at: now, ended: self.ended }
    }

    /// Notes that a job was answered in time. `is_limit`: the credit was used up, and more was waiting.
    pub fn ended(&mut self, job: Departure, now: Duration, is_limit: bool) {
        self.ended += 1;
        let fast = self.fast();
        let window = &mut self.window;
        let Some(since) = window.since else {
            if job.at >= self.changed {
                window.since = Some(now);
            }
            return;
        };
        window.ends += 1;
        window.took += now.saturating_sub(job.at);
        window.limited += u32::from(is_limit);
        let took = window.took / window.ends;
        let flights = if took <= fast { FAST_WINDOW_FLIGHTS } else { WINDOW_FLIGHTS };
        if window.ends >= (self.limit * flights).max(WINDOW_ENDS_MIN) && now > since {
            let rate = f64::from(window.ends) / now.saturating_sub(since).as_secs_f64();
            let is_limited = window.limited * 2 >= window.ends && window.failed * FAILED_PART < window.ends;
            self.window = Window { since: Some(now), ..Window::default() };
            self.judge(rate, took, is_limited, now);
        }
    }

    /// Notes that the worker failed a job. That tells nothing of how long jobs take.
    pub fn failed(&mut self) {
        self.ended += 1;
        self.window.failed += 1;
    }

    /// Notes that a delivered job timed out.
    pub fn timed_out(&mut self, job: Departure, now: Duration) {
        let overtaken = self.ended.saturating_sub(job.ended);
        let is_of_former = self.cut.is_some_and(|cut| job.at <= cut);
        if is_of_former || overtaken > u64::from(self.limit) * OVERTAKEN {
            return;
        }
        self.cut = Some(now);
        self.trial = None;
        self.set((self.limit / CUT).max(1), now);
    }

    /// Time within which a worker counts as fast.
    fn fast(&self) -> Duration {
        FAST.min(self.timeout / FAST_PART)
    }

    /// Seconds that a job may take, of which it waits at the worker for some, so that it is done before its deadline.
    fn allowed(&self, best: f64) -> f64 {
        best + (self.timeout.as_secs_f64() - best).max(0.0) * WAIT_PART
    }

    fn judge(&mut self, rate: f64, took: Duration, is_limited: bool, now: Duration) {
        let took_s = took.as_secs_f64();
        self.note_best(took_s);
        if let Some(trial) = self.trial.take() {
            let (grown, brought) = (f64::from(self.limit) / f64::from(trial.from), rate / trial.rate);
            if self.limit < trial.from {
                if brought < 1.0 - (1.0 - grown) * KEPT_PART {
                    // Fewer jobs end: they had not waited, they take that long.
                    self.best = [Some(took_s), None];
                    self.set(trial.from, now);
                    return;
                }
            } else if !is_limited {
                // Nothing is known: there was too little to do.
                self.set(trial.from, now);
                return;
            } else if brought < 1.0 + (grown - 1.0) * KEPT_PART {
                self.growth = GROWTH;
                self.held = (self.held * 2).clamp(1, HOLD_MAX);
                self.hold = self.held;
                self.set(trial.from, now);
                self.rate = Some(trial.rate);
                return;
            }
            self.held = 0;
        }
        // More may end without more credit: the worker has just begun, or polls have left it.
        let kept_from = 1.0 + (self.growth - 1.0) * KEPT_PART;
        let steady = self.rate.filter(|before| rate < before * kept_from);
        let rate = steady.map_or(rate, |before| f64::midpoint(before, rate));
        self.rate = is_limited.then_some(rate);
        let best = self.best();
        let allowed = self.allowed(best);
        if took_s > allowed && self.limit > 1 {
            let part = (allowed / took_s).max(1.0 / f64::from(CUT));
            self.attempt((f64::from(self.limit) * part) as u32, rate, now);
        } else if is_limited && took <= self.fast() {
            self.set((f64::from(self.limit) * FAST_GROWTH) as u32, now);
        } else if is_limited && steady.is_some() && took_s <= best * STRETCH_MAX {
            if self.hold > 0 {
                self.hold -= 1;
                return;
            }
            let grown = (f64::from(self.limit) * self.growth).ceil();
            // Should nothing come of it, the jobs wait that much longer.
            let in_time = (rate * allowed).floor();
            if grown.min(in_time) > f64::from(self.limit) {
                self.attempt(grown.min(in_time) as u32, rate, now);
            }
        }
    }

    fn best(&self) -> f64 {
        self.best.iter().flatten().copied().fold(f64::INFINITY, f64::min)
    }

    fn note_best(&mut self, took_s: f64) {
        self.best_windows += 1;
        if self.best_windows >= BEST_WINDOWS {
            self.best_windows = 0;
            self.best = [None, self.best[0]];
        }
        self.best[0] = Some(self.best[0].map_or(took_s, |best| best.min(took_s)));
    }

    /// Changes the credit; the next window tells whether it stays so.
    fn attempt(&mut self, limit: u32, rate: f64, now: Duration) {
        let from = self.limit;
        self.set(limit, now);
        self.trial = (self.limit != from).then_some(Trial { from, rate });
    }

    fn set(&mut self, limit: u32, now: Duration) {
        let limit = limit.clamp(1, self.max);
        if limit != self.limit {
            self.limit = limit;
            self.changed = now;
            self.window = Window::default();
            self.rate = None;
        }
    }
}

#[cfg(test)]
mod simulation;
