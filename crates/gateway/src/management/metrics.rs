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
/// Buckets of times: a request takes some 100 µs, a process instance may take an hour.
const SECONDS: [f64; 22] = [
    0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
    15.0, 30.0, 60.0, 300.0, 1800.0, 3600.0,
];
/// Buckets of counts, such as commands per batch.
const COUNTS: [f64; 12] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0];
const BYTES: [f64; 9] =
    [256.0, 1024.0, 4096.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0, 4_194_304.0, 16_777_216.0];

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
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(suffix("_seconds"), &SECONDS)
            .and_then(|b| b.set_buckets_for_metric(suffix("_bytes"), &BYTES))
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
        let mut text = self.0.render();
        process::write(&mut text);
        text
    }
}

/// `/actuator/prometheus` and `/metrics`.
pub(super) async fn scrape(State(metrics): State<Metrics>) -> Response {
    let media_type = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, media_type)], metrics.render()).into_response()
}
