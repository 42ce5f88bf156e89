//! Help texts of metrics, one line each, for Prometheus. The manual says more.

use metrics::Recorder;
use metrics_exporter_prometheus::PrometheusRecorder;

/// By their names. Those of the process have theirs where they are written.
const HELP: &[(&str, &str)] = &[
    // Requests.
    ("http_server_requests_seconds", "Time of REST requests."),
    ("grpc_server_handled_total", "Calls over gRPC that have ended."),
    ("grpc_server_processing_duration_seconds", "Time of calls over gRPC."),
    ("zeebe_gateway_total_requests_total", "Calls over gRPC."),
    ("zeebe_gateway_failed_requests_total", "Calls over gRPC that have failed."),
    ("zeebe_gateway_request_latency_seconds", "Time of calls over gRPC that have succeeded."),
    ("zeebe_gateway_job_stream_clients", "Open job streams of this gateway."),
    ("zeebe_gateway_job_stream_push_total", "Jobs handed to job streams of this gateway."),
    ("baton_auth_refused_total", "Requests whose credentials were refused."),
    ("baton_auth_password_hashes_total", "Hashes of passwords that were computed."),
    ("baton_auth_key_fetches_total", "How often the keys of the issuer of tokens were asked for."),
    ("baton_connections_open", "Open connections, by port."),
    ("baton_transfer_bytes", "Bytes that are being received or sent over all connections."),
    ("baton_refused_total", "Requests and connections that were refused or cut off, by reason."),
    // Flow control.
    ("zeebe_received_request_count_total", "Commands that clients have sent."),
    ("zeebe_flow_control_total", "Commands that were taken on, and that were not, by context and outcome."),
    ("zeebe_flow_control_partition_load", "Records written in a second, in percent of the write limit."),
    ("zeebe_backpressure_append_limit", "Entries that may be on their way into the log."),
    ("zeebe_backpressure_inflight_append_count", "Entries that are on their way into the log."),
    ("zeebe_sequencer_queue_size", "Commands that wait for a place in an entry."),
    ("zeebe_backpressure_requests_limit", "Commands that may be under way."),
    ("zeebe_backpressure_inflight_requests_count", "Commands that are under way."),
    ("zeebe_dropped_request_count_total", "Commands that flow control has refused."),
    ("baton_flow_control_waiting", "Commands that wait for a place."),
    ("baton_flow_control_write_waiting", "Commands that wait for the write limit."),
    ("zeebe_flow_control_write_rate_limit", "Records that may be written in a second now; 0: no limit."),
    ("zeebe_flow_control_write_rate_maximum", "Records that may be written in a second as it is set."),
    ("zeebe_flow_control_exporting_rate", "Records that the slowest exporter takes in a second."),
    ("baton_refused_commands_total", "Commands that were not taken on."),
    ("baton_rejected_commands_total", "Commands that the engine has rejected."),
    (
        "baton_commands_refused_before_log_total",
        "Rejected commands that cost no log entry, because their subject no longer exists.",
    ),
    ("baton_outbox_messages", "Messages to another partition that it has not acknowledged."),
    (
        "baton_outbox_age_seconds",
        "Age of the oldest message to another partition that it has not acknowledged.",
    ),
    ("baton_inbox_failed_messages_total", "Messages of another partition that had no effect."),
    // The log and the state.
    ("zeebe_log_appender_commit_latency_seconds", "Time from proposing an entry of the log to applying it."),
    (
        "zeebe_log_appender_last_appended_position",
        "Position of the last record, with one for each entry that is not applied yet.",
    ),
    (
        "zeebe_log_appender_last_committed_position",
        "Position of the last record, with one for each committed entry that is not applied yet.",
    ),
    (
        "zeebe_log_appender_record_appended_total",
        "Records that were written and that somebody wants, by kind.",
    ),
    ("zeebe_sequencer_batch_size", "Commands of an entry when it is proposed."),
    ("zeebe_sequencer_batch_length_bytes", "Size of an entry when it is proposed, in KiB."),
    ("zeebe_stream_processor_records_total", "Commands processed and left out, and records written."),
    ("zeebe_stream_processor_latency_seconds", "Time from a command's arrival to its processing."),
    (
        "zeebe_stream_processor_batch_processing_post_commit_tasks_seconds",
        "Time to hand out the answers, jobs and records of an entry.",
    ),
    ("zeebe_stream_processor_state", "Phase of processing: 1 replay, 2 processing, 3 failed, 4 paused."),
    (
        "zeebe_stream_processor_startup_recovery_time",
        "Seconds that the start took to read and apply the log.",
    ),
    (
        "zeebe_replay_events_total",
        "Records that were made again, at the start or while another broker leads.",
    ),
    ("zeebe_replay_last_source_position", "Position of the last record that was made again."),
    ("zeebe_replay_event_batch_replay_duration_seconds", "Time to apply an entry that is replayed."),
    ("zeebe_leader_transition_latency", "Seconds from becoming the leader to being ready for commands."),
    ("zeebe_snapshot_count_total", "How often state was written to disk."),
    ("zeebe_snapshot_duration_seconds", "Time to write state to disk."),
    ("zeebe_snapshot_size_bytes", "Size of the state on disk."),
    ("atomix_role", "Role in the partition: 0 none, 1 follower, 2 candidate, 3 leader."),
    ("baton_raft_term", "Term of the partition's leader."),
    ("atomix_partition_server_startup_time", "Milliseconds that the start took to read and apply the log."),
    ("atomix_partition_raft_append_index", "Index of the last entry of the log."),
    ("atomix_partition_raft_commit_index", "Index of the last entry that is committed."),
    ("atomix_commit_entries_rate_total", "Entries that were committed and applied by the leader."),
    ("atomix_non_committed_entries", "Entries of the leader that are not committed yet."),
    ("atomix_non_replicated_entries", "Entries of the leader that a follower lacks."),
    ("atomix_raft_messages_send_total", "Messages of consensus that were sent, by receiver and type."),
    ("atomix_append_entries_rate_total", "Entries that were sent to a follower."),
    ("atomix_append_entries_data_rate_total", "KiB of entries that were sent to a follower."),
    ("atomix_append_entries_latency_seconds", "Time from sending entries to a follower to its answer."),
    ("atomix_heartbeat_time_in_s_seconds", "Time between messages of the leader."),
    (
        "atomix_heartbeat_miss_count_total",
        "How often no leader was heard for so long that an election began.",
    ),
    ("atomix_journal_append_rate_total", "Entries that were written to the log on disk."),
    ("atomix_journal_append_data_rate_total", "KiB that were written to the log on disk."),
    ("atomix_journal_append_latency_seconds", "Time of a write to the log on disk, without its sync."),
    ("atomix_journal_flush_time_seconds", "Time of a sync of the log on disk."),
    ("atomix_segment_count", "Files of the log."),
    ("atomix_compaction_time_ms_seconds", "Time to remove entries from the log."),
    ("atomix_snapshot_replication_count", "Snapshots from other brokers that are under way."),
    (
        "atomix_snapshot_replication_duration_milliseconds",
        "Milliseconds that the last snapshot from another broker took.",
    ),
    ("zeebe_stream_processor_last_processed_position", "Position of the last record."),
    ("zeebe_stream_processor_batch_processing_duration_seconds", "Time to apply an entry of the log."),
    ("zeebe_stream_processor_batch_processing_commands", "Commands of an entry of the log."),
    ("baton_log_entries_total", "Entries of the log that were proposed and applied here."),
    ("baton_log_entries_kept", "Entries that are in the log."),
    (
        "baton_snapshots_total",
        "Snapshots of the state between brokers, by event: sent, received, resumed after a lost connection, refused.",
    ),
    ("baton_snapshot_bytes_to_send", "Bytes of the snapshot under way that are still to be sent."),
    (
        "baton_snapshot_pinned_seconds",
        "Time for which the latest snapshot has kept freed space in the state file.",
    ),
    ("baton_state_durable_index", "Index of the last entry that the state on disk has."),
    (
        "baton_clock_ahead_seconds",
        "How far the clock is ahead of the middle one of the cluster; below zero: behind it.",
    ),
    ("baton_replica_diverged", "Whether the state differs from the leader's: 1 or 0."),
    ("baton_state_rows", "Rows of the tables of the state."),
    ("baton_disk_free_bytes", "Room on the disk of the data."),
    ("zeebe_health", "Whether the partition is healthy: 1 or 0."),
    ("zeebe_broker_health_nodes", "Health of each part: 1 healthy, -1 not, -2 dead until a new start."),
    // Metrics of processes.
    ("baton_engine_commands_total", "Commands that the engine has run."),
    ("baton_engine_steps_total", "Steps that the engine has run."),
    ("zeebe_element_instance_events_total", "Element instances, by action."),
    ("zeebe_executed_instances_total", "Process instances that no other one has called, by action."),
    ("zeebe_evaluated_dmn_elements_total", "Decisions that were evaluated, required ones included."),
    ("zeebe_job_events_total", "Jobs, by action."),
    ("zeebe_incident_events_total", "Incidents that were created and resolved."),
    ("zeebe_pending_incidents_total", "Unresolved incidents."),
    ("zeebe_buffered_messages_count", "Messages that wait to be correlated, or for their end."),
    ("zeebe_banned_instances_total", "Process instances that the engine failed on."),
    ("baton_decision_evaluations_total", "Decisions that were evaluated."),
    (
        "zeebe_process_instance_execution_time_seconds",
        "Time from the start of a process instance to its end.",
    ),
    ("zeebe_job_activation_time_seconds", "Time from the creation of a job to its activation."),
    ("zeebe_job_life_time_seconds", "Time from the creation of a job to its completion."),
    ("zeebe_broker_open_job_stream_count", "Open job streams."),
    ("zeebe_broker_jobs_pushed_count_total", "Jobs handed to workers."),
    (
        "zeebe_broker_jobs_push_fail_count_total",
        "Jobs that were activated and could not be handed to their worker.",
    ),
    (
        "baton_job_stream_credit",
        "Jobs that the open job streams may hold delivered and not yet ended, by job type.",
    ),
    ("baton_job_stream_outstanding", "Jobs that the open job streams hold, by job type."),
    (
        "baton_job_stream_overdue",
        "Jobs of job streams that timed out and that their worker has not answered since, by job type.",
    ),
    ("baton_job_stream_timeouts_total", "Jobs of job streams that were not answered in time, by job type."),
    ("baton_jobs_streamed_total", "Jobs handed to job streams, by job type."),
    ("baton_jobs_polled_total", "Jobs handed to requests for jobs, by job type."),
    (
        "baton_job_answers_refused_total",
        "Answers of workers that were refused because the job had ended or was not activated, by job type.",
    ),
    // Exporters and secondary storage.
    ("zeebe_exporter_state", "Whether records are exported: 0 they are, 1 paused, 2 softly paused."),
    ("zeebe_exporter_events_total", "Records that an exporter has taken."),
    ("zeebe_exporter_last_exported_position", "Position of the last record that an exporter has taken."),
    (
        "zeebe_exporter_last_updated_exported_position",
        "Position up to which an exporter has made all durable.",
    ),
    ("zeebe_exporting_latency_seconds", "Age of records when an exporter takes them."),
    ("baton_exporter_backlog_records", "Records that an exporter has yet to make durable."),
    ("baton_exporter_backlog_seconds", "Age of the oldest record that waits for the exporter."),
    ("baton_exporter_memory_bytes", "Records in memory that wait for exporters."),
    ("baton_exporter_spill_bytes", "Records on disk that wait for exporters."),
    ("baton_exporter_enabled", "Whether an exporter is switched on: 1 or 0."),
    ("baton_exporter_failing", "Whether an exporter fails now: 1 or 0."),
    ("baton_exporter_failures_total", "Calls of an exporter that have failed."),
    (
        "baton_exporter_parked_records",
        "Records that the target of an exporter refused and that were set aside.",
    ),
    ("zeebe_elasticsearch_exporter_flush_duration_seconds", "Time to send a bulk of records."),
    ("zeebe_elasticsearch_exporter_bulk_size", "Records of a bulk."),
    ("zeebe_elasticsearch_exporter_failed_flush_total", "Bulks of records that were not taken."),
    ("baton_secondary_storage_rows_total", "Rows that were written to secondary storage."),
    ("baton_secondary_storage_coalesced_total", "Changes of rows that were merged before they were written."),
    (
        "baton_secondary_storage_damaged_packs_total",
        "Parts of the history that cannot be read and are left out of answers.",
    ),
    (
        "baton_secondary_storage_whole",
        "Whether the store that this broker feeds has all records, or all but what was accepted as lost: 1 or 0.",
    ),
    ("baton_secondary_storage_gaps", "Spans of records that secondary storage lacks for good."),
    (
        "baton_secondary_storage_whole_copies",
        "Whole copies of the embedded store that answer, as a broker with one sees them.",
    ),
    (
        "baton_secondary_storage_maintenance_failing",
        "Steps of the maintenance of secondary storage that fail now: packing, deletion, retention.",
    ),
    (
        "baton_secondary_storage_unpacked_trees",
        "Trees of ended process instances that cannot be packed and stay in tables.",
    ),
    ("baton_secondary_storage_removed_rows_total", "Rows that were removed from secondary storage by age."),
];

/// Tells a recorder of all of them.
pub(super) fn describe(recorder: &PrometheusRecorder) {
    for &(name, help) in HELP {
        // Their kind is of no interest here.
        recorder.describe_gauge(name.into(), None, help.into());
    }
}
