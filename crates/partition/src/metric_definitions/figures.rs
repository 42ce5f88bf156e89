//! Figures that are published each second.

use std::collections::BTreeSet;
use std::sync::Arc;

use bpmn::graph::{ElementType, EventType};
use engine::{Counters, ElementAction, JobAction};
use metrics::{SharedString, gauge};
use parking_lot::Mutex;
use protocol::PartitionId;
use replication::{GroupMetrics, LogStats, Role};

use super::labels::Labels;
use crate::demand::JobTypes;
use crate::flow_control::FlowControlStatus;
use crate::tally::Tally;
use crate::write_limit::WriteLimitStatus;

const ACTIONS: [(ElementAction, &str); 3] = [
    (ElementAction::Activated, "activated"),
    (ElementAction::Completed, "completed"),
    (ElementAction::Terminated, "terminated"),
];

/// The name of a partition among the parts of a broker that have a health, as dashboards know it.
pub(crate) fn partition_node(partition: PartitionId) -> String {
    format!("Partition-{partition}")
}

/// The name of the engine of a partition, as dashboards know it.
pub(crate) fn processor_node(partition: PartitionId) -> String {
    format!("StreamProcessor-{partition}")
}

/// Figures of a partition at one moment.
pub(crate) struct Figures<'a> {
    pub partition: PartitionId,
    pub counters: &'a Counters,
    pub tally: &'a Tally,
    pub flow_control: FlowControlStatus,
    pub write_limit: WriteLimitStatus,
    /// Records a second that are written, of what may be; `None` without a limit.
    pub load: Option<f64>,
    pub free_disk_bytes: Option<u64>,
    pub state_bytes: Option<u64>,
    pub streams: usize,
    pub pushed: u64,
    pub push_failed: u64,
    pub job_types: &'a JobTypes,
    pub position: u64,
    pub durable_index: u64,
    pub group: GroupMetrics,
    /// Entries that other replicas lack, by their numbers, if this one leads.
    pub lacking: Vec<(u64, u64)>,
    pub log: LogStats,
    /// Commands between flow control and the proposer.
    pub queued: usize,
    pub phase: ProcessorPhase,
    pub health: &'a [HealthNode],
    /// Whether the state differs from the leader's.
    pub diverged: bool,
    /// In a cluster.
    pub clock_ahead_ms: Option<i64>,
    /// Rows of the tables of the state.
    pub rows: &'a [(&'static str, u64)],
}

/// Phases of the partition's processing, by the numbers that dashboards know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessorPhase {
    Replay = 1,
    Processing = 2,
    Failed = 3,
    Paused = 4,
}

/// A part of the broker that has a health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HealthNode {
    pub id: String,
    /// Owners of the part, and the part itself.
    pub path: String,
    pub state: NodeHealth,
}

/// By the numbers that dashboards know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodeHealth {
    Dead = -2,
    Unhealthy = -1,
    Healthy = 1,
}

/// Series that were published once, and go on being when there is nothing of them any more.
#[derive(Debug, Default)]
pub(crate) struct PublishedSeries {
    tables: Mutex<BTreeSet<&'static str>>,
    followers: Mutex<BTreeSet<u64>>,
}

fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

pub(crate) fn publish(figures: &Figures, series: &PublishedSeries) {
    let label = Labels::of(figures.partition);
    publish_processes(&label, figures.counters);
    publish_processing(&label, figures);
    publish_jobs(&label, figures);
    publish_limits(&label, figures);
    publish_raft(&label, figures, series);
    publish_state(&label, figures, series);
    publish_health(&label, figures);
}

/// Counts of what processes did. Nothing that has not happened yet has a series.
fn publish_processes(label: &Labels, counters: &Counters) {
    for (action, name) in ACTIONS {
        for &element_type in ElementType::ALL {
            for &event_type in EventType::ALL {
                let count = counters.element(element_type, event_type, action);
                if count > 0 {
                    let labels = label
                        .and("action", name)
                        .and("type", element_type.as_str())
                        .and("eventType", event_type.as_str());
                    labels.counter("zeebe_element_instance_events_total").absolute(count);
                }
            }
        }
        let count = counters.roots(action);
        if count > 0 {
            let labels =
                label.and("action", name).and("type", "ROOT_PROCESS_INSTANCE").and("organizationId", "null");
            labels.counter("zeebe_executed_instances_total").absolute(count);
        }
    }
    for (name, count) in [("created", counters.incidents_created), ("resolved", counters.incidents_resolved)]
    {
        label.and("action", name).counter("zeebe_incident_events_total").absolute(count);
    }
    for (name, count) in [("evaluated", counters.decisions_evaluated), ("failed", counters.decisions_failed)]
    {
        if count > 0 {
            label.and("action", name).counter("baton_decision_evaluations_total").absolute(count);
        }
    }
    for (name, count) in [
        ("evaluated_successfully", counters.decision_elements_evaluated),
        ("evaluated_failed", counters.decision_elements_failed),
    ] {
        if count > 0 {
            let labels = label.and("action", name).and("organizationId", "null");
            labels.counter("zeebe_evaluated_dmn_elements_total").absolute(count);
        }
    }
    label.counter("zeebe_banned_instances_total").absolute(counters.banned_instances);
}

/// Counts of the way of commands through the engine.
fn publish_processing(label: &Labels, figures: &Figures) {
    let (counters, tally) = (figures.counters, figures.tally);
    label.counter("baton_engine_commands_total").absolute(counters.commands);
    label.counter("baton_engine_steps_total").absolute(counters.steps);
    for (action, count) in
        [("processed", tally.processed), ("written", tally.written), ("skipped", tally.skipped)]
    {
        if count > 0 {
            let labels = label.and("action", action).and("processor", processor_node(figures.partition));
            labels.counter("zeebe_stream_processor_records_total").absolute(count);
        }
    }
    for (value_type, intent, count) in tally.appended() {
        let labels = label
            .and("recordType", "EVENT")
            .and("valueType", value_type.as_str())
            .and("intent", intent.as_str());
        labels.counter("zeebe_log_appender_record_appended_total").absolute(count);
    }
    if let Some(position) = tally.replayed_position {
        label.counter("zeebe_replay_events_total").absolute(tally.replayed);
        label.gauge("zeebe_replay_last_source_position").set(position as f64);
    }
    label.gauge("zeebe_stream_processor_state").set(f64::from(figures.phase as u8));
    label.gauge("zeebe_stream_processor_last_processed_position").set(figures.position as f64);
    // Records get their positions when the engine has run: until then, each entry that waits counts as one.
    let behind = |index: u64| figures.position + index.saturating_sub(figures.group.applied_index);
    let (committed, appended) = (figures.group.committed_index, figures.group.last_log_index);
    label.gauge("zeebe_log_appender_last_committed_position").set(behind(committed) as f64);
    label.gauge("zeebe_log_appender_last_appended_position").set(behind(appended) as f64);
    label.gauge("zeebe_sequencer_queue_size").set(figures.queued as f64);
}

/// Counts of jobs, and what happens to those of each type.
fn publish_jobs(label: &Labels, figures: &Figures) {
    let mut streamed = 0;
    for (job_type, of_type) in figures.job_types.iter() {
        let labels = label.and("type", SharedString::from(Arc::clone(&job_type.0)));
        labels.gauge("baton_job_stream_credit").set(of_type.credit as f64);
        labels.gauge("baton_job_stream_outstanding").set(of_type.outstanding as f64);
        labels.gauge("baton_job_stream_overdue").set(of_type.overdue as f64);
        labels.counter("baton_jobs_streamed_total").absolute(of_type.streamed);
        labels.counter("baton_jobs_polled_total").absolute(of_type.polled);
        labels.counter("baton_job_stream_timeouts_total").absolute(of_type.timed_out);
        labels.counter("baton_job_answers_refused_total").absolute(of_type.refused);
        streamed += of_type.streamed;
    }
    let counted = JobAction::ALL.map(|(action, name)| (name, figures.counters.jobs[action as usize]));
    // From the start: alerts look for the increase of some.
    for (name, count) in counted.into_iter().chain([("pushed", streamed)]) {
        let labels = label.and("action", name).and("job_kind", "BPMN_ELEMENT");
        labels.counter("zeebe_job_events_total").absolute(count);
    }
    label.counter("zeebe_broker_jobs_pushed_count_total").absolute(figures.pushed);
    label.counter("zeebe_broker_jobs_push_fail_count_total").absolute(figures.push_failed);
    label.gauge("zeebe_broker_open_job_stream_count").set(figures.streams as f64);
}

fn publish_limits(label: &Labels, figures: &Figures) {
    let flow = &figures.flow_control;
    label.gauge("zeebe_backpressure_requests_limit").set(flow.limit as f64);
    label.gauge("zeebe_backpressure_inflight_requests_count").set(flow.in_flight as f64);
    label.gauge("baton_flow_control_waiting").set(flow.waiting as f64);
    label.counter("zeebe_dropped_request_count_total").absolute(flow.rejected);
    let write = &figures.write_limit;
    label.gauge("zeebe_flow_control_write_rate_limit").set(write.limit.unwrap_or(0.0));
    label.gauge("zeebe_flow_control_write_rate_maximum").set(write.options.limit as f64);
    label.gauge("zeebe_flow_control_exporting_rate").set(write.exporting_rate);
    label.gauge("zeebe_flow_control_partition_load").set(figures.load.map_or(0.0, |load| load * 100.0));
    label.gauge("baton_flow_control_write_waiting").set(write.waiting as f64);
    if let Some(free_bytes) = figures.free_disk_bytes {
        gauge!("baton_disk_free_bytes").set(free_bytes as f64);
    }
}

/// Figures of consensus and of the log.
fn publish_raft(label: &Labels, figures: &Figures, series: &PublishedSeries) {
    let of_group = Labels::of_group(figures.partition);
    let group = &figures.group;
    let (role, term) = match group.role {
        Role::Leader { term } => (3.0, Some(term)),
        Role::Follower { term, .. } if group.is_candidate => (2.0, Some(term)),
        Role::Follower { term, .. } => (1.0, Some(term)),
        Role::Unavailable => (0.0, None),
    };
    of_group.gauge("atomix_role").set(role);
    if let Some(term) = term {
        of_group.gauge("baton_raft_term").set(term as f64);
    }
    of_group.gauge("atomix_partition_raft_commit_index").set(group.committed_index as f64);
    of_group.gauge("atomix_partition_raft_append_index").set(group.last_log_index as f64);
    let not_committed = group.last_log_index.saturating_sub(group.committed_index);
    let leads = matches!(group.role, Role::Leader { .. });
    of_group.gauge("atomix_non_committed_entries").set(if leads { not_committed as f64 } else { 0.0 });
    let mut followers = series.followers.lock();
    followers.extend(figures.lacking.iter().map(|(follower, _)| *follower));
    for &follower in &*followers {
        // Without leadership, this broker does not know what others lack.
        let entries =
            figures.lacking.iter().find(|(other, _)| *other == follower).map_or(0, |(_, entries)| *entries);
        of_group
            .and("follower", follower.to_string())
            .gauge("atomix_non_replicated_entries")
            .set(entries as f64);
    }
    of_group.counter("atomix_commit_entries_rate_total").absolute(figures.tally.committed);
    label.gauge("atomix_segment_count").set(figures.log.files as f64);
    let kept = group.last_log_index.saturating_sub(group.purged_index);
    label.gauge("baton_log_entries_kept").set(kept as f64);
}

fn publish_state(label: &Labels, figures: &Figures, series: &PublishedSeries) {
    label.gauge("baton_state_durable_index").set(figures.durable_index as f64);
    if let Some(bytes) = figures.state_bytes {
        label.and("bootstrap", "false").gauge("zeebe_snapshot_size_bytes").set(bytes as f64);
    }
    let mut published = series.tables.lock();
    for &(table, rows) in figures.rows {
        if rows > 0 || published.contains(table) {
            published.insert(table);
            label.and("table", table).gauge("baton_state_rows").set(rows as f64);
        }
        match table {
            "incidents" => label.gauge("zeebe_pending_incidents_total").set(rows as f64),
            "messages" => label.gauge("zeebe_buffered_messages_count").set(rows as f64),
            _ => {}
        }
    }
}

fn publish_health(label: &Labels, figures: &Figures) {
    for node in figures.health {
        let labels = label.and("id", node.id.clone()).and("path", node.path.clone());
        labels.gauge("zeebe_broker_health_nodes").set(f64::from(node.state as i8));
    }
    if let Some(ahead_ms) = figures.clock_ahead_ms {
        gauge!("baton_clock_ahead_seconds").set(ahead_ms as f64 / 1000.0);
    }
    label.gauge("baton_replica_diverged").set(flag(figures.diverged));
    let id = partition_node(figures.partition);
    let partition = figures.health.iter().find(|node| node.id == id);
    let healthy = partition.is_some_and(|node| node.state == NodeHealth::Healthy);
    label.gauge("zeebe_health").set(flag(healthy));
}
