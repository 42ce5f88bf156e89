//! Metrics of exporting, under the names that dashboards know.

use std::time::Duration;

use metrics::{Counter, Histogram, SharedString, counter, gauge, histogram};
use protocol::{PartitionId, ValueType};

use crate::batch::{Chunk, now_ms};
use crate::phase::Phase;
use crate::status::Status;

/// Handles of the metrics of one exporter that are touched per chunk.
pub(crate) struct ExporterMetrics {
    partition: SharedString,
    exporter: SharedString,
    latency: Histogram,
    /// Calls that failed, counted.
    pub failures: Counter,
    /// By the number of the value type; made when first needed.
    events: Vec<Option<Counter>>,
}

impl ExporterMetrics {
    pub fn new(partition: PartitionId, exporter: &str) -> Self {
        let partition = SharedString::from(partition.to_string());
        let exporter = SharedString::from(exporter.to_owned());
        let labels = [("partition", partition.clone()), ("exporter", exporter.clone())];
        Self {
            latency: histogram!("zeebe_exporting_latency_seconds", &labels),
            failures: counter!("baton_exporter_failures_total", &labels),
            partition,
            exporter,
            events: vec![],
        }
    }

    /// An exporter took a chunk.
    pub fn exported(&mut self, chunk: &Chunk) {
        let age_ms = now_ms().saturating_sub(chunk.appended_ms);
        self.latency.record(Duration::from_millis(age_ms));
        for of_one_type in chunk.records().chunk_by(|a, b| a.value.value_type() == b.value.value_type()) {
            let value_type = of_one_type[0].value.value_type();
            self.events(value_type).increment(of_one_type.len() as u64);
        }
    }

    fn events(&mut self, value_type: ValueType) -> &Counter {
        let number = value_type as usize;
        if self.events.len() <= number {
            self.events.resize(number + 1, None);
        }
        let (partition, exporter) = (&self.partition, &self.exporter);
        self.events[number].get_or_insert_with(|| {
            let labels = [
                ("partition", partition.clone()),
                ("action", SharedString::const_str("exported")),
                ("exporter", exporter.clone()),
                ("valueType", SharedString::const_str(value_type.as_str())),
            ];
            counter!("zeebe_exporter_events_total", &labels)
        })
    }
}

/// Publishes how exporting is.
pub(crate) fn publish(partition: PartitionId, status: &Status, parked: impl Fn(&str) -> u64) {
    let partition = partition.to_string();
    let state = match status.phase {
        Phase::Exporting => 0.0,
        Phase::Paused => 1.0,
        Phase::SoftPaused => 2.0,
    };
    gauge!("zeebe_exporter_state", "partition" => partition.clone()).set(state);
    gauge!("baton_exporter_memory_bytes", "partition" => partition.clone()).set(status.memory_bytes as f64);
    gauge!("baton_exporter_spill_bytes", "partition" => partition.clone()).set(status.spill_bytes as f64);
    for exporter in &status.exporters {
        let labels = [("partition", partition.clone()), ("exporter", exporter.id.clone())];
        gauge!("zeebe_exporter_last_exported_position", &labels).set(exporter.exported_position as f64);
        gauge!("zeebe_exporter_last_updated_exported_position", &labels)
            .set(exporter.acknowledged_position as f64);
        gauge!("baton_exporter_backlog_records", &labels).set(exporter.backlog_records as f64);
        gauge!("baton_exporter_backlog_seconds", &labels).set(exporter.backlog.as_secs_f64());
        gauge!("baton_exporter_parked_records", &labels).set(parked(&exporter.id) as f64);
        gauge!("baton_exporter_enabled", &labels).set(f64::from(u8::from(exporter.enabled)));
        gauge!("baton_exporter_failing", &labels).set(f64::from(u8::from(exporter.failure.is_some())));
    }
}
