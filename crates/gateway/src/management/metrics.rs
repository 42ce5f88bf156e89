//! The recorder behind every metric of the process, and its text for Prometheus.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use tokio_util::sync::CancellationToken;

use super::{help, process};

/// How often samples are folded into their buckets; what is not folded yet is kept one by one.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);
/// Buckets of requests, the default of times: from some 100 µs to a poll that waits.
const REQUESTS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0];
/// Buckets of what is done for one entry of the log.
const STEPS: [f64; 13] =
    [0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];
/// Buckets of the lives of process instances and jobs, and of the age of records: a millisecond to a day.
const LIVES: [f64; 15] =
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 15.0, 60.0, 300.0, 1800.0, 10_800.0, 86_400.0];
/// The beginnings of the names of such metrics.
const OF_STEPS: [&str; 6] = [
    "atomix_append_entries_latency",
    "atomix_journal_",
    "zeebe_log_appender_",
    "zeebe_replay_",
    "zeebe_stream_processor_batch_processing_duration",
    "zeebe_stream_processor_batch_processing_post_commit_tasks",
];
const OF_LIVES: [&str; 4] =
    ["zeebe_process_instance_", "zeebe_job_life_", "zeebe_job_activation_", "zeebe_exporting_latency"];
/// Buckets of counts, such as commands per batch.
const COUNTS: [f64; 12] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0];
/// Buckets of the sizes of batches, which dashboards take for KiB, whatever the name says.
const KIB: [f64; 9] = [0.25, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16_384.0];

/// The metrics of this process.
#[derive(Clone)]
pub struct Metrics(Arc<PrometheusHandle>);

/// A recorder is there already.
#[derive(Debug, thiserror::Error)]
#[error("a recorder of metrics is installed already")]
pub struct InstallError;

impl Metrics {
    /// Becomes the recorder of the whole process. To be called once, before any component resolves its handles.
    pub fn install() -> Result<Self, InstallError> {
        let (recorder, metrics) = Self::recorder();
        metrics::set_global_recorder(recorder).map_err(|_| InstallError)?;
        Ok(metrics)
    }

    /// A recorder that nobody records with yet.
    pub fn recorder() -> (PrometheusRecorder, Self) {
        let suffix = |text: &str| Matcher::Suffix(text.to_owned());
        let of_steps = OF_STEPS.map(|prefix| (prefix, &STEPS[..]));
        let of_lives = OF_LIVES.map(|prefix| (prefix, &LIVES[..]));
        // The beginning of a name is more than its unit at the end.
        let builder = of_steps.into_iter().chain(of_lives).try_fold(
            PrometheusBuilder::new(),
            |builder, (prefix, buckets)| {
                builder.set_buckets_for_metric(Matcher::Prefix(prefix.to_owned()), buckets)
            },
        );
        let builder = builder
            .and_then(|b| b.set_buckets_for_metric(suffix("_seconds"), &REQUESTS))
            .and_then(|b| b.set_buckets_for_metric(suffix("_bytes"), &KIB))
            .and_then(|b| b.set_buckets_for_metric(suffix("_size"), &COUNTS))
            .and_then(|b| b.set_buckets_for_metric(suffix("_commands"), &COUNTS))
            .expect("the lists of buckets are not empty");
        let recorder = builder.build_recorder();
        help::describe(&recorder);
        let handle = recorder.handle();
        (recorder, Self(Arc::new(handle)))
    }

    /// Keeps the memory of the recorder bounded until `shutdown`.
    pub async fn keep(self, shutdown: CancellationToken) {
        let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                _ = ticks.tick() => self.0.run_upkeep(),
            }
        }
    }

    /// All metrics, those of the process included.
    pub fn render(&self) -> String {
        let mut text = without_empty_histograms(&self.0.render());
        process::write(&mut text);
        text
    }
}

/// The text without the histograms that have no sample yet, which are most of the lines of a server just started.
fn without_empty_histograms(text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    for family in text.split_inclusive("\n\n") {
        let head = family.split_inclusive('\n').take_while(|line| line.starts_with('#'));
        let head_bytes = head.clone().map(str::len).sum();
        if !head.clone().any(|line| line.ends_with(" histogram\n")) {
            rest.push_str(family);
            continue;
        }
        let (head, series) = family.split_at(head_bytes);
        let begin = rest.len();
        rest.push_str(head);
        let kept_from = rest.len();
        let mut lines = String::new();
        for line in series.split_inclusive('\n') {
            lines.push_str(line);
            // The count is the last line of a series.
            let name = line.split(['{', ' ']).next().unwrap_or_default();
            if name.ends_with("_count") {
                if !line.ends_with(" 0\n") {
                    rest.push_str(&lines);
                }
                lines.clear();
            }
        }
        if rest.len() == kept_from {
            rest.truncate(begin);
        } else {
            rest.push('\n');
        }
    }
    rest
}

/// `/actuator/prometheus` and `/metrics`.
pub(super) async fn scrape(State(metrics): State<Metrics>) -> Response {
    let media_type = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, media_type)], metrics.render()).into_response()
}
