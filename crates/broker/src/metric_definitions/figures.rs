//! Figures that are published each second.

use std::collections::BTreeSet;
use std::sync::Arc;

use bpmn::graph::{ElementType, EventType};
use engine::{Counters, ElementAction, JobAction};
use metrics::{Gauge, Label, SharedString, counter, gauge};
use parking_lot::Mutex;
use replication::{GroupMetrics, LogStats, Role};

use super::partition_gauge;
use crate::demand::JobTypes;
use crate::flow_control::FlowControlStatus;
use crate::tally::Tally;
use crate::write_limit::WriteLimitStatus;

/// There is one partition.
pub(super) const PARTITION: (&str, &str) = ("partition", "1");
/// The name that dashboards know for the groups of a broker.
const GROUPS: (&str, &str) = ("partitionGroupName", "raft-partition");
const ACTIONS: [(ElementAction, &str); 3] = [
    (ElementAction::Activated, "activated"),
    (ElementAction::Completed, "completed"),
    (ElementAction::Terminated, "terminated"),
];

pub(crate) struct Figures<'a> {
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

fn partition_counter(name: &'static str, value: u64) {
    counter!(name, &[PARTITION]).absolute(value);
}

fn group_gauge(name: &'static str) -> Gauge {
    gauge!(name, &[GROUPS, PARTITION])
}

fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

pub(crate) fn publish(figures: &Figures, series: &PublishedSeries) {
    publish_processes(figures.counters);
    publish_processing(figures);
    publish_jobs(figures);
    publish_limits(figures);
    publish_raft(figures, series);
    publish_state(figures, series);
    publish_health(figures);
}

/// Counts of what processes did. Nothing that has not happened yet has a series.
fn publish_processes(counters: &Counters) {
    for (action, name) in ACTIONS {
        for &element_type in ElementType::ALL {
            for &event_type in EventType::ALL {
                let count = counters.element(element_type, event_type, action);
                if count > 0 {
                    let labels = [
                        PARTITION,
                        ("action", name),
                        ("type", element_type.as_str()),
                        ("eventType", event_type.as_str()),
                    ];
                    counter!("zeebe_element_instance_events_total", &labels).absolute(count);
                }
            }
        }
        let count = counters.roots(action);
        if count > 0 {
            let labels = [
                PARTITION,
                ("action", name),
                ("type", "ROOT_PROCESS_INSTANCE"),
                // The compatible system knows an organization in its own cloud only, and has this elsewhere.
                ("organizationId", "null"),
            ];
            counter!("zeebe_executed_instances_total", &labels).absolute(count);
        }
    }
    for (name, count) in [("created", counters.incidents_created), ("resolved", counters.incidents_resolved)]
    {
        counter!("zeebe_incident_events_total", &[PARTITION, ("action", name)]).absolute(count);
    }
    for (name, count) in [("evaluated", counters.decisions_evaluated), ("failed", counters.decisions_failed)]
    {
        if count > 0 {
            counter!("baton_decision_evaluations_total", &[PARTITION, ("action", name)]).absolute(count);
        }
    }
    for (name, count) in [
        ("evaluated_successfully", counters.decision_elements_evaluated),
        ("evaluated_failed", counters.decision_elements_failed),
    ] {
        if count > 0 {
            let labels = [PARTITION, ("action", name), ("organizationId", "null")];
            counter!("zeebe_evaluated_dmn_elements_total", &labels).absolute(count);
        }
    }
    partition_counter("zeebe_banned_instances_total", counters.banned_instances);
}

/// Counts of the way of commands through the engine.
fn publish_processing(figures: &Figures) {
    let (counters, tally) = (figures.counters, figures.tally);
    partition_counter("baton_engine_commands_total", counters.commands);
    partition_counter("baton_engine_steps_total", counters.steps);
    for (action, count) in
        [("processed", tally.processed), ("written", tally.written), ("skipped", tally.skipped)]
    {
        if count > 0 {
            let labels = [PARTITION, ("action", action), ("processor", super::PROCESSOR_NODE)];
            counter!("zeebe_stream_processor_records_total", &labels).absolute(count);
        }
    }
    for (value_type, intent, count) in tally.appended() {
        let labels = [
            PARTITION,
            ("recordType", "EVENT"),
            ("valueType", value_type.as_str()),
            ("intent", intent.as_str()),
        ];
        counter!("zeebe_log_appender_record_appended_total", &labels).absolute(count);
    }
    if let Some(position) = tally.replayed_position {
        partition_counter("zeebe_replay_events_total", tally.replayed);
        partition_gauge("zeebe_replay_last_source_position").set(position as f64);
    }
    partition_gauge("zeebe_stream_processor_state").set(f64::from(figures.phase as u8));
    partition_gauge("zeebe_stream_processor_last_processed_position").set(figures.position as f64);
    // Records get their positions when the engine has run: until then, each entry that waits counts as one.
    let behind = |index: u64| figures.position + index.saturating_sub(figures.group.applied_index);
    let (committed, appended) = (figures.group.committed_index, figures.group.last_log_index);
    partition_gauge("zeebe_log_appender_last_committed_position").set(behind(committed) as f64);
    partition_gauge("zeebe_log_appender_last_appended_position").set(behind(appended) as f64);
    partition_gauge("zeebe_sequencer_queue_size").set(figures.queued as f64);
}

/// Counts of jobs, and what happens to those of each type.
fn publish_jobs(figures: &Figures) {
    let mut streamed = 0;
    for (job_type, of_type) in figures.job_types.iter() {
        let labels =
            || vec![Label::from(&PARTITION), Label::new("type", SharedString::from(Arc::clone(&job_type.0)))];
        gauge!("baton_job_stream_credit", labels()).set(of_type.credit as f64);
        gauge!("baton_job_stream_outstanding", labels()).set(of_type.outstanding as f64);
        gauge!("baton_job_stream_overdue", labels()).set(of_type.overdue as f64);
        counter!("baton_jobs_streamed_total", labels()).absolute(of_type.streamed);
        counter!("baton_jobs_polled_total", labels()).absolute(of_type.polled);
        counter!("baton_job_stream_timeouts_total", labels()).absolute(of_type.timed_out);
        counter!("baton_job_answers_refused_total", labels()).absolute(of_type.refused);
        streamed += of_type.streamed;
    }
    let counted = JobAction::ALL.map(|(action, name)| (name, figures.counters.jobs[action as usize]));
    // From the start: alerts look for the increase of some.
    for (name, count) in counted.into_iter().chain([("pushed", streamed)]) {
        let labels = [PARTITION, ("action", name), ("job_kind", "BPMN_ELEMENT")];
        counter!("zeebe_job_events_total", &labels).absolute(count);
    }
    partition_counter("zeebe_broker_jobs_pushed_count_total", figures.pushed);
    partition_counter("zeebe_broker_jobs_push_fail_count_total", figures.push_failed);
    partition_gauge("zeebe_broker_open_job_stream_count").set(figures.streams as f64);
}

fn publish_limits(figures: &Figures) {
    let flow = &figures.flow_control;
    partition_gauge("zeebe_backpressure_requests_limit").set(flow.limit as f64);
    partition_gauge("zeebe_backpressure_inflight_requests_count").set(flow.in_flight as f64);
    partition_gauge("baton_flow_control_waiting").set(flow.waiting as f64);
    partition_counter("zeebe_dropped_request_count_total", flow.rejected);
    let write = &figures.write_limit;
    partition_gauge("zeebe_flow_control_write_rate_limit").set(write.limit.unwrap_or(0.0));
    partition_gauge("zeebe_flow_control_write_rate_maximum").set(write.options.limit as f64);
    partition_gauge("zeebe_flow_control_exporting_rate").set(write.exporting_rate);
    partition_gauge("zeebe_flow_control_partition_load").set(figures.load.map_or(0.0, |load| load * 100.0));
    partition_gauge("baton_flow_control_write_waiting").set(write.waiting as f64);
    if let Some(free_bytes) = figures.free_disk_bytes {
        gauge!("baton_disk_free_bytes").set(free_bytes as f64);
    }
}

/// Figures of consensus and of the log.
fn publish_raft(figures: &Figures, series: &PublishedSeries) {
    let group = &figures.group;
    let (role, term) = match group.role {
        Role::Leader { term } => (3.0, Some(term)),
        Role::Follower { term, .. } if group.is_candidate => (2.0, Some(term)),
        Role::Follower { term, .. } => (1.0, Some(term)),
        Role::Unavailable => (0.0, None),
    };
    group_gauge("atomix_role").set(role);
    if let Some(term) = term {
        group_gauge("baton_raft_term").set(term as f64);
    }
    group_gauge("atomix_partition_raft_commit_index").set(group.committed_index as f64);
    group_gauge("atomix_partition_raft_append_index").set(group.last_log_index as f64);
    let not_committed = group.last_log_index.saturating_sub(group.committed_index);
    let leads = matches!(group.role, Role::Leader { .. });
    group_gauge("atomix_non_committed_entries").set(if leads { not_committed as f64 } else { 0.0 });
    let mut followers = series.followers.lock();
    followers.extend(figures.lacking.iter().map(|(follower, _)| *follower));
    for &follower in &*followers {
        // Without leadership, this broker does not know what others lack.
        let entries =
            figures.lacking.iter().find(|(other, _)| *other == follower).map_or(0, |(_, entries)| *entries);
        let labels =
            vec![Label::from(&GROUPS), Label::from(&PARTITION), Label::new("follower", follower.to_string())];
        gauge!("atomix_non_replicated_entries", labels).set(entries as f64);
    }
    counter!("atomix_commit_entries_rate_total", &[GROUPS, PARTITION]).absolute(figures.tally.committed);
    partition_gauge("atomix_segment_count").set(figures.log.files as f64);
    let kept = group.last_log_index.saturating_sub(group.purged_index);
    partition_gauge("baton_log_entries_kept").set(kept as f64);
}

fn publish_state(figures: &Figures, series: &PublishedSeries) {
    partition_gauge("baton_state_durable_index").set(figures.durable_index as f64);
    if let Some(bytes) = figures.state_bytes {
        gauge!("zeebe_snapshot_size_bytes", &[PARTITION, ("bootstrap", "false")]).set(bytes as f64);
    }
    let mut published = series.tables.lock();
    for &(table, rows) in figures.rows {
        if rows > 0 || published.contains(table) {
            published.insert(table);
            gauge!("baton_state_rows", &[PARTITION, ("table", table)]).set(rows as f64);
        }
        match table {
            "incidents" => partition_gauge("zeebe_pending_incidents_total").set(rows as f64),
            "messages" => partition_gauge("zeebe_buffered_messages_count").set(rows as f64),
            _ => {}
        }
    }
}

fn publish_health(figures: &Figures) {
    for node in figures.health {
        let labels = vec![
            Label::from(&PARTITION),
            Label::new("id", node.id.clone()),
            Label::new("path", node.path.clone()),
        ];
        gauge!("zeebe_broker_health_nodes", labels).set(f64::from(node.state as i8));
    }
    if let Some(ahead_ms) = figures.clock_ahead_ms {
        gauge!("baton_clock_ahead_seconds").set(ahead_ms as f64 / 1000.0);
    }
    partition_gauge("baton_replica_diverged").set(flag(figures.diverged));
    let partition = figures.health.iter().find(|node| node.id == super::PARTITION_NODE);
    let healthy = partition.is_some_and(|node| node.state == NodeHealth::Healthy);
    partition_gauge("zeebe_health").set(flag(healthy));
}
