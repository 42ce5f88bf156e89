//! Metrics of the exporter of records, under the names that dashboards know.

use std::time::Duration;

use metrics::{Counter, Histogram, SharedString, counter, histogram};
use protocol::PartitionId;

/// Handles of the metrics of one exporter.
pub(crate) struct BulkMetrics {
    duration: Histogram,
    size: Histogram,
    failed: Counter,
}

impl BulkMetrics {
    pub fn new(partition: PartitionId) -> Self {
        let labels = [("partition", SharedString::from(partition.to_string()))];
        Self {
            duration: histogram!("zeebe_elasticsearch_exporter_flush_duration_seconds", &labels),
            size: histogram!("zeebe_elasticsearch_exporter_bulk_size", &labels),
            failed: counter!("zeebe_elasticsearch_exporter_failed_flush_total", &labels),
        }
    }

    pub fn sent(&self, count: usize, took: Duration, is_done: bool) {
        self.duration.record(took);
        self.size.record(count as f64);
        if !is_done {
            self.failed.increment(1);
        }
    }
}
