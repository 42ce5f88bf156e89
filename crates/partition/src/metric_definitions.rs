//! Metrics of a partition, under the names that dashboards know. Handles are made once.

use std::sync::OnceLock;
use std::time::Duration;

use engine::{Latencies, OutboxStatus};
use metrics::{Counter, Gauge, Histogram};
use protocol::{PartitionId, RejectionType};

mod figures;
mod labels;

use labels::Labels;

pub(crate) use figures::{
    Figures, HealthNode, NodeHealth, ProcessorPhase, PublishedSeries, partition_node, processor_node, publish,
};

/// Handles of the metrics that are touched per batch.
pub(crate) struct Metrics {
    commit_latency: Histogram,
    apply_latency: Histogram,
    batch_commands: Histogram,
    batches: Counter,
    dispatch_time: Histogram,
    replay_time: Histogram,
    command_latency: Histogram,
    proposed_commands: Histogram,
    proposed_kibibytes: Histogram,
    proposals: Gauge,
    received: Counter,
    admissions: [OnceLock<Counter>; Admission::ALL.len()],
    rejections: [(RejectionType, OnceLock<Counter>); RejectionType::ALL.len()],
    refused_early: Counter,
    instance_execution: Histogram,
    job_activation: Histogram,
    job_life: Histogram,
    label: Labels,
}

impl Metrics {
    /// Metrics of a partition.
    pub fn new(partition: PartitionId) -> Self {
        let label = Labels::of(partition);
        Self {
            commit_latency: label.histogram("zeebe_log_appender_commit_latency_seconds"),
            apply_latency: label.histogram("zeebe_stream_processor_batch_processing_duration_seconds"),
            batch_commands: label.histogram("zeebe_stream_processor_batch_processing_commands"),
            batches: label.counter("baton_log_entries_total"),
            dispatch_time: label
                .histogram("zeebe_stream_processor_batch_processing_post_commit_tasks_seconds"),
            replay_time: label.histogram("zeebe_replay_event_batch_replay_duration_seconds"),
            command_latency: label.histogram("zeebe_stream_processor_latency_seconds"),
            proposed_commands: label.histogram("zeebe_sequencer_batch_size"),
            proposed_kibibytes: label.histogram("zeebe_sequencer_batch_length_bytes"),
            proposals: label.gauge("zeebe_backpressure_inflight_append_count"),
            received: label.counter("zeebe_received_request_count_total"),
            admissions: [const { OnceLock::new() }; Admission::ALL.len()],
            rejections: RejectionType::ALL.map(|kind| (kind, OnceLock::new())),
            refused_early: label.counter("baton_commands_refused_before_log_total"),
            instance_execution: label.histogram("zeebe_process_instance_execution_time_seconds"),
            job_activation: label.histogram("zeebe_job_activation_time_seconds"),
            job_life: label.histogram("zeebe_job_life_time_seconds"),
            label,
        }
    }

    /// Counts a batch that was applied.
    pub fn batch(&self, commands: usize, commit: Duration, apply: Duration) {
        self.batches.increment(1);
        self.batch_commands.record(commands as f64);
        self.commit_latency.record(commit);
        self.apply_latency.record(apply);
    }

    /// Notes how long it took to hand out answers, records and jobs of an entry.
    pub fn dispatched(&self, took: Duration) {
        self.dispatch_time.record(took);
    }

    /// Counts an entry that was applied again, or while another broker leads.
    pub fn replayed(&self, took: Duration) {
        self.replay_time.record(took);
    }

    /// Notes the time from the admission of a client's command until the engine has it.
    pub fn reached_engine(&self, took: Duration) {
        self.command_latency.record(took);
    }

    /// Counts a batch on its way into the log.
    pub fn proposed(&self, commands: usize, bytes: usize) {
        self.proposed_commands.record(commands as f64);
        // Dashboards take it for KiB, whatever the name says.
        self.proposed_kibibytes.record(bytes as f64 / 1024.0);
    }

    /// Sets the number of entries on their way.
    pub fn under_way(&self, entries: usize) {
        self.proposals.set(entries as f64);
    }

    /// Counts a command from a client.
    pub fn received(&self) {
        self.received.increment(1);
    }

    /// Counts a command that flow control admitted or refused.
    pub fn admitted(&self, admission: Admission) {
        let (context, outcome) = admission.labels();
        let counter =
            || self.label.and("context", context).and("outcome", outcome).counter("zeebe_flow_control_total");
        self.admissions[admission as usize].get_or_init(counter).increment(1);
    }

    /// How long instances and jobs took.
    pub fn latencies(&self, latencies: &Latencies) {
        let record = |histogram: &Histogram, all: &[i64]| {
            for &took_ms in all {
                histogram.record(took_ms as f64 / 1000.0);
            }
        };
        record(&self.instance_execution, &latencies.instance_execution_ms);
        record(&self.job_activation, &latencies.job_activation_ms);
        record(&self.job_life, &latencies.job_life_ms);
    }

    /// Counts a rejected command.
    pub fn rejected(&self, kind: RejectionType) {
        // Never by number: this runs while a batch is applied, where a mistake would end the partition.
        if let Some((_, counter)) = self.rejections.iter().find(|(known, _)| *known == kind) {
            let made = || self.label.and("type", kind.as_str()).counter("baton_rejected_commands_total");
            counter.get_or_init(made).increment(1);
        }
    }

    /// Counts a command that this broker refused.
    pub fn refused(&self, cause: &'static str) {
        self.label.and("cause", cause).counter("baton_refused_commands_total").increment(1);
    }

    /// Notes how many entries may be on their way at a time.
    pub fn proposals_max(&self, entries: usize) {
        self.label.gauge("zeebe_backpressure_append_limit").set(entries as f64);
    }

    /// Notes how long the start took: opening and reading the log, and applying what the state lacked.
    pub fn started(&self, took: Duration) {
        // Dashboards show the one in milliseconds and the other in seconds.
        self.label.gauge("atomix_partition_server_startup_time").set(took.as_secs_f64() * 1000.0);
        self.label.gauge("zeebe_stream_processor_startup_recovery_time").set(took.as_secs_f64());
    }

    /// Notes the time from becoming leader until ready for commands.
    pub fn leads_after(&self, took: Duration) {
        self.label.gauge("zeebe_leader_transition_latency").set(took.as_secs_f64());
    }

    /// Sets how many messages to other partitions wait, how old the oldest is, and how many of theirs had no effect
    /// here.
    pub fn outbox(&self, channels: &[OutboxStatus], now_ms: i64) {
        for channel in channels {
            let label = self.label.and("target", channel.target.to_string());
            let age_ms = channel.since_ms.map_or(0, |since_ms| now_ms - since_ms);
            label.gauge("baton_outbox_messages").set(channel.depth as f64);
            label.gauge("baton_outbox_age_seconds").set(age_ms.max(0) as f64 / 1000.0);
            label.counter("baton_inbox_failed_messages_total").absolute(channel.failed);
        }
    }

    /// Counts a command that was rejected without an entry of the log.
    pub fn refused_early(&self, kind: RejectionType) {
        self.rejected(kind);
        self.refused_early.increment(1);
    }
}

/// Answers of flow control.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Admission {
    Accepted,
    /// A command of the broker itself.
    OwnAccepted,
    NoPlace,
    TooFast,
}

impl Admission {
    const ALL: [Self; 4] = [Self::Accepted, Self::OwnAccepted, Self::NoPlace, Self::TooFast];

    /// Context and outcome, as dashboards know them.
    fn labels(self) -> (&'static str, &'static str) {
        match self {
            Self::Accepted => ("userCommand", "accepted"),
            Self::OwnAccepted => ("internal", "accepted"),
            Self::NoPlace => ("userCommand", "requestLimitExhausted"),
            Self::TooFast => ("userCommand", "writeRateLimitExhausted"),
        }
    }
}

/// Metrics of flushes, which dashboards know as snapshots.
pub(crate) struct FlushMetrics {
    count: Counter,
    duration: Histogram,
}

impl FlushMetrics {
    /// Metrics of a partition.
    pub fn new(partition: PartitionId) -> Self {
        let labels = Labels::of(partition).and("bootstrap", "false");
        Self {
            count: labels.counter("zeebe_snapshot_count_total"),
            duration: labels.histogram("zeebe_snapshot_duration_seconds"),
        }
    }

    /// Notes a flush of state.
    pub fn flushed(&self, took: Duration) {
        self.count.increment(1);
        self.duration.record(took);
    }
}

/// The time for which the latest snapshot of a partition has kept space in the state file, seconds.
pub(crate) fn snapshot_pinned(partition: PartitionId) -> Gauge {
    Labels::of(partition).gauge("baton_snapshot_pinned_seconds")
}
