//! The write limit under simulated load, without a clock.

use std::sync::atomic::AtomicU64;

use super::*;

const STEP: Duration = Duration::from_millis(10);

/// A partition under as much load as it takes, with an exporter of a fixed rate.
struct Simulation {
    state: State,
    now: Duration,
    written: u64,
    left_over: u64,
    exported: f64,
    /// Records a second that are exported.
    rate: f64,
    /// Records that work begun writes per second, admitted or not.
    begun: f64,
    carry: f64,
    /// Commands that come in a second, and how many got in.
    load: f64,
    coming: f64,
    admitted: u64,
    /// Whether steps are left over without end.
    loops: bool,
}

impl Simulation {
    fn new(options: WriteLimitOptions, rate: f64) -> Self {
        let state = State::new(options, Duration::ZERO);
        Self {
            state,
            now: Duration::ZERO,
            written: 0,
            left_over: 0,
            exported: 0.0,
            rate,
            begun: 0.0,
            carry: 0.0,
            load: 20_000.0,
            coming: 0.0,
            admitted: 0,
            loops: false,
        }
    }

    fn so_far(&self) -> Written {
        Written { position: self.written, left_over: self.left_over }
    }

    /// A slice of steps, a few hundred records at the most, of which the last step may write a few too many.
    fn slice(&mut self) {
        if let Ok(records) = self.state.left_over(self.now, self.so_far()) {
            let records = u64::from(records).min(400) + 5;
            self.written += records;
            self.left_over += records;
        }
    }

    fn backlog(&self) -> u64 {
        self.written - self.exported as u64
    }

    /// Runs for a time. Returns the least and the largest backlog.
    fn run(&mut self, time: Duration) -> (u64, u64) {
        let (end, mut least, mut largest) = (self.now + time, u64::MAX, 0);
        while self.now < end {
            self.now += STEP;
            if self.loops {
                self.slice();
            }
            // Eleven records each.
            self.coming += self.load * STEP.as_secs_f64();
            while self.coming >= 1.0 && self.state.admit(self.now, self.so_far()).is_ok() {
                self.coming -= 1.0;
                self.admitted += 1;
                self.written += 11;
            }
            self.coming = self.coming.min(200.0);
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
    let so_far = simulation.so_far();
    assert!(simulation.state.admit(now, so_far).is_err(), "nothing is left");
}

fn limited(limit: u64) -> WriteLimitOptions {
    WriteLimitOptions { enabled: true, limit, ..WriteLimitOptions::default() }
}

/// Commands and records of steps a second.
fn rates(simulation: &mut Simulation, time: Duration) -> (f64, f64) {
    let (admitted, left_over) = (simulation.admitted, simulation.left_over);
    simulation.run(time);
    let rate = |count: u64| count as f64 / time.as_secs_f64();
    (rate(simulation.admitted - admitted), rate(simulation.left_over - left_over))
}

#[test]
fn a_loop_has_what_the_load_leaves() {
    let mut simulation = Simulation::new(limited(2_000), 1e9);
    // 550 records a second.
    simulation.load = 50.0;
    simulation.loops = true;
    simulation.run(seconds(5));
    let (created, of_loop) = rates(&mut simulation, seconds(60));
    assert!((49.0..51.0).contains(&created), "{created}");
    assert!((1_300.0..1_600.0).contains(&of_loop), "{of_loop}");
}

#[test]
fn under_full_load_a_loop_has_its_part_and_commands_the_rest() {
    let mut simulation = Simulation::new(limited(2_000), 1e9);
    simulation.loops = true;
    simulation.run(seconds(5));
    let (created, of_loop) = rates(&mut simulation, seconds(60));
    assert!((430.0..570.0).contains(&of_loop), "{of_loop}");
    assert!((1_400.0..1_650.0).contains(&(created * 11.0)), "{created}");
    // Nor does it keep more when it is over.
    simulation.loops = false;
    let (created, _) = rates(&mut simulation, seconds(2));
    assert!(created * 11.0 > 1_700.0, "{created}");
}

#[test]
fn a_debt_is_paid_in_a_second() {
    for (of_commands, of_steps) in [(1_000_000, 0), (0, 1_000_000), (1_000_000, 1_000_000)] {
        let mut simulation = Simulation::new(limited(1_000), 1e9);
        simulation.run(seconds(1));
        simulation.written += of_commands + of_steps;
        simulation.left_over += of_steps;
        let (now, so_far) = (simulation.now, simulation.so_far());
        let wait = simulation.state.admit(now + STEP, so_far).err().unwrap_or_default();
        assert!(wait <= DEBT_MAX, "{wait:?}");
        let wait = simulation.state.left_over(now + STEP, so_far).err().unwrap_or_default();
        assert!(wait <= DEBT_MAX + SLICE + STEP, "{wait:?}");
        let later = now + DEBT_MAX + SLICE + 2 * STEP;
        assert!(simulation.state.admit(later, so_far).is_ok());
        assert!(simulation.state.left_over(later, so_far).is_ok());
    }
}

/// The room of a slice is not given twice, however soon it is asked for again.
#[test]
fn a_slice_is_charged_at_once() {
    let mut simulation = Simulation::new(limited(10_000), 1e9);
    simulation.run(seconds(1));
    simulation.load = 0.0;
    simulation.run(seconds(1));
    for _ in 0..100 {
        simulation.slice();
    }
    assert!(simulation.left_over <= 10_000 / 10 + 10, "{}", simulation.left_over);
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

fn at(position: u64) -> Written {
    Written { position, left_over: 0 }
}

fn limit(options: WriteLimitOptions, overflow: Overflow) -> WriteLimit {
    WriteLimit::new(1, options, overflow, seconds(1), 10)
}

#[tokio::test(start_paused = true)]
async fn commands_wait_for_their_turn_or_are_refused() {
    let options = WriteLimitOptions { enabled: true, limit: 100, ..WriteLimitOptions::default() };
    let waits = limit(options.clone(), Overflow::Wait);
    let began = Instant::now();
    for _ in 0..50 {
        waits.admit(|| at(0)).await.unwrap();
    }
    // Each is charged one record until it is known better.
    assert!(began.elapsed() < seconds(1), "{:?}", began.elapsed());
    waits.set(WriteLimitOptions { limit: 1, ..options.clone() });
    waits.admit(|| at(0)).await.unwrap();
    // Others use the free room.
    let position = AtomicU64::new(0);
    let more = || at(position.fetch_add(1_000, Ordering::Relaxed));
    let error = waits.admit(more).await.unwrap_err().to_string();
    assert!(error.contains("1 records a second, and there was no room in time"), "{error}");
    assert_eq!(waits.status().waiting, 0);
    waits.set(WriteLimitOptions::default());
    waits.admit(|| at(1_000)).await.unwrap();

    let rejects = limit(WriteLimitOptions { limit: 1, ..options }, Overflow::Reject);
    rejects.admit(|| at(0)).await.unwrap();
    let error = rejects.admit(|| at(0)).await.unwrap_err().to_string();
    assert!(error.contains("write limit"), "{error}");
}
