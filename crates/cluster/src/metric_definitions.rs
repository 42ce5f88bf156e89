//! Metrics of snapshots on their way, under the names that dashboards know.

use metrics::{Gauge, counter, gauge};

/// The partition that has snapshots.
const PARTITION: (&str, &str) = ("partition", "1");

fn partition_gauge(name: &'static str) -> Gauge {
    gauge!(name, &[PARTITION])
}

/// Events of snapshots between brokers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SnapshotEvent {
    Sent,
    Received,
    /// One goes on after a lost connection.
    Resumed,
    /// One that arrived is not what it was to be.
    Refused,
}

pub(crate) fn snapshot_event(event: SnapshotEvent) {
    let name = match event {
        SnapshotEvent::Sent => "sent",
        SnapshotEvent::Received => "received",
        SnapshotEvent::Resumed => "resumed",
        SnapshotEvent::Refused => "refused",
    };
    counter!("baton_snapshots_total", &[PARTITION, ("event", name)]).increment(1);
}

/// Bytes of the snapshot under way that are still to be sent.
pub(crate) fn snapshot_to_send(bytes: u64) {
    partition_gauge("baton_snapshot_bytes_to_send").set(bytes as f64);
}

/// A snapshot from another broker. It counts as under way until this is dropped.
pub(crate) struct SnapshotArrival(std::time::Instant);

impl SnapshotArrival {
    pub fn begin() -> Self {
        partition_gauge("atomix_snapshot_replication_count").increment(1.0);
        Self(std::time::Instant::now())
    }
}

impl Drop for SnapshotArrival {
    fn drop(&mut self) {
        partition_gauge("atomix_snapshot_replication_count").decrement(1.0);
        let took_ms = self.0.elapsed().as_secs_f64() * 1000.0;
        partition_gauge("atomix_snapshot_replication_duration_milliseconds").set(took_ms);
    }
}
