//! The clock of the leader, and when the engine wants to be woken.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use planted::Bug;
use tokio::sync::Notify;

const NEVER: i64 = i64::MAX;
/// Pace of the log's time, in tenths of the clock's, while it is ahead of the clock.
const PACE_TENTHS: i64 = 9;

/// A source of the time: the clock of the machine, or that of a test.
#[derive(Clone)]
pub struct WallClock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl WallClock {
    /// A clock that tells Unix milliseconds. It may jump.
    pub fn new(now_ms: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now_ms))
    }

    /// The time, Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        (self.0)()
    }
}

impl Default for WallClock {
    fn default() -> Self {
        Self::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_millis() as i64))
    }
}

impl fmt::Debug for WallClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WallClock")
    }
}

/// The clocks of a cluster beside that of this broker.
#[derive(Clone)]
pub struct ClusterTime {
    /// The latest time that a new entry may have, Unix milliseconds, once clocks were compared.
    pub latest_ms: Arc<dyn Fn() -> Option<i64> + Send + Sync>,
    /// Milliseconds by which this clock may be ahead.
    pub limit_ms: i64,
}

/// The time of new entries of the log. It is that of the clock, unless an entry has a later one: the clock was set
/// back, or another broker led whose clock was ahead. Then the time goes on from there, a little slower than the
/// clock until that has caught up. So timers are late by a tenth of their duration at most, not by the difference.
/// In a cluster, a clock that is ahead of the others' counts up to a limit.
struct LogTime {
    wall: WallClock,
    cluster: Option<ClusterTime>,
    /// The latest time of an entry, and when that was.
    latest: Mutex<(i64, Instant)>,
}

impl LogTime {
    fn new(wall: WallClock, cluster: Option<ClusterTime>) -> Self {
        Self { wall, cluster, latest: Mutex::new((0, Instant::now())) }
    }

    /// Notes the time of an entry that was applied.
    fn note(&self, entry_ms: i64) {
        let mut latest = self.latest.lock();
        let now = Instant::now();
        if entry_ms > gone_on(*latest, now) {
            *latest = (entry_ms, now);
        }
    }

    fn now_ms(&self) -> i64 {
        let latest = *self.latest.lock();
        if planted::has(Bug::TimeGoesBack) {
            return self.wall.now_ms();
        }
        let own_ms = self.wall.now_ms();
        let bound_ms = self.cluster.as_ref().map_or(i64::MAX, |cluster| {
            // Before clocks were compared, the entries tell what the cluster takes for the time.
            let known_ms =
                (latest.0 > 0).then(|| gone_on(latest, Instant::now()).saturating_add(cluster.limit_ms));
            (cluster.latest_ms)().or(known_ms).unwrap_or(i64::MAX)
        });
        own_ms.min(bound_ms).max(gone_on(latest, Instant::now()))
    }
}

/// Time of the log now: that of the latest entry, advanced at the slower pace.
fn gone_on((entry_ms, since): (i64, Instant), now: Instant) -> i64 {
    let elapsed = i64::try_from(now.saturating_duration_since(since).as_millis()).unwrap_or(i64::MAX);
    entry_ms.saturating_add(elapsed / 10 * PACE_TENTHS + elapsed % 10 * PACE_TENTHS / 10)
}

/// The engine's clock after a batch.
#[derive(Clone, Copy)]
pub(crate) struct EngineClock {
    pub now_ms: i64,
    pub is_pinned: bool,
    /// How far it is ahead of the log's while it is not pinned.
    pub offset_ms: i64,
    /// Time of the latest entry of the log.
    pub log_ms: i64,
}

/// Work without a client that the partition's thread reports to the proposer.
pub(crate) struct Due {
    next_ms: AtomicI64,
    pinned: AtomicBool,
    engine_now_ms: AtomicI64,
    offset_ms: AtomicI64,
    pending_steps: AtomicBool,
    changed: Notify,
    log_time: LogTime,
}

impl Due {
    pub fn new(wall: WallClock, cluster: Option<ClusterTime>) -> Self {
        Self {
            log_time: LogTime::new(wall, cluster),
            next_ms: AtomicI64::new(NEVER),
            pinned: AtomicBool::new(false),
            engine_now_ms: AtomicI64::new(0),
            offset_ms: AtomicI64::new(0),
            pending_steps: AtomicBool::new(false),
            changed: Notify::new(),
        }
    }

    /// Notes the state of the engine after a batch.
    pub fn update(&self, next_ms: Option<i64>, clock: EngineClock, pending_steps: bool) {
        let next = next_ms.unwrap_or(NEVER);
        self.log_time.note(clock.log_ms);
        self.engine_now_ms.store(clock.now_ms, Ordering::Release);
        let was_pinned = self.pinned.swap(clock.is_pinned, Ordering::AcqRel);
        let offset_before = self.offset_ms.swap(clock.offset_ms, Ordering::AcqRel);
        let before = self.next_ms.swap(next, Ordering::AcqRel);
        self.pending_steps.store(pending_steps, Ordering::Release);
        let has_moved = was_pinned != clock.is_pinned || offset_before != clock.offset_ms;
        if next < before || pending_steps || has_moved {
            self.changed.notify_one();
        }
    }

    /// Whether steps are left over.
    pub fn has_pending_steps(&self) -> bool {
        self.pending_steps.load(Ordering::Acquire)
    }

    /// Time until something is due; `None` if nothing is.
    pub fn wait(&self) -> Option<Duration> {
        let next = self.next_ms.load(Ordering::Acquire);
        if next == NEVER {
            return None;
        }
        if self.pinned.load(Ordering::Acquire) {
            return (next <= self.engine_now_ms.load(Ordering::Acquire)).then_some(Duration::ZERO);
        }
        Some(Duration::from_millis(u64::try_from(next.saturating_sub(self.now_ms())).unwrap_or(0)))
    }

    /// Time of the engine's clock.
    pub fn now_ms(&self) -> i64 {
        if self.pinned.load(Ordering::Acquire) {
            return self.engine_now_ms.load(Ordering::Acquire);
        }
        self.log_time_ms().saturating_add(self.offset_ms.load(Ordering::Acquire))
    }

    /// Time of the next entry of the log.
    pub fn log_time_ms(&self) -> i64 {
        self.log_time.now_ms()
    }

    /// Wakes the proposer.
    pub fn check(&self) {
        self.changed.notify_one();
    }

    /// Resolves when due work or the clock may have changed.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(clock: &Arc<ClusterClock>) -> ClusterTime {
        let clock = Arc::clone(clock);
        ClusterTime { latest_ms: Arc::new(move || clock.latest_ms()), limit_ms: LIMIT_MS }
    }
    use cluster::{ClockSample, ClusterClock, LIMIT_MS};

    const DAY_MS: i64 = 86_400_000;

    /// A clock that tests set.
    fn clock() -> (Arc<AtomicI64>, LogTime) {
        let hand = Arc::new(AtomicI64::new(DAY_MS));
        let read = Arc::clone(&hand);
        (hand, LogTime::new(WallClock::new(move || read.load(Ordering::Relaxed)), None))
    }

    #[test]
    fn the_time_is_that_of_the_clock() {
        let (hand, time) = clock();
        assert_eq!(time.now_ms(), DAY_MS);
        time.note(DAY_MS);
        hand.store(DAY_MS + 5_000, Ordering::Relaxed);
        assert_eq!(time.now_ms(), DAY_MS + 5_000);
    }

    #[test]
    fn the_time_never_goes_back_and_does_not_stand_still() {
        let (hand, time) = clock();
        let began = Instant::now();
        time.note(DAY_MS);
        hand.store(0, Ordering::Relaxed);
        let mut last = time.now_ms();
        assert!(last >= DAY_MS);
        while time.now_ms() < DAY_MS + 18 {
            let now = time.now_ms();
            assert!(now >= last, "{now} after {last}");
            last = now;
            time.note(now);
            assert!(began.elapsed() < Duration::from_secs(60), "it stands still");
        }
        assert!(began.elapsed() >= Duration::from_millis(20), "slower than the clock");
    }

    #[test]
    fn the_slower_pace_is_a_tenth_less() {
        let since = Instant::now();
        let after = |elapsed_ms| gone_on((DAY_MS, since), since + Duration::from_millis(elapsed_ms));
        assert_eq!([0, 1, 9, 10, 1_000, 12_345].map(after), [0, 0, 8, 9, 900, 11_110].map(|ms| DAY_MS + ms));
    }

    #[test]
    fn an_entry_from_a_clock_that_is_ahead_is_gone_on_from() {
        let (_, time) = clock();
        time.note(2 * DAY_MS);
        time.note(DAY_MS);
        assert!(time.now_ms() >= 2 * DAY_MS);
    }

    #[test]
    fn a_clock_that_is_ahead_of_the_others_counts_up_to_the_limit() {
        let hand = Arc::new(AtomicI64::new(DAY_MS));
        let (read, cluster) = (Arc::clone(&hand), Arc::new(ClusterClock::default()));
        let wall = WallClock::new(move || read.load(Ordering::Relaxed));
        let time = LogTime::new(wall, Some(beside(&cluster)));
        assert_eq!(time.now_ms(), DAY_MS, "nobody knows better");
        time.note(DAY_MS);
        hand.store(2 * DAY_MS, Ordering::Relaxed);
        let is_bounded = |now: i64| (DAY_MS + LIMIT_MS..DAY_MS + 2 * LIMIT_MS).contains(&now);
        assert!(is_bounded(time.now_ms()), "the latest entry bounds it");
        let same = ClockSample::new(DAY_MS, DAY_MS, Duration::ZERO).unwrap();
        cluster.compare(DAY_MS, &[same]);
        assert!(is_bounded(time.now_ms()), "the clocks of the others bound it");
        hand.store(DAY_MS + 500, Ordering::Relaxed);
        assert_eq!(time.now_ms(), DAY_MS + 500);
    }
}
