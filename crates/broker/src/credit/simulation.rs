//! The law at work: workers with threads, jobs of some length, and a stream that pushes what its credit allows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::*;

const SECOND: u64 = 1_000_000;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between two lengths, in microseconds.
    fn between(&mut self, (least, most): (f64, f64)) -> u64 {
        ((least + (most - least) * self.next()) * SECOND as f64) as u64
    }
}

/// A worker behind a stream. Times are in microseconds.
struct Worker {
    credit: Credit,
    threads: usize,
    takes: (f64, f64),
    frozen_until: u64,
    /// Jobs in its window, the oldest first.
    window: VecDeque<u64>,
    /// When each job at work is done.
    at_work: BTreeSet<(u64, u64)>,
    /// With the right to them: when delivered, and the deadline.
    held: BTreeMap<u64, (Departure, u64)>,
    /// Without: when given up.
    overdue: BTreeMap<u64, u64>,
    done: u64,
    most: usize,
}

/// A queue of jobs and those who work on it.
struct World {
    now: u64,
    dice: Dice,
    timeout: u64,
    /// Jobs that arrive per second.
    rate: f64,
    arrived: f64,
    next_job: u64,
    queue: BTreeSet<u64>,
    ended: BTreeSet<u64>,
    workers: Vec<Worker>,
    activations: u64,
    refused: u64,
    timeouts: u64,
}

impl World {
    fn new(rate: f64, timeout_s: u64) -> Self {
        Self {
            now: 0,
            dice: Dice(11),
            timeout: timeout_s * SECOND,
            rate,
            arrived: 0.0,
            next_job: 0,
            queue: BTreeSet::new(),
            ended: BTreeSet::new(),
            workers: Vec::new(),
            activations: 0,
            refused: 0,
            timeouts: 0,
        }
    }

    fn join(&mut self, threads: usize, takes: (f64, f64)) -> usize {
        let credit = Credit::new(32, 2000, Duration::from_micros(self.timeout));
        self.workers.push(Worker {
            credit,
            threads,
            takes,
            frozen_until: 0,
            window: VecDeque::new(),
            at_work: BTreeSet::new(),
            held: BTreeMap::new(),
            overdue: BTreeMap::new(),
            done: 0,
            most: 0,
        });
        self.workers.len() - 1
    }

    /// One step of time, a millisecond.
    fn step(&mut self) {
        self.now += 1000;
        let (now, at) = (self.now, Duration::from_micros(self.now));
        self.arrived += self.rate / 1000.0;
        while self.arrived >= 1.0 {
            self.arrived -= 1.0;
            self.next_job += 1;
            self.queue.insert(self.next_job);
        }
        for worker in &mut self.workers {
            let late: Vec<u64> = worker
                .held
                .iter()
                .filter(|(_, (_, deadline))| *deadline <= now)
                .map(|(job, _)| *job)
                .collect();
            for job in late {
                let (departure, _) = worker.held.remove(&job).unwrap();
                worker.credit.timed_out(departure, at);
                worker.overdue.insert(job, now + self.timeout);
                self.queue.insert(job);
                self.timeouts += 1;
            }
            worker.overdue.retain(|_, until| *until > now);
        }
        for number in 0..self.workers.len() {
            self.work(number, at);
        }
        for number in 0..self.workers.len() {
            self.push(number, at);
        }
    }

    fn work(&mut self, number: usize, at: Duration) {
        let queued = !self.queue.is_empty();
        let worker = &mut self.workers[number];
        if worker.frozen_until > self.now {
            return;
        }
        let before = worker.held.len() + worker.overdue.len();
        while let Some(&(until, job)) = worker.at_work.first()
            && until <= self.now
        {
            worker.at_work.pop_first();
            let departure = worker.held.remove(&job);
            worker.overdue.remove(&job);
            if !self.ended.insert(job) {
                self.refused += 1;
                continue;
            }
            self.queue.remove(&job);
            worker.done += 1;
            if let Some((departure, _)) = departure {
                let is_used_up = before * 4 >= worker.credit.limit() as usize * 3;
                worker.credit.ended(departure, at, queued && is_used_up);
            }
        }
        while worker.at_work.len() < worker.threads
            && let Some(job) = worker.window.pop_front()
        {
            let takes = self.dice.between(worker.takes);
            worker.at_work.insert((self.now + takes, job));
        }
    }

    fn push(&mut self, number: usize, at: Duration) {
        let worker = &mut self.workers[number];
        let room = (worker.credit.limit() as usize).saturating_sub(worker.held.len() + worker.overdue.len());
        let jobs: Vec<u64> =
            self.queue.iter().filter(|job| !worker.overdue.contains_key(job)).take(room).copied().collect();
        for job in jobs {
            self.queue.remove(&job);
            worker.held.insert(job, (worker.credit.depart(at), self.now + self.timeout));
            worker.window.push_back(job);
            self.activations += 1;
        }
        worker.most = worker.most.max(worker.held.len() + worker.overdue.len());
        assert!(worker.held.len() <= worker.most);
    }

    fn run(&mut self, seconds: u64) -> u64 {
        let before = self.ended.len();
        let until = self.now + seconds * SECOND;
        while self.now < until {
            self.step();
        }
        (self.ended.len() - before) as u64
    }
}

#[test]
fn a_frozen_worker_is_steady_within_seconds_without_duplicates() {
    // 228 jobs per second at the most; 150 come.
    let mut world = World::new(150.0, 10);
    let worker = world.join(8, (0.02, 0.05));
    world.run(30);
    world.workers[worker].frozen_until = world.now + 15 * SECOND;
    world.run(15);
    assert!(world.timeouts <= 64, "{} timeouts", world.timeouts);
    let timeouts = world.timeouts;
    // From the first seconds on it does what it can.
    let done = world.run(10);
    assert!(done >= 2050, "{done} in ten seconds, of which it can do 2280");
    world.run(40);
    assert!(world.queue.len() <= 64, "{} wait", world.queue.len());
    assert_eq!((world.refused, world.timeouts), (0, timeouts));
}

#[test]
fn slow_jobs_are_not_piled_up_and_a_second_worker_brings_what_it_can() {
    let mut world = World::new(100.0, 10);
    let first = world.join(32, (1.0, 5.0));
    world.run(30);
    let alone = world.run(60);
    let second = world.join(32, (1.0, 5.0));
    world.run(30);
    let both = world.run(60);
    assert!(both * 10 >= alone * 18, "{alone} by one, {both} by two");
    world.run(300);
    for worker in [first, second] {
        assert!(world.workers[worker].most <= 64, "{} at a worker of 32", world.workers[worker].most);
    }
    assert!(
        world.activations * 100 <= (world.ended.len() as u64 + 96) * 102,
        "{} activations",
        world.activations
    );
}

#[test]
fn a_large_worker_gets_what_it_can_do() {
    let mut world = World::new(1000.0, 60);
    let worker = world.join(200, (1.0, 3.0));
    world.run(120);
    let done = world.run(60);
    assert!(
        done >= 5400,
        "{done} of the 6000 that it can do, credit {}",
        world.workers[worker].credit.limit()
    );
    world.run(600);
    let most = world.workers[worker].most;
    assert!(most <= 400, "{most} at a worker of 200");
}

#[test]
fn a_fast_worker_is_not_held_back() {
    let mut world = World::new(100_000.0, 10);
    let worker = world.join(64, (0.003, 0.004));
    world.run(1);
    let credit = world.workers[worker].credit.limit();
    assert!(credit >= 128, "{credit} after a second");
    world.rate = 10_000.0;
    let done = world.run(2);
    assert!(done >= 30_000, "{done} of some 36,000 that it can do");
    assert!(world.workers[worker].credit.limit() <= 2000);
}

#[test]
fn a_worker_that_ends_nothing_gets_less_and_less() {
    let mut world = World::new(50.0, 5);
    let dead = world.join(0, (1.0, 1.0));
    world.run(11);
    assert_eq!(world.activations, 32 + 16, "its first credit, and half of it when its time was over twice");
    world.run(190);
    assert_eq!(world.workers[dead].credit.limit(), 1);
    assert!(world.activations <= 90, "{} activations", world.activations);
    // Nothing is lost: a worker that works gets all of it.
    let alive = world.join(32, (0.1, 0.1));
    world.rate = 0.0;
    world.run(120);
    assert!(
        world.workers[alive].done + 2 >= world.next_job,
        "{} of {}",
        world.workers[alive].done,
        world.next_job
    );
}

#[test]
fn a_worker_that_is_too_slow_for_its_credit_gets_no_more_than_it_can_do_in_time() {
    let mut world = World::new(10.0, 10);
    let worker = world.join(1, (2.0, 2.0));
    world.run(120);
    let timeouts = world.timeouts;
    world.run(300);
    assert!(world.workers[worker].credit.limit() <= 4, "{}", world.workers[worker].credit.limit());
    assert!(world.timeouts - timeouts <= 3, "{} timeouts in five minutes", world.timeouts - timeouts);
    assert!(world.workers[worker].done >= 150, "{} of 210", world.workers[worker].done);
}

#[test]
fn jobs_that_take_most_of_their_time_are_not_taken_for_waiting() {
    let mut world = World::new(100.0, 10);
    let worker = world.join(32, (7.5, 8.5));
    world.run(600);
    let credit = world.workers[worker].credit.limit();
    assert!((16..=48).contains(&credit), "{credit} at a worker of 32");
    assert!(world.workers[worker].done >= 1700, "{} of some 2400", world.workers[worker].done);
}

#[test]
fn hour_long_jobs_leave_the_credit_as_it_is() {
    let mut world = World::new(1.0, 7200);
    let worker = world.join(1000, (3600.0, 3600.0));
    world.run(4000);
    assert_eq!(world.timeouts, 0);
    assert!(world.workers[worker].credit.limit() >= 32);
}

#[test]
fn one_stuck_job_among_many_costs_no_credit() {
    let timeout = Duration::from_secs(10);
    let mut credit = Credit::new(32, 2000, timeout);
    let stuck = credit.depart(Duration::ZERO);
    for number in 1..=1000_u64 {
        let now = Duration::from_millis(number * 10);
        credit.ended(credit.depart(now), now + Duration::from_millis(100), false);
    }
    credit.timed_out(stuck, timeout);
    assert_eq!(credit.limit(), 32);
    // A flight that times out is one sign, not many.
    let flight: Vec<Departure> = (0..32).map(|_| credit.depart(timeout)).collect();
    for job in flight {
        credit.timed_out(job, timeout * 2);
    }
    assert_eq!(credit.limit(), 16);
}

#[test]
fn jobs_failed_for_want_of_room_bring_no_credit() {
    let mut credit = Credit::new(32, 2000, Duration::from_secs(10));
    let mut now = Duration::ZERO;
    for number in 0..10_000 {
        now += Duration::from_millis(1);
        let job = credit.depart(now);
        if number % 2 == 0 {
            credit.failed();
        } else {
            credit.ended(job, now + Duration::from_millis(5), true);
        }
    }
    assert_eq!(credit.limit(), 32);
}
