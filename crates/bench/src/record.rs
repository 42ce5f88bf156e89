//! Recording of a running measurement: latency histograms, counters, and one row per second.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use parking_lot::{Mutex, MutexGuard};

use crate::histograms::Histograms;
use crate::latency::{Latency, histogram};
use crate::report::Second;

/// Threads rarely meet at one of so many shards.
const SHARDS: usize = 4;
/// Kinds of errors told apart; more become `OTHER`.
const ERROR_KINDS_MAX: usize = 50;

struct Shard {
    request: Histogram<u64>,
    execution: Histogram<u64>,
    request_second: Histogram<u64>,
    execution_second: Histogram<u64>,
}

/// Collects from all tasks. Only instances meant to start within the measured window enter the histograms.
pub(crate) struct Recorder {
    shards: [Mutex<Shard>; SHARDS],
    turn: AtomicUsize,
    epoch: Instant,
    /// The measured window, nanoseconds after the epoch.
    from_nanos: AtomicU64,
    to_nanos: AtomicU64,
    pub(crate) created: AtomicU64,
    pub(crate) completed: AtomicU64,
    failed: AtomicU64,
    /// Creations that may have taken effect without an answer.
    open: AtomicU64,
    errors: Mutex<Errors>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Errors {
    /// The server said no.
    pub(crate) rejections: BTreeMap<String, u64>,
    /// No or no readable answer.
    pub(crate) failures: BTreeMap<String, u64>,
}

/// Counters at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) created: u64,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        let shard = || Shard {
            request: histogram(),
            execution: histogram(),
            request_second: histogram(),
            execution_second: histogram(),
        };
        Self {
            shards: std::array::from_fn(|_| Mutex::new(shard())),
            turn: AtomicUsize::new(0),
            epoch: Instant::now(),
            from_nanos: AtomicU64::new(u64::MAX),
            to_nanos: AtomicU64::new(u64::MAX),
            created: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            open: AtomicU64::new(0),
            errors: Mutex::default(),
        }
    }

    /// From now on it counts.
    pub(crate) fn open_window(&self) {
        self.from_nanos.store(self.nanos(Instant::now()), Ordering::Relaxed);
    }

    /// Requests that start from now on are not counted.
    pub(crate) fn close_window(&self) {
        self.to_nanos.store(self.nanos(Instant::now()), Ordering::Relaxed);
    }

    /// Nanoseconds since this recorder was made.
    pub(crate) fn nanos(&self, moment: Instant) -> u64 {
        moment.saturating_duration_since(self.epoch).as_nanos() as u64
    }

    fn counts_nanos(&self, intended_nanos: u64) -> bool {
        (self.from_nanos.load(Ordering::Relaxed)..self.to_nanos.load(Ordering::Relaxed))
            .contains(&intended_nanos)
    }

    /// A creation was answered.
    pub(crate) fn request(&self, intended: Instant, answered: Instant) {
        self.created.fetch_add(1, Ordering::Relaxed);
        let micros = micros(answered.saturating_duration_since(intended));
        let counts = self.counts_nanos(self.nanos(intended));
        let mut shard = self.shard();
        shard.request_second.saturating_record(micros);
        if counts {
            shard.request.saturating_record(micros);
        }
    }

    /// An instance ended: the completion of its last job was answered.
    pub(crate) fn execution(&self, intended_nanos: u64, ended_nanos: u64) {
        self.completed.fetch_add(1, Ordering::Relaxed);
        let micros = (ended_nanos.saturating_sub(intended_nanos) / 1000).max(1);
        let counts = self.counts_nanos(intended_nanos);
        let mut shard = self.shard();
        shard.execution_second.saturating_record(micros);
        if counts {
            shard.execution.saturating_record(micros);
        }
    }

    /// A creation did not succeed, or its answer was lost.
    pub(crate) fn not_created(&self, error: &client::Error) {
        self.open.fetch_add(u64::from(error.is_open()), Ordering::Relaxed);
        self.error(error);
    }

    /// Creations whose answer was lost.
    pub(crate) fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// A request did not succeed.
    pub(crate) fn error(&self, error: &client::Error) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        if self.from_nanos.load(Ordering::Relaxed) == u64::MAX {
            return;
        }
        let mut errors = lock(&self.errors);
        let kinds = match error {
            client::Error::Problem { .. } | client::Error::Grpc { .. } => &mut errors.rejections,
            _ => &mut errors.failures,
        };
        let kind = error.kind();
        let kind = if kinds.len() < ERROR_KINDS_MAX || kinds.contains_key(&kind) {
            kind
        } else {
            "OTHER".to_owned()
        };
        *kinds.entry(kind).or_default() += 1;
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            created: self.created.load(Ordering::Relaxed),
            completed: self.completed.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn errors(&self) -> Errors {
        lock(&self.errors).clone()
    }

    /// Closes a second: latencies since the last call, and the difference of the counters.
    pub(crate) fn second(&self, second: f64, length: Duration, before: Counts, now: Counts) -> Second {
        let (mut request, mut execution) = (histogram(), histogram());
        for shard in &self.shards {
            let mut shard = lock(shard);
            take(&mut request, &mut shard.request_second);
            take(&mut execution, &mut shard.execution_second);
        }
        let seconds = length.as_secs_f64().max(1e-9);
        let quantile =
            |histogram: &Histogram<u64>, at| (!histogram.is_empty()).then(|| histogram.value_at_quantile(at));
        Second {
            second,
            created_per_second: (now.created - before.created) as f64 / seconds,
            completed_per_second: (now.completed - before.completed) as f64 / seconds,
            failed_per_second: (now.failed - before.failed) as f64 / seconds,
            request_p50_micros: quantile(&request, 0.5),
            request_p99_micros: quantile(&request, 0.99),
            execution_p50_micros: quantile(&execution, 0.5),
            execution_p99_micros: quantile(&execution, 0.99),
        }
    }

    /// Latency of requests and of whole instances within the measured window.
    pub(crate) fn latencies(&self) -> (Option<Latency>, Option<Latency>) {
        let (request, execution) = self.whole();
        (Latency::of(&request), Latency::of(&execution))
    }

    /// Histograms of the latency of requests and of whole instances within the measured window.
    pub(crate) fn histograms(&self) -> Histograms {
        let (request, execution) = self.whole();
        Histograms::of(&request, &execution)
    }

    fn whole(&self) -> (Histogram<u64>, Histogram<u64>) {
        let (mut request, mut execution) = (histogram(), histogram());
        for shard in &self.shards {
            let shard = lock(shard);
            request.add(&shard.request).expect("all histograms have the same bounds");
            execution.add(&shard.execution).expect("all histograms have the same bounds");
        }
        (request, execution)
    }

    fn shard(&self) -> MutexGuard<'_, Shard> {
        lock(&self.shards[self.turn.fetch_add(1, Ordering::Relaxed) % SHARDS])
    }
}

fn take(total: &mut Histogram<u64>, part: &mut Histogram<u64>) {
    if !part.is_empty() {
        total.add(&*part).expect("all histograms have the same bounds");
        part.reset();
    }
}

fn micros(duration: Duration) -> u64 {
    (duration.as_micros() as u64).max(1)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_window_counts() {
        let recorder = Recorder::new();
        let start = recorder.epoch;
        let at = |millis| start + Duration::from_millis(millis);
        recorder.request(at(0), at(1));
        recorder.from_nanos.store(recorder.nanos(at(10)), Ordering::Relaxed);
        recorder.to_nanos.store(recorder.nanos(at(20)), Ordering::Relaxed);
        for intended in 10..20 {
            recorder.request(at(intended), at(intended + 2));
            recorder.execution(recorder.nanos(at(intended)), recorder.nanos(at(intended + 50)));
        }
        recorder.request(at(20), at(25));
        let (request, execution) = recorder.latencies();
        let (request, execution) = (request.unwrap(), execution.unwrap());
        assert_eq!((request.count, execution.count), (10, 10));
        assert!((1998..=2002).contains(&request.p99_micros), "{}", request.p99_micros);
        assert!((49_950..=50_050).contains(&execution.p50_micros), "{}", execution.p50_micros);
        assert_eq!(recorder.counts(), Counts { created: 12, completed: 10, failed: 0 });
    }

    #[test]
    fn a_second_is_closed_once() {
        let recorder = Recorder::new();
        recorder.request(recorder.epoch, recorder.epoch + Duration::from_millis(3));
        let now = recorder.counts();
        let second = recorder.second(1.0, Duration::from_millis(500), Counts::default(), now);
        assert!((second.created_per_second - 2.0).abs() < 1e-9);
        assert!(second.request_p50_micros.is_some());
        assert_eq!(recorder.second(2.0, Duration::from_secs(1), now, now).request_p50_micros, None);
    }

    #[test]
    fn errors_by_kind_once_it_counts() {
        let recorder = Recorder::new();
        let busy = client::Error::Problem {
            status: 503,
            title: "RESOURCE_EXHAUSTED".to_owned(),
            detail: String::new(),
            code: String::new(),
        };
        let broken = client::Error::Broken {
            address: String::new(),
            fault: client::ConnectFault::Other,
            reason: String::new(),
        };
        recorder.error(&busy);
        recorder.open_window();
        recorder.error(&busy);
        recorder.error(&broken);
        let errors = recorder.errors();
        assert_eq!(errors.rejections, BTreeMap::from([("RESOURCE_EXHAUSTED".to_owned(), 1)]));
        assert_eq!(errors.failures, BTreeMap::from([("BROKEN_CONNECTION".to_owned(), 1)]));
        assert_eq!(recorder.counts().failed, 3);
    }
}
