//! Metrics of a partition, under the names that dashboards know. Handles are made once.

use std::sync::Arc;
use std::time::Duration;

use bpmn::graph::ElementType;
use engine::{Counters, ElementAction, JobAction, Latencies};
use metrics::{Counter, Gauge, Histogram, Label, SharedString, counter, gauge, histogram};
use protocol::RejectionType;

use crate::demand::JobTypes;
use crate::flow_control::FlowControlStatus;
use crate::write_limit::WriteLimitStatus;

const PARTITION: (&str, &str) = ("partition", "1");

/// Handles of the metrics that are touched per batch.
pub(crate) struct Metrics {
    commit_latency: Histogram,
    apply_latency: Histogram,
    batch_commands: Histogram,
    batches: Counter,
    rejections: [(RejectionType, Counter); RejectionType::ALL.len()],
    refused_early: Counter,
    instance_execution: Histogram,
    job_activation: Histogram,
    job_life: Histogram,
}

impl Metrics {
    pub fn new() -> Self {
        let rejection = |kind: RejectionType| counter!("baton_rejected_commands_total", "partition" => "1", "type" => kind.as_str());
        Self {
            commit_latency: histogram!("zeebe_log_appender_commit_latency_seconds", &[PARTITION]),
            apply_latency: histogram!(
                "zeebe_stream_processor_batch_processing_duration_seconds",
                &[PARTITION]
            ),
            batch_commands: histogram!("zeebe_stream_processor_batch_processing_commands", &[PARTITION]),
            batches: counter!("baton_log_entries_total", &[PARTITION]),
            rejections: RejectionType::ALL.map(|kind| (kind, rejection(kind))),
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
            counter.increment(1);
        }
    }

    /// A command was rejected without an entry of the log.
    pub fn refused_early(&self, kind: RejectionType) {
        self.rejected(kind);
        self.refused_early.increment(1);
    }
}

/// Figures that are read when somebody looks.
pub(crate) struct Figures<'a> {
    pub counters: &'a Counters,
    pub flow_control: FlowControlStatus,
    pub write_limit: WriteLimitStatus,
    pub free_disk_bytes: Option<u64>,
    pub streams: usize,
    pub pushed: u64,
    pub push_failed: u64,
    pub job_types: &'a JobTypes,
    pub position: u64,
    pub committed_index: u64,
    pub appended_index: u64,
    pub purged_index: u64,
    pub durable_index: u64,
    pub healthy: bool,
    /// Whether the state differs from the leader's.
    pub diverged: bool,
    /// In a cluster.
    pub clock_ahead_ms: Option<i64>,
    /// Rows of the tables of the state.
    pub rows: &'a [(&'static str, u64)],
}

fn partition_gauge(name: &'static str) -> Gauge {
    gauge!(name, &[PARTITION])
}

fn partition_counter(name: &'static str, value: u64) {
    counter!(name, &[PARTITION]).absolute(value);
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

/// Publishes what happens to the jobs of each type.
fn publish_job_types(types: &JobTypes) {
    for (job_type, figures) in types.iter() {
        let labels =
            || vec![Label::from(&PARTITION), Label::new("type", SharedString::from(Arc::clone(&job_type.0)))];
        gauge!("baton_job_stream_credit", labels()).set(figures.credit as f64);
        gauge!("baton_job_stream_outstanding", labels()).set(figures.outstanding as f64);
        gauge!("baton_job_stream_overdue", labels()).set(figures.overdue as f64);
        counter!("baton_jobs_streamed_total", labels()).absolute(figures.streamed);
        counter!("baton_jobs_polled_total", labels()).absolute(figures.polled);
        counter!("baton_job_stream_timeouts_total", labels()).absolute(figures.timed_out);
        counter!("baton_job_answers_refused_total", labels()).absolute(figures.refused);
    }
}

pub(crate) fn publish(figures: &Figures) {
    let counters = figures.counters;
    for &element_type in ElementType::ALL {
        for (action, name) in [
            (ElementAction::Activated, "activated"),
            (ElementAction::Completed, "completed"),
            (ElementAction::Terminated, "terminated"),
        ] {
            let count = counters.element(element_type, action);
            if count > 0 {
                let labels = [PARTITION, ("action", name), ("type", element_type.as_str())];
                counter!("zeebe_element_instance_events_total", &labels).absolute(count);
            }
        }
    }
    for (action, name) in JobAction::ALL {
        let labels = [PARTITION, ("action", name), ("job_kind", "BPMN_ELEMENT")];
        counter!("zeebe_job_events_total", &labels).absolute(counters.jobs[action as usize]);
    }
    for (name, count) in [("created", counters.incidents_created), ("resolved", counters.incidents_resolved)]
    {
        counter!("zeebe_incident_events_total", &[PARTITION, ("action", name)]).absolute(count);
    }
    for (name, count) in [("evaluated", counters.decisions_evaluated), ("failed", counters.decisions_failed)]
    {
        counter!("baton_decision_evaluations_total", &[PARTITION, ("action", name)]).absolute(count);
    }
    partition_counter("zeebe_banned_instances_total", counters.banned_instances);
    partition_counter("baton_engine_commands_total", counters.commands);
    partition_counter("baton_engine_steps_total", counters.steps);
    partition_counter("zeebe_broker_jobs_pushed_count_total", figures.pushed);
    partition_counter("zeebe_broker_jobs_push_fail_count_total", figures.push_failed);
    partition_gauge("zeebe_broker_open_job_stream_count").set(figures.streams as f64);
    publish_job_types(figures.job_types);
    let flow = &figures.flow_control;
    partition_gauge("zeebe_backpressure_requests_limit").set(flow.limit as f64);
    partition_gauge("zeebe_backpressure_inflight_requests_count").set(flow.in_flight as f64);
    partition_gauge("baton_flow_control_waiting").set(flow.waiting as f64);
    partition_counter("zeebe_dropped_request_count_total", flow.rejected);
    let write = &figures.write_limit;
    partition_gauge("zeebe_flow_control_write_rate_limit").set(write.limit.unwrap_or(0.0));
    partition_gauge("zeebe_flow_control_write_rate_maximum").set(write.options.limit as f64);
    partition_gauge("zeebe_flow_control_exporting_rate").set(write.exporting_rate);
    partition_gauge("baton_flow_control_write_waiting").set(write.waiting as f64);
    if let Some(free_bytes) = figures.free_disk_bytes {
        gauge!("baton_disk_free_bytes").set(free_bytes as f64);
    }
    partition_gauge("zeebe_stream_processor_last_processed_position").set(figures.position as f64);
    partition_gauge("zeebe_log_appender_last_committed_position").set(figures.committed_index as f64);
    partition_gauge("zeebe_log_appender_last_appended_position").set(figures.appended_index as f64);
    let kept = figures.appended_index.saturating_sub(figures.purged_index);
    partition_gauge("baton_log_entries_kept").set(kept as f64);
    partition_gauge("baton_state_durable_index").set(figures.durable_index as f64);
    for &(table, rows) in figures.rows {
        gauge!("baton_state_rows", &[PARTITION, ("table", table)]).set(rows as f64);
        match table {
            "incidents" => partition_gauge("zeebe_pending_incidents_total").set(rows as f64),
            "messages" => partition_gauge("zeebe_buffered_messages_count").set(rows as f64),
            _ => {}
        }
    }
    if let Some(ahead_ms) = figures.clock_ahead_ms {
        gauge!("baton_clock_ahead_seconds").set(ahead_ms as f64 / 1000.0);
    }
    partition_gauge("baton_replica_diverged").set(f64::from(u8::from(figures.diverged)));
    partition_gauge("zeebe_health").set(f64::from(u8::from(figures.healthy)));
}
