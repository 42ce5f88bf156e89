//! The sections and their keys, as `baton config` prints them.

use std::path::PathBuf;
use std::time::Duration;

use super::broker_addresses::{Brokers, Seeds};
use super::document_stores::NamedStores;
use super::entrance::{EntranceKeys, GateKeys};
use super::retention::RetentionRules;
use super::schema::sections;
use super::secret::{PostgresUrl, Secret};
use super::server_tls::ServerTlsKeys;
use super::spread::SpreadKeys;
use super::value::{
    Algorithm, AuthenticationMethod, BasePath, Categories, Compression, DAY, DocumentStoreKind, EntityTypes,
    Levels, ListenAddress, LogFormat, Names, Overflow, Size, StorageKind, Text, days, ms, s,
};
use super::{job_credits::JobCredits, listeners::Listeners, peer_secret::PeerSecretKeys};

sections! {
    /// The data directory and the free space that it leaves on its disk.
    "data" data: Data {
        /// Directory of the log, the state and the snapshots. Created if missing.
        directory: PathBuf = PathBuf::from("data");
        /// Free space below which requests from clients are refused.
        min_free_bytes: Size = Size::mib(1024);
        /// Free space below which a log that has failed does not resume.
        min_free_log_bytes: Size = Size::mib(32);
        /// Interval between measurements of the free space.
        disk_check_interval: Duration = s(1), [ms(100), s(60)];
    }

    /// Connections of all ports.
    "connections" connections: ConnectionsSection {
        /// Connections from one address (of IPv6: one network) to one port. A proxy is one address.
        max_per_address: usize = 2048, [1, 1_000_000];
        /// Time limit for the TLS handshake and the HTTP/2 preface, or for the head of an HTTP/1.1 request.
        head_timeout: Duration = s(10), [ms(100), s(3600)];
        /// Time limit for a client that reads nothing; a sixth of it when transfer_bytes are nearly used up.
        slow_timeout: Duration = s(30), [s(1), DAY];
        /// Bytes being received and sent at a time; requests beyond them are refused.
        transfer_bytes: Size = Size::mib(256), [Size::mib(16), Size(1 << 40)];
    }

    /// The REST API.
    "rest" rest: Rest {
        /// Address and port to listen on.
        listen: ListenAddress = ListenAddress::loopback(8080);
        /// Open connections; further ones wait to be accepted.
        max_connections: usize = 4096, [1, 1_000_000];
        /// Time after which an idle connection is closed.
        idle_timeout: Duration = s(120), [s(1), DAY];
        /// Time limit for the body of a request.
        body_timeout: Duration = s(30), [ms(100), DAY];
        /// Default time that a request waits for the end of an instance.
        await_timeout: Duration = s(10), [ms(1), DAY];
        /// Default time that a request for jobs is held.
        long_poll_timeout: Duration = s(10), [ms(1), DAY];
        /// Whether responses have a Server-Timing header with the duration of each stage.
        server_timing: bool = false;
    }

    /// TLS of the REST API. The files are read again when they change.
    "rest.tls" rest_tls: RestTls {
        ..keys: ServerTlsKeys;
    }

    /// The web application, on the port of the REST API.
    "web" web: Web {
        /// Whether browsers get its pages.
        enabled: bool = cfg!(feature = "web");
        /// The name in the title of the browser's window and on the login page.
        title: Text = Text("Baton".to_owned());
        /// The path before all paths in the address that browsers use, if a proxy shares that address.
        base_path: BasePath = BasePath::default();
        /// Origins, such as https://portal.example.com, whose pages may show the application in a frame.
        frame_ancestors: Names = Names::default();
        /// Origins, such as https://images.example.com, from which forms may show images.
        image_origins: Names = Names::default();
    }

    /// The gRPC API.
    "grpc" grpc: Grpc {
        /// Address and port to listen on.
        listen: ListenAddress = ListenAddress::loopback(26500);
        /// Open connections; further ones wait to be accepted.
        max_connections: usize = 4096, [1, 1_000_000];
        /// Calls open at a time on one connection, waiting polls and job streams included.
        max_calls_per_connection: u32 = 4096, [1, 1_000_000];
        /// Default time that a call waits for the end of an instance.
        await_timeout: Duration = s(15), [ms(1), DAY];
        /// Time that a call waits for listeners of a user task.
        listener_timeout: Duration = s(10), [ms(1), DAY];
        /// Default time that a call for jobs is held.
        long_poll_timeout: Duration = s(10), [ms(1), DAY];
        /// Time limit for the message of a call.
        message_timeout: Duration = s(30), [ms(100), DAY];
        /// Time after which a connection without calls is closed. Clients reconnect on demand.
        idle_timeout: Duration = s(600), [s(1), DAY];
        /// Silence after which the server sends a keep-alive ping.
        keep_alive_interval: Duration = s(30), [s(1), DAY];
        /// Time limit for the answer to the ping.
        keep_alive_timeout: Duration = s(20), [ms(100), DAY];
    }

    /// TLS of the gRPC API. The files are read again when they change.
    "grpc.tls" grpc_tls: GrpcTls {
        ..keys: ServerTlsKeys;
    }

    /// Probes, metrics and operations. Do not expose this port to the outside.
    "management" management: ManagementPort {
        /// Address and port to listen on.
        listen: ListenAddress = ListenAddress::loopback(9600);
        ..gate: GateKeys;
    }

    /// TLS of the management port. The files are read again when they change.
    "management.tls" management_tls: ManagementTls {
        ..keys: ServerTlsKeys;
    }

    /// The port for the other brokers, which prove that they are of the cluster by peers.secret or peers.tls.
    "peers" peers: PeerPort {
        /// Address and port to listen on; open only with cluster.brokers.
        listen: ListenAddress = ListenAddress::any(26502);
        /// Compression of what brokers send each other: lz4 or none. A connection is compressed if both want it.
        compression: Compression = Compression::None;
        /// Bytes per second at which a snapshot of the state is sent to a broker that lacks too much of the log.
        snapshot_bytes_per_second: Size = Size::mib(64), [Size(64 << 10), Size(1 << 40)];
        ..secrets: PeerSecretKeys;
    }

    /// TLS between brokers, of all or of none: each shows its certificate. Changed files are read again.
    "peers.tls" peers_tls: PeersTls {
        /// PEM file with this broker's certificate chain, valid for its host, and for servers and clients.
        certificate_chain: Option<PathBuf> = None;
        /// PEM file with the private key.
        private_key: Option<PathBuf> = None;
        /// PEM file with the authorities that sign the certificates of brokers, and nobody else's.
        authorities: Option<PathBuf> = None;
    }

    /// Authentication and authorization.
    "security" security: Security {
        /// Whether requests need permissions. Requires security.authentication.method.
        authorizations: bool = false;
        /// A YAML file with users, roles, tenants, authorizations and the like, created at start if missing.
        initialization: Option<PathBuf> = None;
        /// Names beside addresses and localhost that a Host header may have; if there are any, others are refused.
        allowed_hosts: Names = Names::default();
        /// Origins, such as https://desk.example.com, whose pages may do what the server's own may.
        allowed_origins: Names = Names::default();
        ..entrance: EntranceKeys;
    }

    /// Authentication of requests.
    "security.authentication" security_authentication: Authentication {
        /// none; basic: names and passwords of users that Baton keeps; oidc: tokens of an OpenID Connect issuer.
        method: AuthenticationMethod = AuthenticationMethod::None;
        /// With basic: password checks of one address at a time; more are refused. Raise it for users behind a proxy.
        max_checks_per_address: usize = 16, [1, 100_000];
        /// With basic: characters that a new password has at least. Passwords that there are stay as they are.
        min_password_length: usize = 1, [1, 256];
    }

    /// Accepted tokens and the meaning of their claims.
    "security.authentication.oidc" security_oidc: OpenIdConnect {
        /// URL of the issuer, as in the claim iss of its tokens. Its discovery document names the URL of its keys.
        issuer: Option<Text> = None;
        /// URL of the issuer's keys; by default that of the discovery document.
        keys_url: Option<Text> = None;
        /// PEM file with the authorities trusted for the issuer's certificate; by default those of the machine.
        authorities: Option<PathBuf> = None;
        /// Accepted audiences (aud). Not checked if empty.
        audiences: Names = Names::default();
        /// Accepted authorized parties (azp). Not checked if empty.
        authorized_parties: Names = Names::default();
        /// The claim with the user name: a name, a path with dots, or a JSONPath of names.
        username_claim: Text = Text("sub".to_owned());
        /// The claim with the client ID. A token that has it is a client's.
        client_id_claim: Option<Text> = None;
        /// Whether a token with both claims belongs to the user.
        prefer_username_claim: bool = false;
        /// The claim with the groups. If it is set, groups are kept by the issuer and need not be known here.
        groups_claim: Option<Text> = None;
        /// Tolerated difference between the clocks of issuer and server.
        clock_skew: Duration = s(60), [s(0), s(600)];
        /// Age at which the issuer's keys are fetched again.
        keys_max_age: Duration = s(300), [s(10), DAY];
        /// ID by which the issuer knows this server. With it, browsers sign in at the issuer; without, only tokens do.
        client_id: Option<Text> = None;
        /// Secret of that client; without, it is a public one.
        client_secret: Secret = Secret::default();
        /// Where the issuer sends browsers back to; by default, /sso-callback at the address that they came by.
        redirect_uri: Option<Text> = None;
        /// Scopes that the issuer is asked for.
        scopes: Names = Names(vec!["openid".to_owned(), "profile".to_owned()]);
        /// Where the issuer sends browsers after a logout; by default, it decides.
        post_logout_redirect_uri: Option<Text> = None;
    }

    /// Sessions of browsers, which begin with POST /login and end with POST /logout.
    "security.sessions" security_sessions: SessionsSection {
        /// Whether sessions exist. Never with authentication method none.
        enabled: bool = true;
        /// Idle time after which a session ends.
        idle_timeout: Duration = s(1800), [s(1), DAY];
        /// Longest life of a session.
        max_age: Duration = s(43_200), [s(1), s(30 * 86_400)];
        /// Sessions at a time. A further one ends the least recently used session of the user with the most.
        max_count: usize = 10_000, [1, 10_000_000];
        /// Sessions of one user at a time. A further one ends the user's least recently used session.
        max_per_user: usize = 64, [1, 10_000_000];
        /// Whether cookies have the attribute Secure, so that browsers send them over TLS only.
        secure_cookies: bool = true;
        /// Whether requests that change something need the value of the cookie X-CSRF-TOKEN in a header of that name.
        csrf: bool = true;
    }

    /// Batching of commands into entries of the log.
    "partition" partition: Partition {
        /// Most commands of one entry.
        max_batch_commands: usize = 256, [1, 100_000];
        /// Size of variables and files at which an entry is closed.
        max_batch_bytes: Size = Size::mib(1), [Size(4 << 10), Size::mib(32)];
        /// Entries being written at a time. Meanwhile commands gather for the next one.
        max_batches_in_flight: usize = 2, [1, 256];
        /// Time limit for applying one entry; beyond it, the liveness probe fails and names the position in the log.
        max_apply_time: Duration = s(5), [ms(100), DAY];
    }

    /// Limit of concurrent requests of a partition. New instances are refused before completions and failures of jobs.
    "flow_control" flow_control: FlowControl {
        /// Algorithm of the limit: aimd, fixed, vegas or gradient.
        algorithm: Algorithm = Algorithm::Aimd;
        /// Initial limit; with fixed, the limit.
        initial_limit: usize = 100, [1, 10_000_000];
        /// Smallest limit.
        min_limit: usize = 1, [1, 10_000_000];
        /// Largest limit.
        max_limit: usize = 1000, [1, 10_000_000];
        /// Requests over the limit wait (wait) or are refused at once (reject).
        overflow: Overflow = Overflow::Wait;
        /// With wait: time after which a waiting request is refused.
        max_wait: Duration = s(10), [ms(1), DAY];
        /// With wait: most waiting requests; further ones are refused.
        max_waiting: usize = 10_000, [0, 10_000_000];
    }

    /// The limit goes up by one while requests are fast and down by a factor when they are slow.
    "flow_control.aimd" flow_control_aimd: Aimd {
        /// Latency from which a request counts as slow.
        request_timeout: Duration = ms(200), [ms(1), DAY];
        /// Factor by which the limit falls.
        backoff_ratio: f64 = 0.9, [0.1, 0.999];
    }

    /// The limit follows an estimate of the waiting requests.
    "flow_control.vegas" flow_control_vegas: Vegas {
        /// Estimate below which the limit rises.
        alpha: usize = 3, [0, 1_000_000];
        /// Estimate above which the limit falls.
        beta: usize = 6, [1, 1_000_000];
    }

    /// The limit follows the ratio of the shortest latency to the latest.
    "flow_control.gradient" flow_control_gradient: Gradient {
        /// Tolerated ratio of the latest latency to the shortest.
        rtt_tolerance: f64 = 2.0, [1.0, 100.0];
    }

    /// Limit of records per second. New work waits or is refused; work in progress continues.
    "flow_control.write" flow_control_write: FlowControlWrite {
        /// Whether the limit, throttling included, is on.
        enabled: bool = false;
        /// Records per second. 0: only throttling limits.
        limit: u64 = 0;
        /// Time after the start in which the limit grows to its full value.
        ramp_up: Duration = s(0), [s(0), DAY];
    }

    /// The write limit follows the slowest exporter, so that its backlog stays bounded.
    "flow_control.write.throttle" flow_control_write_throttle: FlowControlWriteThrottle {
        /// Whether throttling is on. Requires flow_control.write.enabled.
        enabled: bool = false;
        /// Backlog of an exporter that throttling keeps, in records.
        acceptable_backlog: u64 = 100_000, [1, 1_000_000_000_000];
        /// Smallest limit, in records per second.
        minimum_limit: u64 = 100, [1, 1_000_000_000];
        /// Interval between adjustments of the limit.
        resolution: Duration = s(15), [s(1), s(600)];
    }

    /// Delivery of jobs.
    "jobs" jobs: Jobs {
        /// Jobs on their way to one job stream; further ones are activated when the worker has taken some.
        stream_buffer: usize = 64, [1, 10_000];
        /// Initial credit of a job stream: jobs delivered and not yet ended. The credit then follows the worker's rate.
        first_stream_credit: u32 = 32, [1, 10_000];
        /// Initial credit by job type, such as 'archive=1000;print=1'.
        first_stream_credits: JobCredits = JobCredits::default();
        /// Largest credit of a stream.
        max_stream_credit: u32 = 2000, [1, 10_000];
        /// Workers whose demand goes into one entry of the log; the others follow in the next.
        max_demand_per_batch: usize = 64, [1, 10_000];
    }

    /// The state between two flushes is in memory; a flush writes it to disk in the background.
    "state" state: State {
        /// Interval between flushes.
        flush_interval: Duration = s(5), [ms(10), s(3600)];
        /// Size in memory at which a flush begins earlier.
        flush_bytes: Size = Size::mib(32), [Size::mib(1), Size(64 << 30)];
        /// Cache for pages of the state file.
        page_cache_bytes: Size = Size::mib(16), [Size::mib(1), Size(1 << 40)];
        /// Cache for values that are on disk. 0: none.
        value_cache_bytes: Size = Size::mib(16), [Size(0), Size(1 << 40)];
    }

    /// The log of commands.
    "log" log: Log {
        /// Size of one log file.
        segment_bytes: Size = Size::mib(8), [Size::mib(1), Size(1 << 30)];
        /// Total size of obsolete files kept for reuse.
        retained_bytes: Size = Size::mib(32), [Size::mib(1), Size(1 << 40)];
        /// Size from which entries are compressed. 0: never.
        compression_threshold_bytes: Size = Size(8 << 10), [Size(0), Size(1 << 30)];
        /// Cache for applied entries, for replicas that lag a little.
        cache_bytes: Size = Size::mib(1), [Size(0), Size(1 << 30)];
        /// Log kept for brokers that are away; one that lacks more is sent a snapshot. A lone broker keeps none.
        kept_bytes: Size = Size(1 << 30), [Size::mib(1), Size(1 << 50)];
    }

    /// Export of records. Records wait for exporters in memory, then on disk.
    "export" export: Export {
        /// Memory for waiting records.
        memory_bytes: Size = Size::mib(32), [Size::mib(1), Size(1 << 36)];
        /// Size of one file of waiting records.
        spill_segment_bytes: Size = Size::mib(32), [Size::mib(1), Size(1 << 30)];
        /// Disk space for waiting records. Beyond it, requests wait or are refused.
        max_spill_bytes: Size = Size(4 << 30), [Size::mib(16), Size(1 << 50)];
        /// Longest time until an exporter writes what it took. A search makes it write. Longer ones cost less.
        flush_interval: Duration = s(1), [ms(10), s(60)];
        /// Refusals after which a record is parked, while the target accepts others. 0: the exporter stops there.
        park_after: u32 = 5, [0, 1000];
    }

    /// Records as lines of JSON in files.
    "export.ndjson" export_ndjson: ExportNdjson {
        /// Whether this exporter is on.
        enabled: bool = false;
        /// Directory of the files; relative to data.directory.
        directory: PathBuf = PathBuf::from("export/ndjson");
        /// Size of one file; the next one is begun then.
        max_file_bytes: Size = Size::mib(64), [Size(64 << 10), Size(1 << 40)];
        /// Finished files that are kept, the latest ones. 0: all.
        max_files: u32 = 16;
    }

    /// Records as documents in OpenSearch or Elasticsearch.
    "export.opensearch" export_opensearch: ExportOpensearch {
        /// Whether this exporter is on.
        enabled: bool = false;
        /// Nodes of one cluster, separated by commas; a failing node is replaced by the next.
        urls: Names = Names(vec!["http://localhost:9200".to_owned()]);
        /// User name; empty for requests without credentials.
        username: Option<Text> = None;
        /// The password.
        password: Secret = Secret::default();
        /// PEM file with trusted authorities; by default those of the machine.
        authorities: Option<PathBuf> = None;
        /// Prefix of the names of all indices, aliases and templates.
        index_prefix: Text = Text("zeebe-record".to_owned());
        /// Shards of each new index.
        number_of_shards: u32 = 1, [1, 1024];
        /// Replicas of each shard.
        number_of_replicas: u32 = 0, [0, 100];
        /// Documents of one bulk request.
        bulk_count: usize = 1000, [1, 100_000];
        /// Size of one bulk request; a larger document is sent alone.
        bulk_bytes: Size = Size::mib(10), [Size(64 << 10), Size::mib(100)];
        /// Time limit for a connection.
        connect_timeout: Duration = s(5), [ms(100), s(600)];
        /// Time limit for the response to a bulk request.
        write_timeout: Duration = s(60), [s(1), s(3600)];
        /// Time that records wait for a full bulk request.
        delay: Duration = s(5), [Duration::ZERO, s(600)];
        /// Exported value types, such as PROCESS_INSTANCE,JOB; all if empty.
        value_types: Names = Names::default();
        /// Value types that are not exported.
        excluded_value_types: Names = Names::default();
    }

    /// Secondary storage: the history that searches read.
    "secondary_storage" secondary_storage: SecondaryStorage {
        /// sqlite (a file beside the data), postgres, opensearch (or Elasticsearch), or none (no searches).
        kind: StorageKind = StorageKind::Sqlite;
        /// Time that a request with the header Baton-Await-Position waits for that position.
        await_timeout: Duration = s(5), [ms(10), s(600)];
        /// Time that a search waits for what was acknowledged before it; then it tells Baton-Lag. 0: no waiting.
        fresh_timeout: Duration = s(1), [Duration::ZERO, s(600)];
        /// Time limit for a search.
        query_timeout: Duration = s(10), [ms(10), s(600)];
        /// Whether each step of an instance that starts from then on is kept, with variables. It costs room.
        steps: bool = false;
        /// Whether it is counted how long elements, and the waiting and the work for their jobs, take, by the hour.
        durations: bool = true;
    }

    /// The file of the embedded secondary storage.
    "secondary_storage.sqlite" secondary_storage_sqlite: SecondaryStorageSqlite {
        /// The file; below the data directory if it is not absolute.
        path: PathBuf = PathBuf::from("secondary-storage.sqlite");
        /// Brokers of a cluster that have a copy of the file: those with the lowest numbers.
        copies: usize = 2, [1, 1000];
        /// Concurrent searches; further ones wait.
        readers: usize = 2, [1, 1000];
        /// Page cache of each search and of the writer.
        page_cache_bytes: Size = Size::mib(16), [Size::mib(1), Size(1 << 40)];
        /// Interval between syncs. A power failure loses nothing: later rows are written again.
        sync_interval: Duration = s(1), [ms(0), s(60)];
    }

    /// PostgreSQL as secondary storage.
    "secondary_storage.postgres" secondary_storage_postgres: SecondaryStoragePostgres {
        /// The database, with parameters as libpq names them, such as ?sslmode=verify-full. The database must be there.
        url: PostgresUrl = PostgresUrl::default();
        /// User name; that of the URL if empty.
        username: Option<Text> = None;
        /// The password; that of the URL if empty.
        password: Secret = Secret::default();
        /// Schema of the tables, used for nothing else. Created if missing.
        schema: Text = Text("baton".to_owned());
        /// Concurrent searches; further ones wait. Each uses a connection, as does each partition that writes.
        readers: usize = 8, [1, 1000];
        /// Time limit for a connection.
        connect_timeout: Duration = s(10), [ms(100), s(600)];
        /// Time limit for a statement that writes.
        write_timeout: Duration = s(60), [s(1), s(3600)];
    }

    /// OpenSearch or Elasticsearch as secondary storage.
    "secondary_storage.opensearch" secondary_storage_opensearch: SecondaryStorageOpensearch {
        /// Nodes of one cluster, separated by commas; a failing node is replaced by the next.
        urls: Names = Names(vec!["http://localhost:9200".to_owned()]);
        /// User name; empty for requests without credentials.
        username: Option<Text> = None;
        /// The password.
        password: Secret = Secret::default();
        /// PEM file with trusted authorities; by default those of the machine.
        authorities: Option<PathBuf> = None;
        /// Prefix of the names of all indices, aliases, templates and scripts.
        index_prefix: Text = Text("baton".to_owned());
        /// Shards of each new index.
        number_of_shards: u32 = 1, [1, 1024];
        /// Replicas of each shard.
        number_of_replicas: u32 = 1, [0, 100];
        /// Documents of one bulk request.
        bulk_count: usize = 1000, [1, 100_000];
        /// Size of one bulk request; a larger document is sent alone.
        bulk_bytes: Size = Size::mib(10), [Size(64 << 10), Size::mib(100)];
        /// Time limit for a connection.
        connect_timeout: Duration = s(5), [ms(100), s(600)];
        /// Time limit for the response to a bulk request.
        write_timeout: Duration = s(60), [s(1), s(3600)];
    }

    /// Retention of history in secondary storage.
    "secondary_storage.retention" secondary_storage_retention: Retention {
        /// Whether history is removed.
        enabled: bool = false;
        /// Interval between removals.
        interval: Duration = s(60), [s(1), DAY];
        /// Process instances with their parts and called instances, since the end of the root instance.
        process_instances: Duration = days(30), [s(1), days(36_500)];
        /// Decisions evaluated outside of process instances.
        decisions: Duration = days(30), [s(1), days(36_500)];
        /// Batch operations and their items.
        batch_operations: Duration = days(30), [s(1), days(36_500)];
        /// Entries of the audit log.
        audit_log: Duration = days(30), [s(1), days(36_500)];
        /// Usage metrics and assignees.
        usage_metrics: Duration = days(730), [s(1), days(36_500)];
        /// Job statistics.
        job_metrics: Duration = days(30), [s(1), days(36_500)];
        /// Counters of durations.
        durations: Duration = days(90), [s(1), days(36_500)];
        /// Exceptions, separated by ';': a kind, 'keep=' an age or 'forever', perhaps 'definition=' and 'tenant='.
        rules: RetentionRules = RetentionRules::default();
    }

    /// The audit log in secondary storage: operations and their actors.
    "audit_log" audit_log: AuditLog {
        /// Whether the audit log is on.
        enabled: bool = true;
        /// Categories that are kept for users and anonymous requests: admin, deployed_resources, user_tasks.
        user_categories: Categories = Categories::all();
        /// Categories that are kept for clients.
        client_categories: Categories = Categories::none();
        /// Entity types that are left out for users, such as variable,job.
        user_excludes: EntityTypes = EntityTypes::default();
        /// Entity types that are left out for clients.
        client_excludes: EntityTypes = EntityTypes::default();
    }

    /// Usage metrics in secondary storage: process instances, decisions, assignees.
    "usage_metrics" usage_metrics: UsageMetrics {
        /// Interval of the counts: one row for each tenant. A query counts whole intervals that begin in its period.
        interval: Duration = s(300), [s(1), DAY];
    }

    /// Limits of size and work.
    "limits" limits: Limits {
        /// Bytes of a request, a set of variables or a deployment.
        max_message_bytes: Size = Size::mib(4), [Size(64 << 10), Size::mib(32)];
        /// Time limit for the evaluation of an expression outside of process instances.
        expression_timeout: Duration = s(5), [ms(1), s(60)];
        /// Concurrent evaluations of that kind, each with `max_evaluation_bytes`; more wait within their time limit.
        max_evaluations_at_once: usize = 2, [1, 256];
        /// Fuel for all expressions of one command, a unit of some 20 ns. The rest continues later, behind others.
        max_fuel_per_command: u64 = 150_000, [1000, 1_000_000_000];
        /// Fuel for the expressions and decisions of one step, so that none delays others. Beyond it: an incident.
        max_fuel_per_step: u64 = 1_500_000, [10_000, 1_000_000_000];
        /// Bytes of the values that one step makes. Beyond them, the step ends in an incident.
        max_bytes_per_step: Size = Size::mib(16), [Size(64 << 10), Size::mib(256)];
        /// Bytes of memory of all values that expressions and decisions of one step make. Beyond: an incident.
        max_evaluation_bytes: Size = Size::mib(32), [Size(256 << 10), Size::mib(1024)];
        /// Bytes of one variable as JSON. A larger one in a request is refused; of an expression it is an incident.
        max_variable_bytes: Size = Size::mib(4), [Size(16 << 10), Size::mib(32)];
        /// Bytes of an output collection, and of the items of a multi-instance activity that an expression makes.
        max_collection_bytes: Size = Size::mib(4), [Size(16 << 10), Size::mib(32)];
        /// Bytes of the variables of an instance that have 1 KiB or more each. Beyond them is an incident.
        max_instance_variable_bytes: Size = Size::mib(32), [Size(64 << 10), Size::mib(4096)];
        /// Approximate bytes of the records of one command. The rest of it continues later, behind other commands.
        max_record_bytes_per_command: Size = Size::mib(16), [Size(64 << 10), Size::mib(256)];
        /// Entries of all lists of a request together: variables, instructions, elements, files. More are refused.
        max_entries_per_command: usize = 2000, [100, 20_000];
        /// Variables of one scope, and mappings of one element. More are refused, or an incident; see the manual.
        max_scope_variables: usize = 5000, [100, 1_000_000];
        /// Nesting of the elements of a BPMN file.
        max_bpmn_depth: usize = 128, [16, 1000];
        /// XML elements of a BPMN file, diagram included.
        max_bpmn_xml_elements: usize = 200_000, [100, 10_000_000];
        /// Flow nodes and sequence flows of one process.
        max_bpmn_flow_elements: usize = 20_000, [10, 1_000_000];
        /// Nesting of the elements of a DMN file.
        max_dmn_depth: usize = 128, [16, 128];
        /// XML elements of a DMN file, diagram included.
        max_dmn_xml_elements: usize = 200_000, [100, 10_000_000];
        /// Cells of all decision tables of a DMN file, rules times columns.
        max_dmn_cells: usize = 200_000, [10, 10_000_000];
        /// Longest chain of decisions that require each other.
        max_dmn_requirement_depth: usize = 64, [1, 64];
    }

    /// Idempotency keys of requests: one that comes again with the same key gets the answer of the first.
    "idempotency" idempotency: Idempotency {
        /// Time for which a key is kept after its answer.
        keep: Duration = s(600), [s(1), DAY];
        /// Keys that are kept. Beyond them, requests with new keys are refused.
        max_keys: u64 = 5_000_000, [1000, 1_000_000_000];
        /// Approximate bytes of keys and answers that are kept. Beyond them, requests with new keys are refused.
        max_bytes: Size = Size::mib(1024), [Size::mib(1), Size::mib(1 << 20)];
    }

    /// Creation of process instances.
    "instances" instances: Instances {
        /// Whether a business ID is of one running root instance of a process; those created while off do not count.
        unique_business_ids: bool = false;
    }

    /// User tasks.
    "user_tasks" user_tasks: UserTasks {
        /// Listeners of all, split by ';': an ID, 'type=', if wanted 'events=', 'retries=', 'priority=' and 'after'.
        listeners: Listeners = Listeners::default();
    }

    /// The brokers that are one together, and the topology that clients see.
    "cluster" cluster: Cluster {
        /// Peer addresses of all brokers by number, the same on each, such as '0=a:26502, 1=b:26502, 2=c:26502'.
        brokers: Brokers = Brokers::default();
        /// Peer addresses of brokers that are asked for that list in its place. A name may stand for several.
        join: Seeds = Seeds::default();
        /// Number of this broker, from 0.
        node_id: u32 = 0;
        /// ID of the cluster.
        id: Text = Text("baton".to_owned());
        /// Host name of this broker for clients.
        advertised_host: Text = Text("127.0.0.1".to_owned());
        ..spread: SpreadKeys;
    }

    /// Files that processes refer to.
    "documents" documents: Documents {
        /// Kind of store: directory; memory, lost at the end; buckets s3, gcs, azure; none: only documents.stores.
        kind: DocumentStoreKind = DocumentStoreKind::Directory;
        /// Directory of the files; relative to data.directory. For kind directory.
        directory: PathBuf = PathBuf::from("documents");
        /// Bytes of one file. The other parts of a form have limits.max_message_bytes.
        max_bytes: Size = Size::mib(10), [Size(1 << 10), Size(1 << 40)];
        /// Default time to live of a file. 0s: unlimited.
        time_to_live: Duration = s(0), [s(0), days(36_500)];
        /// Further stores, split by ';': ID and what differs, such as 'archive kind=s3 bucket.name=a s3.region=x'.
        stores: NamedStores = NamedStores::default();
        /// ID of the default store of requests. Without it, the store of this section, or the only one.
        default_store: Option<Text> = None;
        /// Removal of all files when the cluster is purged.
        purged: bool = false;
    }

    /// The bucket of the files, for the kinds s3, gcs and azure, which calls it a container.
    "documents.bucket" documents_bucket: DocumentsBucket {
        /// Name of the bucket, which must exist.
        name: Option<Text> = None;
        /// Prefix of the names of all objects: a path without a leading or trailing slash.
        prefix: Option<Text> = None;
        /// Time limit for a connection, TLS included.
        connect_timeout: Duration = s(5), [ms(10), s(300)];
        /// Time limit for one request, its retries included.
        request_timeout: Duration = s(20), [ms(100), DAY];
        /// Retries of a failed request.
        retries_max: usize = 3, [0, 100];
        /// PEM file with further trusted authorities.
        authorities: Option<PathBuf> = None;
    }

    /// Access to a bucket of Amazon S3 or of a compatible store.
    "documents.s3" documents_s3: DocumentsS3 {
        /// Region of the bucket; by default AWS_REGION, or us-east-1.
        region: Option<Text> = None;
        /// URL of a store that is not Amazon's.
        endpoint: Option<Text> = None;
        /// Access key ID. By default from AWS_ACCESS_KEY_ID and the like, a web identity, container or machine.
        access_key_id: Option<Text> = None;
        /// The secret of that key.
        secret_access_key: Secret = Secret::default();
    }

    /// Access to a bucket of Google Cloud Storage.
    "documents.gcs" documents_gcs: DocumentsGcs {
        /// JSON file with the key of a service account. By default from GOOGLE_APPLICATION_CREDENTIALS or the machine.
        service_account: Option<PathBuf> = None;
        /// URL of a store that is not Google's.
        endpoint: Option<Text> = None;
    }

    /// Access to a container of Azure Blob Storage.
    "documents.azure" documents_azure: DocumentsAzure {
        /// The storage account. By default AZURE_STORAGE_ACCOUNT_NAME.
        account: Option<Text> = None;
        /// Key of the account. By default from AZURE_STORAGE_ACCOUNT_KEY and related variables, or the machine.
        access_key: Secret = Secret::default();
        /// URL of a store that is not Microsoft's.
        endpoint: Option<Text> = None;
    }

    /// Multi-tenancy.
    "multi_tenancy" multi_tenancy: MultiTenancy {
        /// Whether requests may name tenants other than <default>; with authentication, their own ones only.
        enabled: bool = false;
    }

    /// Backups of the state and of the embedded history.
    "backup" backup: Backup {
        /// Directory of the backups. In a cluster, one that all brokers share. Without it, there are none.
        directory: Option<PathBuf> = None;
    }

    /// Secrets that clients with the permissions READ and REVEAL for SECRET may ask for by name.
    "secrets" secrets: SecretsSection {
        /// Directory with a file for each secret, which is called as the secret is. Files are read with each request.
        directory: Option<PathBuf> = None;
        /// Beginning of the names of environment variables that are secrets, called as the rest. Without it, none are.
        environment_prefix: Option<Text> = None;
    }

    /// The clock that timers run by.
    "clock" clock: Clock {
        /// Whether clients may pin and move the clock. For tests only.
        controlled: bool = false;
    }

    /// Traces of requests, for a collector of OpenTelemetry.
    "tracing" tracing: Tracing {
        /// Whether traces are sent.
        enabled: bool = false;
        /// URL of the collector: OTLP over gRPC.
        endpoint: Text = Text("http://localhost:4317".to_owned());
        /// Sampled part of the requests. A request with a traceparent follows the decision in it.
        ratio: f64 = 0.01, [0.0, 1.0];
        /// Service name of this server.
        service: Text = Text("baton".to_owned());
    }

    /// The log on the standard error output.
    "logging" logging: Logging {
        /// A level (off, error, warn, info, debug, trace), or a list such as info,broker=debug,openraft=info.
        level: Levels = Levels("info".to_owned());
        /// One line for people (text) or one object per line (json).
        format: LogFormat = LogFormat::Text;
    }
}
