//! Figures that the broker publishes about itself each second.

use std::sync::atomic::Ordering;
use std::time::Instant;

use parking_lot::Mutex;

use super::{Health, Node};
use crate::data_directory::state_file;
use crate::exporting;
use crate::metric_definitions::{
    Figures, HealthNode, NodeHealth, PARTITION_NODE, PROCESSOR_NODE, ProcessorPhase, PublishedSeries, publish,
};

/// Memory from one time to the next.
#[derive(Default)]
pub(super) struct Published {
    series: PublishedSeries,
    /// When it was, and the position of the last record then.
    written: Mutex<Option<(Instant, u64)>>,
}

impl Published {
    /// Records a second since the last time.
    fn rate(&self, now: Instant, position: u64) -> f64 {
        let before = self.written.lock().replace((now, position));
        let Some((since, from)) = before else { return 0.0 };
        position.saturating_sub(from) as f64 / now.duration_since(since).as_secs_f64().max(0.001)
    }
}

impl Node {
    pub(super) fn publish(&self) {
        if let Some(exports) = &self.shared.exports {
            exports.publish();
            self.write_limit.observe(exporting::exported(exports));
        }
        // After a load, no entry may come for a while that would have them counted.
        if let Some(engine) = self.engine.try_lock() {
            self.shared.count(&engine);
        }
        let counters = self.shared.counters.lock().clone();
        let tally = self.shared.tally.lock().clone();
        let rows = self.shared.rows.lock().clone();
        let (pushed, push_failed) = self.shared.demand.counts();
        // Before the position: entries that are applied meanwhile must not seem to wait.
        let group = self.group.metrics();
        let position = self.shared.position.load(Ordering::Acquire);
        let rate = self.published.rate(Instant::now(), position);
        let write_limit = self.write_limit.status();
        let health = self.health();
        let figures = Figures {
            counters: &counters,
            tally: &tally,
            rows: &rows,
            flow_control: self.flow_control.status(),
            load: write_limit.limit.map(|limit| rate / limit.max(1.0)),
            write_limit,
            free_disk_bytes: self.disk.free_bytes(),
            state_bytes: std::fs::metadata(state_file(&self.options.data_dir)).ok().map(|file| file.len()),
            streams: self.shared.demand.streams(),
            pushed,
            push_failed,
            job_types: &self.shared.demand.job_types(),
            position,
            durable_index: self.shared.durable_index(),
            group,
            lacking: self.group.lacking(),
            log: self.log.stats(),
            queued: self.requests.max_capacity() - self.requests.capacity(),
            phase: self.phase(),
            health: &self.health_nodes(&health),
            clock_ahead_ms: self.router.as_ref().map(|router| router.links.clock.ahead_ms()),
            diverged: self.shared.digests.difference().is_some(),
        };
        publish(&figures, &self.published.series);
    }

    fn is_engine_well(&self) -> bool {
        self.slow_batch().is_none() && self.shared.digests.difference().is_none() && self.failure().is_none()
    }

    fn phase(&self) -> ProcessorPhase {
        if !self.is_engine_well() {
            ProcessorPhase::Failed
        } else if self.is_processing_paused() {
            ProcessorPhase::Paused
        } else if self.leads() {
            ProcessorPhase::Processing
        } else {
            ProcessorPhase::Replay
        }
    }

    /// The health of each part. A whole is as its worst part.
    fn health_nodes(&self, health: &Health) -> Vec<HealthNode> {
        let state = |is_well: bool| if is_well { NodeHealth::Healthy } else { NodeHealth::Unhealthy };
        let broker = format!("Broker-{}", self.options.node_id);
        let is_dead = self.failure().is_some();
        let processor = if is_dead { NodeHealth::Dead } else { state(self.is_engine_well()) };
        let parts = [
            (
                "RaftPartition-1",
                state(self.log.failure().is_none() && self.group.role().borrow().has_leader()),
            ),
            (PROCESSOR_NODE, processor),
            ("SnapshotDirector-1", state(health.flush.is_ok())),
            ("Exporter-1", state(self.exporting().is_none_or(|status| is_exporting(&status)))),
        ];
        // Exporters and flushes may fail for a while: the partition serves meanwhile.
        let partition = if is_dead { NodeHealth::Dead } else { state(health.partition.is_ok()) };
        let disk = state(health.disk.is_ok());
        let whole = parts.iter().map(|(_, state)| *state).chain([partition, disk]).min().unwrap_or(partition);
        let in_broker =
            |id: &str, state| HealthNode { id: id.to_owned(), path: format!("{broker}/{id}"), state };
        let mut nodes = vec![
            HealthNode { id: broker.clone(), path: broker.clone(), state: whole },
            in_broker("DiskSpace", disk),
            in_broker(PARTITION_NODE, partition),
        ];
        nodes.extend(parts.map(|(id, state)| HealthNode {
            id: id.to_owned(),
            path: format!("{broker}/{PARTITION_NODE}/{id}"),
            state,
        }));
        nodes
    }
}

fn is_exporting(status: &export::Status) -> bool {
    status.exporters.iter().all(|exporter| exporter.failure.is_none())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn records_a_second_are_those_since_the_last_time() {
        let (published, began) = (Published::default(), Instant::now());
        assert!(published.rate(began, 1000) < 1.0, "nobody knows when they were written");
        assert!((published.rate(began + Duration::from_secs(2), 1500) - 250.0).abs() < 1e-9);
        assert!(published.rate(began + Duration::from_secs(3), 1500) < 1e-9);
    }
}
