"""What the dashboards show. `generate.py` turns it into what Grafana reads."""

from generate import dashboard, gauge, graph, growth, mean, quantile, quantiles, rate, share, stat, total

COMMIT = "zeebe_log_appender_commit_latency_seconds"
APPLY = "zeebe_stream_processor_batch_processing_duration_seconds"
COMMANDS = "zeebe_stream_processor_batch_processing_commands"
REST = "http_server_requests_seconds"
GRPC = "grpc_server_processing_duration_seconds"
SERVER = "{{instance}}"
EXPORTER = "{{instance}} {{exporter}}"


def rows_of(table):
    """How many rows a table of the state has."""
    return total("baton_state_rows", f'table="{table}"')


def refused_share():
    """Which part of REST requests was answered with 503."""
    return share(f"{REST}_count", 'status="503"')


def overview():
    healthy = {0: ("unhealthy", "red"), 1: ("healthy", "green")}
    failing = {0: ("none", "green")}
    return dashboard(
        "overview",
        "Overview",
        "Is everything well, and how much is done? The other dashboards go into details.",
        (
            "Now",
            [
                stat("Health", "short", "The worst of the servers. Unhealthy: the log cannot be written, or the "
                     "partition has no leader; nothing is done then.", f"min({gauge('zeebe_health')})", words=healthy),
                stat("Process instances", "short", "Instances that run, called ones included.", rows_of("instances")),
                stat("Jobs", "short", "Jobs that are not completed: waiting, with workers, or failed.",
                     rows_of("jobs")),
                stat("User tasks", "short", "User tasks that are open.", rows_of("user_tasks")),
                stat("Incidents", "short", "Incidents that wait for somebody to resolve them.",
                     total("zeebe_pending_incidents_total"), warn=1),
                stat("Banned instances", "short", "Instances that the engine failed on and has set aside. Each is a "
                     "bug of Baton; `baton banned` lists them.", rows_of("banned"), alarm=1),
                stat("Oldest unexported record", "s", "Age of the oldest record that some exporter has not "
                     "acknowledged. Nothing if there are no exporters.",
                     f"max({gauge('baton_exporter_backlog_seconds')})", warn=60, alarm=300),
                stat("Failing exporters", "short", "Exporters whose last attempt failed; they are tried again until "
                     "they work.", total("baton_exporter_failing"), alarm=1, words=failing),
            ],
        ),
        (
            "Work",
            [
                graph("Process instances", "ops", "Instances that were created, completed and terminated, called ones "
                      "included.",
                      (rate("zeebe_element_instance_events_total", 'type="PROCESS"', "action"), "{{action}}")),
                graph("Time from creation to completion of an instance", "s", "Of the instances that completed; the "
                      "time that people and workers take is in it.",
                      *quantiles("zeebe_process_instance_execution_time_seconds")),
                graph("Jobs", "ops", "Jobs, by action. Timed out and failed ones come back.",
                      (rate("zeebe_job_events_total", by="action"), "{{action}}")),
                graph("Incidents", "ops", "Incidents created and resolved. Created above resolved for long: somebody "
                      "should look.", (rate("zeebe_incident_events_total", by="action"), "{{action}}")),
                graph("Decisions", "ops", "Evaluations of decisions that gave a result, and that failed.",
                      (rate("baton_decision_evaluations_total", by="action"), "{{action}}")),
                graph("What the state holds", "short", "Instances, jobs, timers, messages that wait for somebody.",
                      (rows_of("instances"), "process instances"), (rows_of("jobs"), "jobs"),
                      (rows_of("timers"), "timers"), (rows_of("subscriptions"), "message subscriptions"),
                      (total("zeebe_buffered_messages_count"), "buffered messages")),
            ],
        ),
        (
            "Requests",
            [
                graph("Requests", "reqps", "REST requests and gRPC calls that have ended.",
                      (rate(f"{REST}_count"), "REST"), (rate("grpc_server_handled_total"), "gRPC")),
                graph("REST answers with 5xx", "percentunit", "Which part of REST requests was answered with 5xx: "
                      "503 says that the server refuses work, 504 that an instance did not end in time.",
                      (share(f"{REST}_count", 'outcome="SERVER_ERROR"'), "5xx"), (refused_share(), "503"), most=1),
                graph("Time from proposal to application", "s", "The sync of the disk is in here, and every command "
                      "of a client waits for it.", *quantiles(COMMIT)),
            ],
        ),
        (
            "Process",
            [
                graph("CPU", "percentunit", "Time on CPUs, user and system; 100 % is one core.",
                      (rate("process_cpu_seconds_total", by="instance"), SERVER), width=6),
                graph("Memory", "bytes", "What of the process is in memory.",
                      (gauge("process_resident_memory_bytes"), SERVER), width=6),
                graph("Disk", "Bps", "What the process had written to disks and read from them.",
                      (rate("baton_process_disk_written_bytes_total", by="instance"), f"{SERVER} written"),
                      (rate("baton_process_disk_read_bytes_total", by="instance"), f"{SERVER} read"), width=6),
                graph("Files and threads", "short", "Open file descriptors, connections among them, and threads.",
                      (gauge("process_open_fds"), f"{SERVER} descriptors"),
                      (gauge("process_threads"), f"{SERVER} threads"), width=6),
                graph("Uptime", "s", "Time since the process was started. A fall to zero is a restart.",
                      (f"time() - {gauge('process_start_time_seconds')}", SERVER), width=12),
                graph("Virtual memory", "bytes", "Address space of the process; what counts is what is in memory.",
                      (gauge("process_virtual_memory_bytes"), SERVER), width=12),
            ],
        ),
    )


def api():
    return dashboard(
        "api",
        "REST and gRPC",
        "What clients ask for, how it ends and how long it takes.",
        (
            "REST",
            [
                graph("Requests by status", "reqps", "Answers by HTTP status.",
                      (rate(f"{REST}_count", by="status"), "{{status}}"), stacked=True),
                graph("Requests by operation", "reqps", "Answers by method and path. UNKNOWN: no operation has the "
                      "path or the method.", (rate(f"{REST}_count", by="method, uri"), "{{method}} {{uri}}")),
                graph("Refused and failed requests by operation", "reqps", "Answers with 4xx and 5xx by operation. "
                      "404 and 409 are often no fault, such as a job that was completed twice.",
                      (rate(f"{REST}_count", 'outcome=~"CLIENT_ERROR|SERVER_ERROR"', "status, method, uri"),
                       "{{status}} {{method}} {{uri}}")),
                graph("Time of a request", "s", "From the head of the request to its answer. Requests that wait for "
                      "jobs or for the end of an instance are not in here.",
                      *quantiles(REST, 'uri!~"/v2/jobs/activation|/v2/process-instances"')),
                graph("Time of a request by operation (p99)", "s", "Activations of jobs wait for jobs, creations may "
                      "wait for the end of the instance: theirs may be long.",
                      (quantile(0.99, REST, by="method, uri"), "{{method}} {{uri}}")),
                graph("Share of 5xx", "percentunit", "Which part of the answers was 5xx; 503 says that the server "
                      "refuses work (limit, disk, exporters).",
                      (share(f"{REST}_count", 'outcome="SERVER_ERROR"'), "5xx"), (refused_share(), "503"),
                      (share(f"{REST}_count", 'status="500"'), "500"), most=1),
            ],
        ),
        (
            "gRPC",
            [
                graph("Calls by status", "reqps", "Calls that have ended, by gRPC status. Streams of jobs end when "
                      "their client closes them: CANCELLED.",
                      (rate("grpc_server_handled_total", by="grpc_code"), "{{grpc_code}}"), stacked=True),
                graph("Calls by type", "reqps", "Calls that came, by the command behind them.",
                      (rate("zeebe_gateway_total_requests_total", by="requestType"), "{{requestType}}")),
                graph("Failed calls by type", "reqps", "Calls that ended with another status than OK.",
                      (rate("zeebe_gateway_failed_requests_total", by="error, requestType"),
                       "{{error}} {{requestType}}")),
                graph("Time of a call", "s", "Calls of all ends. Calls that wait for jobs are not in here.",
                      *quantiles(GRPC, 'methodType="UNARY"')),
                graph("Time of a call by method (p99)", "s", "Calls of all ends. Streams of jobs take as long as they "
                      "are open.", (quantile(0.99, GRPC, by="method"), "{{method}}")),
                graph("Time of a successful call by type (p99)", "s", "Calls that ended with OK.",
                      (quantile(0.99, "zeebe_gateway_request_latency_seconds", by="requestType"), "{{requestType}}")),
                graph("Calls by method", "reqps", "Calls that have ended, by method.",
                      (rate("grpc_server_handled_total", by="grpc_method"), "{{grpc_method}}"), width=12),
                graph("Open job streams", "short", "Streams of jobs that clients have open.",
                      (gauge("zeebe_gateway_job_stream_clients"), SERVER), width=12),
            ],
        ),
    )


def processing():
    committed = total("atomix_partition_raft_commit_index", by="instance")
    appended = total("atomix_partition_raft_append_index", by="instance")
    durable = total("baton_state_durable_index", by="instance")
    return dashboard(
        "processing",
        "Processing",
        "The way of commands: into the log, through the engine, to the state on disk.",
        (
            "Log",
            [
                graph("Time from proposal to application", "s", "From handing an entry to the log to its "
                      "application. The sync of the disk is most of it.", *quantiles(COMMIT)),
                graph("Entries", "ops", "Entries of the log that were applied.",
                      (rate("baton_log_entries_total", by="instance"), SERVER)),
                graph("Commands of an entry", "short", "How many commands share one entry, and so one sync. Under "
                      "load it grows.", *quantiles(COMMANDS), (mean(COMMANDS), "mean")),
                graph("Entries not committed", "short", "Entries that were appended and are not committed yet.",
                      (f"{appended} - {committed}", SERVER)),
                graph("Entries not in the state on disk", "short", "Entries that are applied again after a crash, and "
                      "that the log keeps. It falls with every flush; if it only grows, flushes fail.",
                      (f"{committed} - {durable}", SERVER)),
                graph("Written to disk", "Bps", "Log, state, exported records, documents.",
                      (rate("baton_process_disk_written_bytes_total", by="instance"), SERVER)),
            ],
        ),
        (
            "Engine",
            [
                graph("Time to apply an entry", "s", "The engine's work for one entry.", *quantiles(APPLY)),
                graph("Time of the engine", "percentunit", "Which part of the time the partition's thread applies "
                      "entries. Near 100 % the engine is the bottleneck.",
                      (rate(f"{APPLY}_sum", by="instance"), SERVER), most=1),
                graph("Commands and steps", "ops", "Commands that were executed, and the steps of processes that "
                      "follow from them.",
                      (rate("baton_engine_commands_total"), "commands"), (rate("baton_engine_steps_total"), "steps")),
                graph("Refused commands", "ops", "Commands that the engine refused, by reason: not found, wrong "
                      "state, and so on. Nothing was changed by them.",
                      (rate("baton_rejected_commands_total", by="type"), "{{type}}")),
                graph("Records", "ops", "How many positions of records were given.",
                      (growth("zeebe_stream_processor_last_processed_position", by="instance"), SERVER)),
                graph("Steps left over", "short", "Steps that wait for a later entry, because one command may take "
                      "only so many. An endless loop in a model shows here.", (rows_of("pending_steps"), "steps")),
            ],
        ),
        (
            "Processes",
            [
                graph("Elements activated", "ops", "Element instances that were activated, by type.",
                      (rate("zeebe_element_instance_events_total", 'action="activated"', "type"), "{{type}}"),
                      stacked=True),
                graph("Elements completed", "ops", "Element instances that were completed, by type.",
                      (rate("zeebe_element_instance_events_total", 'action="completed"', "type"), "{{type}}"),
                      stacked=True),
                graph("Elements terminated", "ops", "Element instances that were ended from outside, by type: "
                      "cancellation, interrupting events.",
                      (rate("zeebe_element_instance_events_total", 'action="terminated"', "type"), "{{type}}"),
                      stacked=True),
                graph("Incidents", "ops", "Incidents created and resolved.",
                      (rate("zeebe_incident_events_total", by="action"), "{{action}}")),
                graph("Decisions", "ops", "Evaluations of decisions that gave a result, and that failed.",
                      (rate("baton_decision_evaluations_total", by="action"), "{{action}}")),
                graph("Banned instances", "short", "Instances that the engine failed on, since the start of the "
                      "server, and those that are set aside now.",
                      (total("zeebe_banned_instances_total"), "since the start"), (rows_of("banned"), "now")),
            ],
        ),
        (
            "State",
            [
                graph("Rows by table", "short", "The ten largest tables of the state.",
                      (f"topk(10, {total('baton_state_rows', by='table')})", "{{table}}"), width=12),
                graph("What waits", "short", "Incidents wait for people, messages for a subscription, "
                      "subscriptions for a message, timers for their time.",
                      (total("zeebe_pending_incidents_total"), "incidents"),
                      (total("zeebe_buffered_messages_count"), "buffered messages"),
                      (rows_of("subscriptions"), "message subscriptions"),
                      (rows_of("signal_subscriptions"), "signal subscriptions"),
                      (rows_of("condition_subscriptions"), "condition subscriptions"),
                      (rows_of("timers"), "timers"), width=12),
            ],
        ),
    )


def exporting():
    phases = {0: ("exporting", "green"), 1: ("paused", "orange"), 2: ("soft paused", "orange")}
    taken = gauge("zeebe_exporter_last_exported_position")
    acknowledged = gauge("zeebe_exporter_last_updated_exported_position")
    return dashboard(
        "exporting",
        "Exporting and secondary storage",
        "How far exporters lag behind, and what waits for them. Whatever keeps records outside of the engine, a "
        "secondary storage too, is fed by an exporter and appears here under its name.",
        (
            "Now",
            [
                stat("Exporting", "short", "Paused: records are kept until somebody resumes. Soft paused: they are "
                     "exported, but kept.", f"max({gauge('zeebe_exporter_state')})", width=4, words=phases),
                stat("Failing exporters", "short", "Exporters whose last attempt failed. The log of the server says "
                     "why.", total("baton_exporter_failing"), width=4, alarm=1),
                stat("Oldest unexported record", "s", "Age of the oldest record that some exporter has not "
                     "acknowledged.", f"max({gauge('baton_exporter_backlog_seconds')})", width=4, warn=60, alarm=300),
                stat("Waiting records", "short", "Records that the exporter that lags most has not acknowledged.",
                     f"max({gauge('baton_exporter_backlog_records')})", width=4),
                stat("Waiting in memory", "bytes", "Limit: export.memory_bytes, 32 MiB by default; then they wait on "
                     "disk.", total("baton_exporter_memory_bytes"), width=4),
                stat("Waiting on disk", "bytes", "Limit: export.max_spill_bytes, 4 GiB by default; then new work is "
                     "refused. The colours go by the default.",
                     total("baton_exporter_spill_bytes"), width=4, warn=1 << 30, alarm=3 << 30),
            ],
        ),
        (
            "Backlog",
            [
                graph("Waiting records", "short", "Records that an exporter has not acknowledged.",
                      (gauge("baton_exporter_backlog_records"), EXPORTER)),
                graph("Age of the backlog", "s", "Age of the oldest record that an exporter has not acknowledged: how "
                      "old what it shows may be.", (gauge("baton_exporter_backlog_seconds"), EXPORTER)),
                graph("Positions taken and not acknowledged", "short", "What an exporter took and has not made "
                      "durable yet. During a soft pause it grows.",
                      (f"{taken} - {acknowledged}", EXPORTER)),
                graph("Records in memory and on disk", "bytes", "Records that some exporter still needs.",
                      (gauge("baton_exporter_memory_bytes"), f"{SERVER} memory"),
                      (gauge("baton_exporter_spill_bytes"), f"{SERVER} disk")),
                graph("Failing", "short", "1 while an exporter fails.",
                      (gauge("baton_exporter_failing"), EXPORTER), most=1),
                graph("Phase", "short", "0 exporting, 1 paused, 2 soft paused.",
                      (gauge("zeebe_exporter_state"), SERVER), most=2),
            ],
        ),
        (
            "What targets refuse, and secondary storage",
            [
                graph("Parked records", "short", "Records that a target refused again and again; the exporter goes on "
                      "without them until somebody has them replayed.",
                      (gauge("baton_exporter_parked_records"), EXPORTER)),
                graph("Failures", "ops", "Attempts of exporters that failed.",
                      (rate("baton_exporter_failures_total", by="instance, exporter"), EXPORTER)),
                graph("Enabled", "short", "0 while an exporter is disabled: it gets nothing, and nothing waits for it.",
                      (gauge("baton_exporter_enabled"), EXPORTER), most=1),
                graph("Rows written", "ops", "Rows of secondary storage that were written.",
                      (rate("baton_secondary_storage_rows_total", by="instance"), SERVER)),
                graph("Changes merged", "ops", "Changes of rows that had changed already since the last write: they "
                      "cost the database nothing.",
                      (rate("baton_secondary_storage_coalesced_total", by="instance"), SERVER)),
                graph("Rows removed", "ops", "Rows that were older than the retention of their kind allows, or whose "
                      "history was deleted.",
                      (rate("baton_secondary_storage_removed_rows_total", by="instance, kind"), "{{instance}} {{kind}}")),
            ],
        ),
        (
            "Throughput",
            [
                graph("Records by exporter", "ops", "Records that exporters took.",
                      (rate("zeebe_exporter_events_total", 'action="exported"', "exporter"), "{{exporter}}")),
                graph("Records by type", "ops", "Records that exporters took, by type of value.",
                      (rate("zeebe_exporter_events_total", 'action="exported"', "valueType"), "{{valueType}}"),
                      stacked=True),
                graph("Age of records when they are taken", "s", "From the application of a command to the exporter's "
                      "taking its records.",
                      (quantile(0.5, "zeebe_exporting_latency_seconds", by="exporter"), "{{exporter}} p50"),
                      (quantile(0.99, "zeebe_exporting_latency_seconds", by="exporter"), "{{exporter}} p99")),
            ],
        ),
    )


def jobs():
    pushed = rate("zeebe_broker_jobs_pushed_count_total")
    return dashboard(
        "jobs",
        "Jobs",
        "Do workers keep up, and how do jobs end?",
        (
            "Now",
            [
                stat("Jobs", "short", "Jobs that are not completed.", rows_of("jobs"), width=4),
                stat("Waiting for workers", "short", "Jobs that may be activated.", rows_of("job_queue"), width=4),
                stat("With workers or in backoff", "short", "Jobs that are activated, and failed ones whose next "
                     "attempt has its time.", rows_of("job_due"), width=4),
                stat("User tasks", "short", "User tasks that are open.", rows_of("user_tasks"), width=4),
                stat("Open job streams", "short", "Streams that workers have open. Workers that poll have none.",
                     total("zeebe_broker_open_job_stream_count"), width=4),
                stat("Timeouts", "ops", "Jobs whose worker did not answer in time; they are given to another.",
                     rate("zeebe_job_events_total", 'action="timed out"'), width=4, warn=0.1),
            ],
        ),
        (
            "What happens to jobs",
            [
                graph("By event", "ops", "Created and completed should go together. Yielded: given back untouched "
                      "by a worker that was gone.", (rate("zeebe_job_events_total", by="action"), "{{action}}")),
                graph("By kind", "ops", "Jobs created, by what they are for.",
                      (rate("zeebe_job_events_total", 'action="created"', "job_kind"), "{{job_kind}}")),
                graph("Timeouts and failures among activations", "percentunit", "Above 100 % are failures of jobs "
                      "that were activated earlier.",
                      (share("zeebe_job_events_total", 'action="timed out"', 'action="activated"'), "timed out"),
                      (share("zeebe_job_events_total", 'action="failed"', 'action="activated"'), "failed"),
                      (share("zeebe_job_events_total", 'action="error thrown"', 'action="activated"'), "error thrown")),
                graph("Time from creation to activation", "s", "How long jobs wait for a worker. Long: too few "
                      "workers.", *quantiles("zeebe_job_activation_time_seconds")),
                graph("Time from creation to completion", "s", "The worker's time is in it.",
                      *quantiles("zeebe_job_life_time_seconds")),
                graph("Jobs in the state", "short", "Waiting ones grow: workers are missing or too slow.",
                      (rows_of("jobs"), "all"), (rows_of("job_queue"), "waiting"),
                      (rows_of("job_due"), "activated or in backoff")),
            ],
        ),
        (
            "Delivery",
            [
                graph("Jobs handed to streams and polls", "ops", "Not delivered: the worker was gone; the job is "
                      "given to another.",
                      (pushed, "delivered"), (rate("zeebe_broker_jobs_push_fail_count_total"), "not delivered"),
                      (rate("zeebe_gateway_job_stream_push_total"), "sent over gRPC streams")),
                graph("Open streams", "short", "Streams that workers have open: at the broker, and of gRPC clients.",
                      (gauge("zeebe_broker_open_job_stream_count"), f"{SERVER} broker"),
                      (gauge("zeebe_gateway_job_stream_clients"), f"{SERVER} gRPC")),
                graph("Credit of job streams", "short", "Jobs that streams may hold, hold, and hold beyond their time. "
                      "All in use while jobs wait: workers are at their limit.",
                      (total("baton_job_stream_credit"), "credit"),
                      (total("baton_job_stream_outstanding"), "held"),
                      (total("baton_job_stream_overdue"), "held beyond their time")),
                graph("By stream and by poll", "ops", "Refused: answers for jobs that had ended.",
                      (rate("baton_jobs_streamed_total"), "by stream"), (rate("baton_jobs_polled_total"), "by poll"),
                      (rate("baton_job_stream_timeouts_total"), "not answered in time"),
                      (rate("baton_job_answers_refused_total"), "refused")),
                graph("Requests of workers", "reqps", "REST requests about jobs by status, gRPC calls by type.",
                      (rate(f"{REST}_count", 'uri=~"/v2/jobs/.*"', "status, uri"), "{{status}} {{uri}}"),
                      (rate("zeebe_gateway_total_requests_total", 'requestType=~"JOB.*"', "requestType"),
                       "{{requestType}}")),
            ],
        ),
    )


def flow_control():
    limit = total("zeebe_backpressure_requests_limit")
    in_flight = total("zeebe_backpressure_inflight_requests_count")
    dropped = rate("zeebe_dropped_request_count_total")
    return dashboard(
        "flow-control",
        "Flow control",
        "How many requests are under way, how many are allowed, and what is refused.",
        (
            "Now",
            [
                stat("Limit", "short", "Requests that may be under way at a time. What ends work already begun may "
                     "exceed it fourfold.", limit, width=6),
                stat("Under way", "short", "Requests that are under way.", in_flight, width=6),
                stat("Waiting", "short", "Requests that wait for a place.", total("baton_flow_control_waiting"),
                     width=6, warn=1),
                stat("Refused", "reqps", "Requests that found no place and were refused.", dropped, width=6, alarm=0.1),
            ],
        ),
        (
            "Limit",
            [
                graph("Limit and requests under way", "short", "Except with flow_control.algorithm=fixed, the limit "
                      "follows the latency.",
                      (gauge("zeebe_backpressure_requests_limit"), f"{SERVER} limit"),
                      (gauge("zeebe_backpressure_inflight_requests_count"), f"{SERVER} under way")),
                graph("Use of the limit", "percentunit", "Requests under way over the limit. Above 100 % is work "
                      "already begun, such as completions of jobs.", (f"{in_flight} / {limit}", "in use")),
                graph("Waiting requests", "short", "Requests that wait for a place, with flow_control.overflow=wait.",
                      (gauge("baton_flow_control_waiting"), SERVER)),
            ],
        ),
        (
            "Refused",
            [
                graph("Refused by flow control", "reqps", "Requests that found no place, or none in time.",
                      (rate("zeebe_dropped_request_count_total", by="instance"), SERVER)),
                graph("Refused requests, for whatever reason", "reqps", "The limit, the disk, exporters or memory. "
                      "More than flow control refuses: look at the disk and at exporters.",
                      (rate(f"{REST}_count", 'status="503"'), "REST 503"),
                      (rate("grpc_server_handled_total", 'grpc_code="RESOURCE_EXHAUSTED"'),
                       "gRPC RESOURCE_EXHAUSTED")),
                graph("Refused and accepted", "reqps", "What flow control refused beside the commands that the engine "
                      "executed.", (dropped, "refused"), (rate("baton_engine_commands_total"), "executed")),
            ],
        ),
        (
            "Why",
            [
                graph("Time from proposal to application (p99)", "s", "When the disk is slow, the limit falls.",
                      (quantile(0.99, COMMIT, by="instance"), SERVER)),
                graph("Time of the engine", "percentunit", "Which part of the time the partition's thread applies "
                      "entries. Near 100 %: more load than one partition takes.",
                      (rate(f"{APPLY}_sum", by="instance"), SERVER), most=1),
                graph("Records that wait for exporters", "bytes", "When the disk's share is full, new work is refused.",
                      (gauge("baton_exporter_memory_bytes"), f"{SERVER} memory"),
                      (gauge("baton_exporter_spill_bytes"), f"{SERVER} disk")),
            ],
        ),
        (
            "Writing",
            [
                graph("Write limit", "ops", "Records a second that are taken on, and that the slowest exporter takes. 0: "
                      "no limit.", (gauge("zeebe_flow_control_write_rate_limit"), f"{SERVER} limit"),
                      (gauge("zeebe_flow_control_write_rate_maximum"), f"{SERVER} set"),
                      (gauge("zeebe_flow_control_exporting_rate"), f"{SERVER} exported")),
                graph("Waiting for the write limit", "short", "Commands that wait for their turn.",
                      (gauge("baton_flow_control_write_waiting"), SERVER)),
                graph("Refused, by cause", "reqps", "Commands that were not taken on.",
                      (rate("baton_refused_commands_total", by="instance, cause"), "{{instance}} {{cause}}")),
                graph("Free disk space", "bytes", "Below data.min_free_bytes, 1 GiB by default, requests are refused.",
                      (gauge("baton_disk_free_bytes"), SERVER)),
                graph("Entries of the log", "short", "Entries that are in the log: what the state on disk does not hold "
                      "yet.", (gauge("baton_log_entries_kept"), SERVER)),
                graph("Backlog of exporters", "short", "Records that an exporter has not acknowledged; throttling "
                      "keeps it near flow_control.write.throttle.acceptable_backlog.",
                      (gauge("baton_exporter_backlog_records"), EXPORTER)),
            ],
        ),
    )


def dashboards():
    return [overview(), api(), processing(), exporting(), jobs(), flow_control()]
