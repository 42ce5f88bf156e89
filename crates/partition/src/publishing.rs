//! Figures that a partition publishes about itself each second.

use std::time::Instant;

use data_directory::state_file;

use crate::exporting;
use crate::metric_definitions::{
    Figures, HealthNode, NodeHealth, ProcessorPhase, partition_node, processor_node, publish,
};
use crate::partition::{Health, Partition};

impl Partition {
    /// Publishes its figures, and how healthy it is. `clock_ahead_ms`: how far this clock is ahead of the others'.
    pub fn publish(&self, health: &Health, is_dead: bool, clock_ahead_ms: Option<i64>) {
        if let Some(exports) = self.exports() {
            exports.publish();
            self.write_limit.observe(exporting::exported(exports));
        }
        // After a load, no entry may come for a while that would have them counted.
        if let Some(engine) = self.engine.try_lock() {
            self.shared.counts.look(&engine);
        }
        self.look_at_outbox();
        let (kept, tally) = (self.shared.counts.kept(), self.shared.counts.tally());
        let (pushed, push_failed) = self.shared.demand.counts();
        // Before the position: entries that are applied meanwhile must not seem to wait.
        let group = self.group.metrics();
        let position = self.shared.applied.position();
        let rate = self.published.rate(Instant::now(), position);
        let write_limit = self.write_limit.status();
        let figures = Figures {
            partition: self.number(),
            counters: &kept.counters,
            tally: &tally,
            rows: &kept.rows,
            flow_control: self.flow_control.status(),
            load: write_limit.limit.map(|limit| rate / limit.max(1.0)),
            write_limit,
            free_disk_bytes: self.disk.free_bytes(),
            state_bytes: std::fs::metadata(state_file(&self.options.data_dir, self.number()))
                .ok()
                .map(|file| file.len()),
            streams: self.shared.demand.streams(),
            pushed,
            push_failed,
            job_types: &self.shared.demand.job_types(),
            position,
            durable_index: self.shared.flush.durable_index(),
            group,
            lacking: self.group.lacking(),
            log: self.log.stats(),
            queued: self.requests.max_capacity() - self.requests.capacity(),
            phase: self.phase(is_dead),
            health: &self.health_nodes(health, is_dead),
            clock_ahead_ms,
            diverged: self.shared.digests.difference().is_some(),
        };
        publish(&figures, &self.published.series);
    }

    fn is_engine_well(&self, is_dead: bool) -> bool {
        self.slow_batch().is_none() && self.shared.digests.difference().is_none() && !is_dead
    }

    fn phase(&self, is_dead: bool) -> ProcessorPhase {
        if !self.is_engine_well(is_dead) {
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
    fn health_nodes(&self, health: &Health, is_dead: bool) -> Vec<HealthNode> {
        let state = |is_well: bool| if is_well { NodeHealth::Healthy } else { NodeHealth::Unhealthy };
        let (number, broker) = (self.number(), format!("Broker-{}", self.options.node_id));
        let processor = if is_dead { NodeHealth::Dead } else { state(self.is_engine_well(is_dead)) };
        let parts = [
            (
                format!("RaftPartition-{number}"),
                state(self.log.failure().is_none() && self.group.role().borrow().has_leader()),
            ),
            (processor_node(number), processor),
            (format!("SnapshotDirector-{number}"), state(health.flush.is_ok())),
            (
                format!("Exporter-{number}"),
                state(self.exports().is_none_or(|exports| is_exporting(&exports.status()))),
            ),
        ];
        // Exporters and flushes may fail for a while: the partition serves meanwhile.
        let partition = if is_dead { NodeHealth::Dead } else { state(health.partition.is_ok()) };
        let disk = state(health.disk.is_ok());
        let whole = parts.iter().map(|(_, state)| *state).chain([partition, disk]).min().unwrap_or(partition);
        let in_broker =
            |id: &str, state| HealthNode { id: id.to_owned(), path: format!("{broker}/{id}"), state };
        let partition_node = partition_node(number);
        let mut nodes = vec![
            HealthNode { id: broker.clone(), path: broker.clone(), state: whole },
            in_broker("DiskSpace", disk),
            in_broker(&partition_node, partition),
        ];
        nodes.extend(parts.map(|(id, state)| HealthNode {
            path: format!("{broker}/{partition_node}/{id}"),
            id,
            state,
        }));
        nodes
    }
}

fn is_exporting(status: &export::Status) -> bool {
    status.exporters.iter().all(|exporter| exporter.failure.is_none())
}
