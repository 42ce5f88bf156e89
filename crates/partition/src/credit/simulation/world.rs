//! Workers with threads, a stream that pushes what its credit allows, and polls beside it. Times are in microseconds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::super::{Credit, Departure};

pub const SECOND: u64 = 1_000_000;

/// A stream asks when a quarter of its credit is free, or after this time.
const IDLE_MAX: u64 = SECOND / 10;
/// A poll beside a stream is served when the stream has had no credit for so long.
const POLL_PATIENCE: u64 = SECOND;

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

/// A worker behind a stream.
pub struct Worker {
    pub credit: Credit,
    pub threads: usize,
    takes: (f64, f64),
    pub frozen_until: u64,
    /// Jobs in its window, the oldest first.
    window: VecDeque<u64>,
    /// When each job at work is done.
    at_work: BTreeSet<(u64, u64)>,
    /// Streamed jobs with the right to them: when delivered, and the deadline.
    held: BTreeMap<u64, (Departure, u64)>,
    /// Without: when given up.
    overdue: BTreeMap<u64, u64>,
    pub done: u64,
    /// Jobs that it had at one time, at the most.
    pub most: usize,
    /// Since when there is room that was not worth a batch.
    idle_since: Option<u64>,
    /// Jobs done when it was last pushed to.
    seen: u64,
    polls: Option<Polls>,
}

/// Polls of a worker beside its stream. They ask for as many jobs as it has threads when few of the last are left.
#[derive(Default)]
struct Polls {
    /// Jobs that wait for a thread, the oldest first. They take turns with those of the stream.
    window: VecDeque<u64>,
    /// Jobs that have not ended.
    held: BTreeSet<u64>,
    exhausted: Option<u64>,
    is_next: bool,
}

impl Worker {
    /// The job that gets the next thread.
    fn next(&mut self) -> Option<u64> {
        let Some(polls) = &mut self.polls else { return self.window.pop_front() };
        polls.is_next = !polls.is_next;
        if polls.is_next {
            polls.window.pop_front().or_else(|| self.window.pop_front())
        } else {
            self.window.pop_front().or_else(|| polls.window.pop_front())
        }
    }

    fn note_most(&mut self) {
        let polled = self.polls.as_ref().map_or(0, |polls| polls.held.len());
        self.most = self.most.max(self.held.len() + self.overdue.len() + polled);
    }
}

/// A queue of jobs and those who work on it.
pub struct World {
    pub now: u64,
    dice: Dice,
    timeout: u64,
    /// Jobs that arrive per second.
    pub rate: f64,
    arrived: f64,
    pub next_job: u64,
    pub queue: BTreeSet<u64>,
    pub ended: BTreeSet<u64>,
    pub workers: Vec<Worker>,
    pub activations: u64,
    pub refused: u64,
    pub timeouts: u64,
}

impl World {
    pub fn new(rate: f64, timeout_s: u64) -> Self {
        Self::of_seed(11, rate, timeout_s)
    }

    pub fn of_seed(seed: u64, rate: f64, timeout_s: u64) -> Self {
        Self {
            now: 0,
            dice: Dice(seed),
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

    pub fn join(&mut self, threads: usize, takes: (f64, f64)) -> usize {
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
            idle_since: None,
            seen: 0,
            polls: None,
        });
        self.workers.len() - 1
    }

    /// A worker that polls beside its stream, as the Java client's does.
    pub fn join_with_polls(&mut self, threads: usize, takes: (f64, f64)) -> usize {
        let number = self.join(threads, takes);
        self.workers[number].polls = Some(Polls::default());
        number
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
            self.poll(number);
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
            if let Some(polls) = &mut worker.polls {
                polls.held.remove(&job);
            }
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
            && let Some(job) = worker.next()
        {
            let takes = self.dice.between(worker.takes);
            worker.at_work.insert((self.now + takes, job));
        }
    }

    fn push(&mut self, number: usize, at: Duration) {
        let worker = &mut self.workers[number];
        let limit = worker.credit.limit() as usize;
        let room = limit.saturating_sub(worker.held.len() + worker.overdue.len());
        if let Some(polls) = &mut worker.polls {
            let now = self.now;
            let is_worked_off = worker.held.len() > limit && worker.seen != worker.done;
            polls.exhausted = (room == 0).then(|| polls.exhausted.filter(|_| !is_worked_off).unwrap_or(now));
            worker.seen = worker.done;
        }
        let is_idle = self.now - *worker.idle_since.get_or_insert(self.now) >= IDLE_MAX;
        if room == 0 || (room * 4 < limit && !is_idle) {
            if room == 0 {
                worker.idle_since = None;
            }
            return;
        }
        worker.idle_since = None;
        let jobs: Vec<u64> =
            self.queue.iter().filter(|job| !worker.overdue.contains_key(job)).take(room).copied().collect();
        for job in jobs {
            self.queue.remove(&job);
            worker.held.insert(job, (worker.credit.depart(at), self.now + self.timeout));
            worker.window.push_back(job);
            self.activations += 1;
        }
        worker.note_most();
    }

    /// A poll is served when its stream has had no credit for a second.
    fn poll(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        let Some(polls) = &mut worker.polls else { return };
        let is_served = polls.exhausted.is_some_and(|since| self.now - since >= POLL_PATIENCE);
        if !is_served || polls.held.len() * 10 > worker.threads * 3 {
            return;
        }
        for _ in polls.held.len()..worker.threads {
            let Some(job) = self.queue.pop_first() else { break };
            polls.held.insert(job);
            polls.window.push_back(job);
            self.activations += 1;
        }
        worker.note_most();
    }

    pub fn run(&mut self, seconds: u64) -> u64 {
        let before = self.ended.len();
        let until = self.now + seconds * SECOND;
        while self.now < until {
            self.step();
        }
        (self.ended.len() - before) as u64
    }
}
