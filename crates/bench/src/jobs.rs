//! The work of a worker: it takes its time for a job, then completes it, or fails it now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use client::{Job, JobHandler, Outcome};

use crate::{Options, record::Recorder, track::Tracker};

/// Completes jobs and tells the tracker.
pub(crate) struct Completer {
    tracker: Arc<Tracker>,
    recorder: Arc<Recorder>,
    result: Option<&'static str>,
    /// The shortest and the longest work.
    work: (Duration, Duration),
    error_rate: f64,
    handled: AtomicU64,
}

impl Completer {
    pub(crate) fn new(options: &Options, tracker: &Arc<Tracker>, result: Option<&'static str>) -> Self {
        Self {
            tracker: Arc::clone(tracker),
            recorder: tracker.recorder(),
            result,
            work: (options.worker_delay, options.longest_work()),
            error_rate: options.worker_error_rate,
            handled: AtomicU64::new(0),
        }
    }

    /// A number from 0 to 1, spread evenly over those that follow each other.
    fn chance(&self) -> f64 {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        (self.handled.fetch_add(1, Ordering::Relaxed) as f64 * GOLDEN).fract()
    }

    fn length(&self, key: i64) -> Duration {
        let (shortest, longest) = self.work;
        let part = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        shortest + longest.saturating_sub(shortest).mul_f64(part as f64 / 65536.0)
    }
}

impl JobHandler for Completer {
    async fn handle(&self, job: &Job) -> Outcome {
        let length = self.length(job.key);
        if !length.is_zero() {
            tokio::time::sleep(length).await;
        }
        if self.error_rate > 0.0 && self.chance() < self.error_rate {
            // It keeps its tries: no incident comes of it.
            let message = "the load generator fails a part of the jobs".to_owned();
            return Outcome::Fail { retries: job.retries, message, backoff: Duration::ZERO };
        }
        Outcome::Complete(self.result.map(str::to_owned))
    }

    fn reported(&self, job: &Job, result: Result<(), &client::Error>) {
        match result {
            Ok(()) => self.tracker.job_done(job.process_instance_key),
            Err(error) => self.recorder.error(error),
        }
    }
}
