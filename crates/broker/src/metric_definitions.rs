//! Metrics of a partition, under the names that dashboards know. Handles are made once.

use std::sync::OnceLock;
use std::time::Duration;

use engine::Latencies;
use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use protocol::RejectionType;

mod figures;

use figures::PARTITION;

pub(crate) use figures::{Figures, HealthNode, NodeHealth, ProcessorPhase, PublishedSeries, publish};

/// Parts of the broker that have a health, as dashboards know them.
pub(crate) const PARTITION_NODE: &str = "Partition-1";
pub(crate) const PROCESSOR_NODE: &str = "StreamProcessor-1";

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
}

impl Metrics {
    pub fn new() -> Self {
        Self {
            commit_latency: histogram!("zeebe_log_appender_commit_latency_seconds", &[PARTITION]),
            apply_latency: histogram!(
                "zeebe_stream_processor_batch_processing_duration_seconds",
                &[PARTITION]
            ),
            batch_commands: histogram!("zeebe_stream_processor_batch_processing_commands", &[PARTITION]),
            batches: counter!("baton_log_entries_total", &[PARTITION]),
            dispatch_time: histogram!(
                "zeebe_stream_processor_batch_processing_post_commit_tasks_seconds",
                &[PARTITION]
            ),
            replay_time: histogram!("zeebe_replay_event_batch_replay_duration_seconds", &[PARTITION]),
            command_latency: histogram!("zeebe_stream_processor_latency_seconds", &[PARTITION]),
            proposed_commands: histogram!("zeebe_sequencer_batch_size", &[PARTITION]),
            proposed_kibibytes: histogram!("zeebe_sequencer_batch_length_bytes", &[PARTITION]),
            proposals: gauge!("zeebe_backpressure_inflight_append_count", &[PARTITION]),
            received: counter!("zeebe_received_request_count_total", &[PARTITION]),
            admissions: [const { OnceLock::new() }; Admission::ALL.len()],
            rejections: RejectionType::ALL.map(|kind| (kind, OnceLock::new())),
            refused_early: counter!("baton_commands_refused_before_log_total", &[PARTITION]),
            instance_execution: histogram!("zeebe_process_instance_execution_time_seconds", &[PARTITION]),
            job_activation: histogram!("zeebe_job_activation_time_seconds", &[PARTITION]),
            job_life: histogram!("zeebe_job_life_time_seconds", &[PARTITION]),
        }
    }

    /// A batch was applied.
    pub fn batch(&self, commands: usize, commit: Duration, apply: Duration) {
        self.batches.increment(1);
        self.batch_commands.record(commands as f64);
        self.commit_latency.record(commit);
        self.apply_latency.record(apply);
    }

    /// Answers, records and jobs of an entry are handed out.
    pub fn dispatched(&self, took: Duration) {
        self.dispatch_time.record(took);
    }

    /// An entry was applied again, or what another broker leads in.
    pub fn replayed(&self, took: Duration) {
        self.replay_time.record(took);
    }

    /// A command of a client came to the engine, so long after it was taken on.
    pub fn reached_engine(&self, took: Duration) {
        self.command_latency.record(took);
    }

    /// A batch is on its way into the log.
    pub fn proposed(&self, commands: usize, bytes: usize) {
        self.proposed_commands.record(commands as f64);
        // Dashboards take it for KiB, whatever the name says.
        self.proposed_kibibytes.record(bytes as f64 / 1024.0);
    }

    /// So many entries are on their way.
    pub fn under_way(&self, entries: usize) {
        self.proposals.set(entries as f64);
    }

    /// A client has sent a command.
    pub fn received(&self) {
        self.received.increment(1);
    }

    /// A command was taken on, or not.
    pub fn admitted(&self, admission: Admission) {
        let (context, outcome) = admission.labels();
        let counter =
            || counter!("zeebe_flow_control_total", &[PARTITION, ("context", context), ("outcome", outcome)]);
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

    /// A command was rejected.
    pub fn rejected(&self, kind: RejectionType) {
        // Never by number: this runs while a batch is applied, where a mistake would end the partition.
        if let Some((_, counter)) = self.rejections.iter().find(|(known, _)| *known == kind) {
            let made = || counter!("baton_rejected_commands_total", &[PARTITION, ("type", kind.as_str())]);
            counter.get_or_init(made).increment(1);
        }
    }

    /// A command was rejected without an entry of the log.
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

/// A command was not taken on.
pub(crate) fn refused(cause: &'static str) {
    counter!("baton_refused_commands_total", "partition" => "1", "cause" => cause).increment(1);
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

/// The time for which the latest snapshot has kept space in the state file.
pub(crate) fn snapshot_pinned(time: Duration) {
    partition_gauge("baton_snapshot_pinned_seconds").set(time.as_secs_f64());
}

fn partition_gauge(name: &'static str) -> Gauge {
    gauge!(name, &[PARTITION])
}

/// Entries that may be on their way at a time.
pub(crate) fn proposals_max(entries: usize) {
    partition_gauge("zeebe_backpressure_append_limit").set(entries as f64);
}

/// The log was opened and read, and what the state lacked was applied again.
pub(crate) fn started(took: Duration) {
    // Dashboards show the one in milliseconds and the other in seconds.
    partition_gauge("atomix_partition_server_startup_time").set(took.as_secs_f64() * 1000.0);
    partition_gauge("zeebe_stream_processor_startup_recovery_time").set(took.as_secs_f64());
}

/// A new leader is ready for commands, so long after it has become one.
pub(crate) fn leads_after(took: Duration) {
    partition_gauge("zeebe_leader_transition_latency").set(took.as_secs_f64());
}

/// State was written to disk, which is what a snapshot is elsewhere.
pub(crate) fn state_written(took: Duration) {
    let labels = [PARTITION, ("bootstrap", "false")];
    counter!("zeebe_snapshot_count_total", &labels).increment(1);
    histogram!("zeebe_snapshot_duration_seconds", &labels).record(took);
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
