//! The sections and their keys. What stands here is what `baton config` prints.

use std::path::PathBuf;
use std::time::Duration;

use super::document_stores::NamedStores;
use super::job_credits::JobCredits;
use super::listeners::Listeners;
use super::retention::RetentionRules;
use super::schema::sections;
use super::secret::{PostgresUrl, Secret};
use super::value::{
    Algorithm, AuthenticationMethod, Categories, ClientCertificateMode, DocumentStoreKind, EntityTypes,
    Levels, ListenAddress, LogFormat, Names, Overflow, Size, StorageKind, Text,
};

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

const fn s(count: u64) -> Duration {
    Duration::from_secs(count)
}

const fn days(count: u64) -> Duration {
    s(count * 86_400)
}

/// The longest time that makes sense anywhere.
const DAY: Duration = s(86_400);

sections! {
    /// Where data lives, and how much room it leaves on the disk.
    "data" data: Data {
        /// Directory of the log, the state and the snapshots. Made when it is not there.
        directory: PathBuf = PathBuf::from("data");
        /// With less room than this on the disk, requests from clients are refused until there is more.
        min_free_bytes: Size = Size::mib(1024);
        /// With less room than this, a log that has failed does not resume.
        min_free_log_bytes: Size = Size::mib(32);
        /// How often the room is measured.
        disk_check_interval: Duration = s(1), [ms(100), s(60)];
    }

    /// Connections of all ports.
    "connections" connections: ConnectionsSection {
        /// Connections from one address (of IPv6: one network) to one port. Behind a proxy all clients have its address.
        max_per_address: usize = 2048, [1, 1_000_000];
        /// How long a client may take for TLS and the preface of HTTP/2, or for the head of a request of HTTP/1.1.
        head_timeout: Duration = s(10), [ms(100), s(3600)];
        /// How long a client may take nothing of what waits for it; a sixth of it when transfer_bytes are nearly used up.
        slow_timeout: Duration = s(30), [s(1), DAY];
        /// What is being received and sent at the most; requests beyond it are refused.
        transfer_bytes: Size = Size::mib(256), [Size::mib(16), Size(1 << 40)];
    }

    /// The REST API.
    "rest" rest: Rest {
        /// Where it listens.
        listen: ListenAddress = ListenAddress::any(8080);
        /// Connections open at a time; more wait to be accepted.
        max_connections: usize = 4096, [1, 1_000_000];
        /// How long a connection may stay without a request.
        idle_timeout: Duration = s(120), [s(1), DAY];
        /// How long a client may take to send the body of a request.
        body_timeout: Duration = s(30), [ms(100), DAY];
        /// How long a request waits for the end of an instance when it does not say.
        await_timeout: Duration = s(10), [ms(1), DAY];
        /// How long a request for jobs is held when it does not say.
        long_poll_timeout: Duration = s(10), [ms(1), DAY];
        /// Whether responses tell in a Server-Timing header how long each stage took.
        server_timing: bool = false;
    }

    /// TLS of the REST API. The files are read again when they change.
    "rest.tls" rest_tls: RestTls {
        /// PEM file with the certificate chain, the server's own first. Without it connections are not encrypted.
        certificate_chain: Option<PathBuf> = None;
        /// PEM file with the private key.
        private_key: Option<PathBuf> = None;
        /// Whether clients show certificates: none, optional or required.
        client_certificates: ClientCertificateMode = ClientCertificateMode::None;
        /// PEM file with the authorities that sign the certificates of clients.
        client_authorities: Option<PathBuf> = None;
    }

    /// The gRPC API.
    "grpc" grpc: Grpc {
        /// Where it listens.
        listen: ListenAddress = ListenAddress::any(26500);
        /// Connections open at a time; more wait to be accepted.
        max_connections: usize = 4096, [1, 1_000_000];
        /// Calls open at a time on one connection, waiting polls and job streams included.
        max_calls_per_connection: u32 = 4096, [1, 1_000_000];
        /// How long a call waits for the end of an instance when it does not say.
        await_timeout: Duration = s(15), [ms(1), DAY];
        /// How long a call waits for listeners of a user task.
        listener_timeout: Duration = s(10), [ms(1), DAY];
        /// How long a call for jobs is held when it does not say.
        long_poll_timeout: Duration = s(10), [ms(1), DAY];
        /// How long a client may take to send the message of a call.
        message_timeout: Duration = s(30), [ms(100), DAY];
        /// How long a connection may stay without a call. Clients connect again when they need to.
        idle_timeout: Duration = s(600), [s(1), DAY];
        /// After how much silence the server asks whether a client is still there.
        keep_alive_interval: Duration = s(30), [s(1), DAY];
        /// How long the client may take to answer that.
        keep_alive_timeout: Duration = s(20), [ms(100), DAY];
    }

    /// TLS of the gRPC API. The files are read again when they change.
    "grpc.tls" grpc_tls: GrpcTls {
        /// PEM file with the certificate chain, the server's own first. Without it connections are not encrypted.
        certificate_chain: Option<PathBuf> = None;
        /// PEM file with the private key.
        private_key: Option<PathBuf> = None;
        /// Whether clients show certificates: none, optional or required.
        client_certificates: ClientCertificateMode = ClientCertificateMode::None;
        /// PEM file with the authorities that sign the certificates of clients.
        client_authorities: Option<PathBuf> = None;
    }

    /// Probes, metrics and operations. Not for the outside.
    "management" management: ManagementPort {
        /// Where it listens.
        listen: ListenAddress = ListenAddress::any(9600);
        /// Whether everything but probes and metrics needs credentials as in the section security, and with authorizations the permission SYSTEM READ or UPDATE.
        authentication: bool = false;
    }

    /// TLS of the management port. The files are read again when they change.
    "management.tls" management_tls: ManagementTls {
        /// PEM file with the certificate chain, the server's own first. Without it connections are not encrypted.
        certificate_chain: Option<PathBuf> = None;
        /// PEM file with the private key.
        private_key: Option<PathBuf> = None;
        /// Whether clients show certificates: none, optional or required.
        client_certificates: ClientCertificateMode = ClientCertificateMode::None;
        /// PEM file with the authorities that sign the certificates of clients.
        client_authorities: Option<PathBuf> = None;
    }

    /// Who may come in, and do what.
    "security" security: Security {
        /// Whether whoever asks for something needs a permission for it. Needs security.authentication.method.
        authorizations: bool = false;
        /// A YAML file with users, groups, roles, tenants, mapping rules and authorizations that are there from the start. What is there already stays as people have changed it.
        initialization: Option<PathBuf> = None;
        /// Whether POST /v2/setup/user may create the first administrator without credentials: with method basic, while there has never been one, unless security.initialization names users or administrators.
        setup: bool = true;
        /// Names, without ports, that a Host header may have beside addresses and localhost, such as baton.example.com. If there are any, others are refused on the REST and the management port; without, only where a port is bound to loopback and asks for no credentials.
        allowed_hosts: Names = Names::default();
        /// Origins, such as https://desk.example.com, whose pages may make browsers send what changes something, as the server's own may.
        allowed_origins: Names = Names::default();
    }

    /// How requests are authenticated.
    "security.authentication" security_authentication: Authentication {
        /// Not at all (none), by names and passwords of users that Baton keeps (basic), or by tokens of an OpenID Connect issuer (oidc).
        method: AuthenticationMethod = AuthenticationMethod::None;
        /// With basic: passwords of one address that are checked or wait for that; more are refused. To be raised where many come through one proxy.
        max_checks_per_address: usize = 16, [1, 100_000];
    }

    /// Which tokens are accepted and what they say.
    "security.authentication.oidc" security_oidc: OpenIdConnect {
        /// The URL of the issuer, as tokens name it. Its discovery document tells where its keys are.
        issuer: Option<Text> = None;
        /// Where its keys are, if the discovery document shall not be asked.
        keys_url: Option<Text> = None;
        /// PEM file with the authorities that the issuer's certificate is checked with, instead of those that the machine trusts.
        authorities: Option<PathBuf> = None;
        /// A token must be meant for one of these. None are looked at if there are none.
        audiences: Names = Names::default();
        /// A token must have been given to one of these clients (azp). None are looked at if there are none.
        authorized_parties: Names = Names::default();
        /// The claim with the user name: a name, a path with dots, or a JSONPath of names.
        username_claim: Text = Text("sub".to_owned());
        /// The claim with the client ID. A token that has it is a client's.
        client_id_claim: Option<Text> = None;
        /// Whether a token with both is a user's.
        prefer_username_claim: bool = false;
        /// The claim with the groups. If it is set, groups are kept by the issuer and need not be known here.
        groups_claim: Option<Text> = None;
        /// How far the clocks of issuer and server may be apart.
        clock_skew: Duration = s(60), [s(0), s(600)];
        /// Keys older than this are fetched again.
        keys_max_age: Duration = s(300), [s(10), DAY];
    }

    /// Sessions of browsers, which begin with POST /login and end with POST /logout.
    "security.sessions" security_sessions: SessionsSection {
        /// Whether there are any. Never with authentication method none.
        enabled: bool = true;
        /// A session that is not used for this long ends.
        idle_timeout: Duration = s(1800), [s(1), DAY];
        /// No session lasts longer than this.
        max_age: Duration = s(43_200), [s(1), s(30 * 86_400)];
        /// More than this many push out the one that was not used for longest, of whoever has the most.
        max_count: usize = 10_000, [1, 10_000_000];
        /// More than this many of one user push out that user's own that was not used for longest.
        max_per_user: usize = 64, [1, 10_000_000];
        /// Whether browsers may send the cookies over TLS only.
        secure_cookies: bool = true;
        /// Whether what changes something needs the token of the cookie X-CSRF-TOKEN in a header of the same name.
        csrf: bool = true;
    }

    /// How requests become entries of the log.
    "partition" partition: Partition {
        /// Commands in one entry of the log.
        max_batch_commands: usize = 256, [1, 100_000];
        /// Size of the variables and files of one entry, from which on it is closed.
        max_batch_bytes: Size = Size::mib(1), [Size(4 << 10), Size::mib(32)];
        /// Entries on their way into the log at a time. While they are, commands gather for the next.
        max_batches_in_flight: usize = 2, [1, 256];
        /// Applying one entry may take this long; when it takes longer, the liveness probe says so, with its position in the log.
        max_apply_time: Duration = s(5), [ms(100), DAY];
    }

    /// How many requests a partition has under way at a time. Completing and failing jobs is never refused before creating instances is.
    "flow_control" flow_control: FlowControl {
        /// How the limit moves: aimd, fixed, vegas or gradient.
        algorithm: Algorithm = Algorithm::Aimd;
        /// The limit at the start; with fixed, always.
        initial_limit: usize = 100, [1, 10_000_000];
        /// The limit at the least.
        min_limit: usize = 1, [1, 10_000_000];
        /// The limit at the most.
        max_limit: usize = 1000, [1, 10_000_000];
        /// What happens to requests over the limit: they wait, or they are refused at once (reject).
        overflow: Overflow = Overflow::Wait;
        /// With wait: how long one waits before it is refused.
        max_wait: Duration = s(10), [ms(1), DAY];
        /// With wait: requests that wait at a time; more are refused.
        max_waiting: usize = 10_000, [0, 10_000_000];
    }

    /// The limit goes up by one while requests are fast and down by a factor when they are slow.
    "flow_control.aimd" flow_control_aimd: Aimd {
        /// What is slow.
        request_timeout: Duration = ms(200), [ms(1), DAY];
        /// The factor.
        backoff_ratio: f64 = 0.9, [0.1, 0.999];
    }

    /// The limit follows an estimate of how many requests wait.
    "flow_control.vegas" flow_control_vegas: Vegas {
        /// Below so many, the limit goes up.
        alpha: usize = 3, [0, 1_000_000];
        /// Above so many, the limit goes down.
        beta: usize = 6, [1, 1_000_000];
    }

    /// The limit follows the ratio of the shortest latency to the latest.
    "flow_control.gradient" flow_control_gradient: Gradient {
        /// How much slower than the shortest is still no reason to lower the limit.
        rtt_tolerance: f64 = 2.0, [1.0, 100.0];
    }

    /// How many records a second are taken on; new work waits or is refused, work begun goes on.
    "flow_control.write" flow_control_write: FlowControlWrite {
        /// Whether there is any limit, also by throttling.
        enabled: bool = false;
        /// Records a second. 0 for no limit but that of throttling.
        limit: u64 = 0;
        /// Time in which the limit grows to its full height after the start.
        ramp_up: Duration = s(0), [s(0), DAY];
    }

    /// The write limit follows the slowest exporter, so that its backlog stays bounded.
    "flow_control.write.throttle" flow_control_write_throttle: FlowControlWriteThrottle {
        /// Whether it does. flow_control.write.enabled must be set, too.
        enabled: bool = false;
        /// Records that may wait for an exporter.
        acceptable_backlog: u64 = 100_000, [1, 1_000_000_000_000];
        /// The limit never falls below, in records a second.
        minimum_limit: u64 = 100, [1, 1_000_000_000];
        /// How often the limit is looked at.
        resolution: Duration = s(15), [s(1), s(600)];
    }

    /// Handing out jobs.
    "jobs" jobs: Jobs {
        /// Jobs that are under way to one job stream; more are activated when the worker has taken some.
        stream_buffer: usize = 64, [1, 10_000];
        /// Jobs that a new job stream may hold delivered and not yet ended. The number then follows what its worker gets done.
        first_stream_credit: u32 = 32, [1, 10_000];
        /// The same for some job types, such as 'archive=1000;print=1'.
        first_stream_credits: JobCredits = JobCredits::default();
        /// Jobs that one stream may hold at the most.
        max_stream_credit: u32 = 2000, [1, 10_000];
        /// Workers whose demand goes into one entry of the log; the others take their turn in the next.
        max_demand_per_batch: usize = 64, [1, 10_000];
    }

    /// The state between two flushes is in memory; a flush writes it to disk in the background.
    "state" state: State {
        /// How often it is flushed.
        flush_interval: Duration = s(5), [ms(10), s(3600)];
        /// It is flushed earlier when it has grown to this size.
        flush_bytes: Size = Size::mib(32), [Size::mib(1), Size(64 << 30)];
        /// Memory for pages of the file.
        page_cache_bytes: Size = Size::mib(16), [Size::mib(1), Size(1 << 40)];
        /// Memory for values that are as on disk. 0 for none.
        value_cache_bytes: Size = Size::mib(16), [Size(0), Size(1 << 40)];
    }

    /// The log of commands.
    "log" log: Log {
        /// Size of one of its files.
        segment_bytes: Size = Size::mib(8), [Size::mib(1), Size(1 << 30)];
        /// Files that are not needed any more are kept for reuse up to this size in all.
        retained_bytes: Size = Size::mib(32), [Size::mib(1), Size(1 << 40)];
        /// Entries from this size on are compressed. 0 compresses none.
        compression_threshold_bytes: Size = Size(8 << 10), [Size(0), Size(1 << 30)];
        /// Memory for entries that are applied already, for replicas that lag a little.
        cache_bytes: Size = Size::mib(1), [Size(0), Size(1 << 30)];
    }

    /// Handing on what happened. Records that an exporter has not taken yet wait in memory, then on disk.
    "export" export: Export {
        /// Memory for waiting records.
        memory_bytes: Size = Size::mib(32), [Size::mib(1), Size(1 << 36)];
        /// Size of one file of waiting records.
        spill_segment_bytes: Size = Size::mib(32), [Size::mib(1), Size(1 << 30)];
        /// Room on disk for waiting records. Beyond it, requests wait or are refused.
        max_spill_bytes: Size = Size(4 << 30), [Size::mib(16), Size(1 << 50)];
        /// How often an exporter writes what it took: so long it takes at the most, and the writing itself, until what happened can be found. Longer ones
        /// cost less, since what begins and ends in between is written once.
        flush_interval: Duration = ms(100), [ms(10), s(60)];
        /// A record that the target of an exporter refused so many times, while it takes others, is set aside. 0: never; the exporter stands still then.
        park_after: u32 = 5, [0, 1000];
    }

    /// Records as lines of JSON in files.
    "export.ndjson" export_ndjson: ExportNdjson {
        /// Whether they are written.
        enabled: bool = false;
        /// Directory of the files; relative to data.directory.
        directory: PathBuf = PathBuf::from("export/ndjson");
        /// Size of one file; the next one is begun then.
        max_file_bytes: Size = Size::mib(64), [Size(64 << 10), Size(1 << 40)];
        /// How many finished files are kept, the latest ones. 0 keeps all.
        max_files: u32 = 16;
    }

    /// Records as documents in OpenSearch or Elasticsearch.
    "export.opensearch" export_opensearch: ExportOpensearch {
        /// Whether they are sent.
        enabled: bool = false;
        /// Nodes of one cluster, with commas between; the next one is asked when one is away.
        urls: Names = Names(vec!["http://localhost:9200".to_owned()]);
        /// Who asks; nothing asks without credentials.
        username: Option<Text> = None;
        /// The password.
        password: Secret = Secret::default();
        /// Authorities to trust, as a PEM file; by default those that the machine trusts.
        authorities: Option<PathBuf> = None;
        /// What the names of all indices, aliases and templates begin with.
        index_prefix: Text = Text("zeebe-record".to_owned());
        /// Shards of each index that is made.
        number_of_shards: u32 = 1, [1, 1024];
        /// Further copies of each shard.
        number_of_replicas: u32 = 0, [0, 100];
        /// Documents that are sent at once.
        bulk_count: usize = 1000, [1, 100_000];
        /// Size of what is sent at once; a document that is larger goes alone.
        bulk_bytes: Size = Size::mib(10), [Size(64 << 10), Size::mib(100)];
        /// How long connecting may take.
        connect_timeout: Duration = s(5), [ms(100), s(600)];
        /// How long the answer to what is written may take.
        write_timeout: Duration = s(60), [s(1), s(3600)];
        /// How long records may wait until there is enough to be sent.
        delay: Duration = s(5), [Duration::ZERO, s(600)];
        /// Value types that are sent, such as PROCESS_INSTANCE,JOB; all if empty.
        value_types: Names = Names::default();
        /// Value types that are not sent.
        excluded_value_types: Names = Names::default();
    }

    /// Secondary storage: where searches find what happened.
    "secondary_storage" secondary_storage: SecondaryStorage {
        /// Which one: sqlite (a file beside the data), postgres (a database), opensearch (OpenSearch or Elasticsearch), or none; then there are no searches.
        kind: StorageKind = StorageKind::Sqlite;
        /// How long a request that names a position (Baton-Await-Position) may wait for it.
        await_timeout: Duration = s(5), [ms(10), s(600)];
        /// How long a search may wait until it shows everything that was answered before it came; then it is answered as it is, with the header Baton-Lag. 0: it does not wait.
        fresh_timeout: Duration = s(1), [Duration::ZERO, s(600)];
        /// How long a search may take.
        query_timeout: Duration = s(10), [ms(10), s(600)];
    }

    /// The file of the embedded secondary storage.
    "secondary_storage.sqlite" secondary_storage_sqlite: SecondaryStorageSqlite {
        /// The file; below the data directory if it is not absolute.
        path: PathBuf = PathBuf::from("secondary-storage.sqlite");
        /// Searches at a time; more wait.
        readers: usize = 2, [1, 1000];
        /// Memory for pages, for each of them and the writer.
        page_cache_bytes: Size = Size::mib(16), [Size::mib(1), Size(1 << 40)];
        /// How often what is written becomes durable. Nothing is lost with the power: what comes after the last time is written again.
        sync_interval: Duration = s(1), [ms(0), s(60)];
    }

    /// PostgreSQL as secondary storage.
    "secondary_storage.postgres" secondary_storage_postgres: SecondaryStoragePostgres {
        /// The database, with parameters as libpq names them, such as ?sslmode=verify-full. The database must be there.
        url: PostgresUrl = PostgresUrl::default();
        /// Who connects; as the URL says if empty.
        username: Option<Text> = None;
        /// The password; as the URL says if empty.
        password: Secret = Secret::default();
        /// The schema of the tables, used for nothing else. Made when it is not there.
        schema: Text = Text("baton".to_owned());
        /// Searches at a time; more wait. Each takes a connection, and so does each partition that writes.
        readers: usize = 8, [1, 1000];
        /// How long connecting may take.
        connect_timeout: Duration = s(10), [ms(100), s(600)];
        /// How long one statement that writes may take.
        write_timeout: Duration = s(60), [s(1), s(3600)];
    }

    /// OpenSearch or Elasticsearch as secondary storage.
    "secondary_storage.opensearch" secondary_storage_opensearch: SecondaryStorageOpensearch {
        /// Nodes of one cluster, with commas between; the next one is asked when one is away.
        urls: Names = Names(vec!["http://localhost:9200".to_owned()]);
        /// Who asks; nothing asks without credentials.
        username: Option<Text> = None;
        /// The password.
        password: Secret = Secret::default();
        /// Authorities to trust, as a PEM file; by default those that the machine trusts.
        authorities: Option<PathBuf> = None;
        /// What the names of all indices, aliases, templates and scripts begin with.
        index_prefix: Text = Text("baton".to_owned());
        /// Shards of each index that is made.
        number_of_shards: u32 = 1, [1, 1024];
        /// Further copies of each shard.
        number_of_replicas: u32 = 1, [0, 100];
        /// Documents that are sent at once.
        bulk_count: usize = 1000, [1, 100_000];
        /// Size of what is sent at once; a document that is larger goes alone.
        bulk_bytes: Size = Size::mib(10), [Size(64 << 10), Size::mib(100)];
        /// How long connecting may take.
        connect_timeout: Duration = s(5), [ms(100), s(600)];
        /// How long the answer to what is written may take.
        write_timeout: Duration = s(60), [s(1), s(3600)];
    }

    /// How long secondary storage keeps what has ended.
    "secondary_storage.retention" secondary_storage_retention: Retention {
        /// Whether anything is removed at all.
        enabled: bool = false;
        /// How often it looks for what is too old.
        interval: Duration = s(60), [s(1), DAY];
        /// Process instances with all that belongs to them, called instances included, since the end of the outermost one.
        process_instances: Duration = days(30), [s(1), days(36_500)];
        /// Decisions that were evaluated on their own.
        decisions: Duration = days(30), [s(1), days(36_500)];
        /// Batch operations and their items.
        batch_operations: Duration = days(30), [s(1), days(36_500)];
        /// Entries of the audit log.
        audit_log: Duration = days(30), [s(1), days(36_500)];
        /// What was used, and who was assigned to tasks.
        usage_metrics: Duration = days(730), [s(1), days(36_500)];
        /// Counts of jobs.
        job_metrics: Duration = days(30), [s(1), days(36_500)];
        /// Exceptions, separated by ';'. Each is one of the kinds above and 'keep=' an age or 'forever', and if wanted 'definition=' (the ID of a process or decision) and 'tenant='. The first that fits decides.
        rules: RetentionRules = RetentionRules::default();
    }

    /// The audit log: who did what, kept in secondary storage.
    "audit_log" audit_log: AuditLog {
        /// Whether there is one.
        enabled: bool = true;
        /// What is kept of what users do, and of what is done without a name: admin, deployed_resources, user_tasks.
        user_categories: Categories = Categories::all();
        /// What is kept of what clients do, of the same.
        client_categories: Categories = Categories::none();
        /// Kinds of things that are left out of what is kept of users, such as variable,job.
        user_excludes: EntityTypes = EntityTypes::default();
        /// The same of clients.
        client_excludes: EntityTypes = EntityTypes::default();
    }

    /// What was used, kept in secondary storage: process instances, decisions, assignees.
    "usage_metrics" usage_metrics: UsageMetrics {
        /// What it is counted by: one row for each tenant. A question for a time counts the intervals that begin in it, each as a whole.
        interval: Duration = s(300), [s(1), DAY];
    }

    /// What is refused for its size.
    "limits" limits: Limits {
        /// A request, a set of variables, a deployment.
        max_message_bytes: Size = Size::mib(4), [Size(64 << 10), Size::mib(32)];
        /// Time that the evaluation of an expression outside of any instance may take.
        expression_timeout: Duration = s(5), [ms(1), s(60)];
        /// How many of those run at once. Each may take `max_evaluation_bytes` of memory; further ones wait within their time.
        max_evaluations_at_once: usize = 2, [1, 256];
        /// Fuel that the expressions and decisions of one command may use together: a unit is a node evaluated, an item made, 8 to 32 bytes gone over, and takes some 20 ns. The rest of the command goes on later, behind what else waits.
        max_fuel_per_command: u64 = 150_000, [1000, 1_000_000_000];
        /// Fuel that those of one step may use, such as all input mappings of an element. Beyond it, the step ends in an incident. It bounds for how long one process can keep all others waiting.
        max_fuel_per_step: u64 = 1_500_000, [10_000, 1_000_000_000];
        /// Bytes of the values that one step may make. Beyond it, the step ends in an incident.
        max_bytes_per_step: Size = Size::mib(16), [Size(64 << 10), Size::mib(256)];
        /// Bytes of memory of the values that the expressions and decisions of one step may make on the way, and an evaluation outside of any instance, whether they are stored or not. Beyond it, the step ends in an incident.
        max_evaluation_bytes: Size = Size::mib(32), [Size(256 << 10), Size::mib(1024)];
        /// Bytes of one variable as JSON. A request with a larger one is refused, an expression that makes one ends in an incident.
        max_variable_bytes: Size = Size::mib(4), [Size(16 << 10), Size::mib(32)];
        /// Bytes of an output collection, and of the items of a multi-instance activity that an expression makes.
        max_collection_bytes: Size = Size::mib(4), [Size(16 << 10), Size::mib(32)];
        /// Bytes of the variables of a process instance that have 1 KiB or more each. An element that would make more ends in an incident.
        max_instance_variable_bytes: Size = Size::mib(32), [Size(64 << 10), Size::mib(4096)];
        /// Bytes of the records that one command makes, about. The rest of the command goes on later, behind what else waits.
        max_record_bytes_per_command: Size = Size::mib(16), [Size(64 << 10), Size::mib(256)];
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

    /// Creating process instances.
    "instances" instances: Instances {
        /// Whether a business ID belongs to at most one running instance of a process at a time, called instances aside. Another creation with it is refused. Instances created while this is off do not count.
        unique_business_ids: bool = false;
    }

    /// User tasks.
    "user_tasks" user_tasks: UserTasks {
        /// Listeners of all of them, separated by ';'. Each is an ID and 'type=' its job type, and if wanted 'events=' with a list (creating, assigning, updating, completing, canceling; all if it is missing), 'retries=' (3), 'priority=' (50) and 'after', which puts it after the listeners of the model. They are there anew after each start, whatever requests have done to them or to others with their IDs.
        listeners: Listeners = Listeners::default();
    }

    /// What clients find in the topology.
    "cluster" cluster: Cluster {
        /// ID of the cluster.
        id: Text = Text("baton".to_owned());
        /// Host name of this broker for clients.
        advertised_host: Text = Text("127.0.0.1".to_owned());
    }

    /// Files that processes refer to.
    "documents" documents: Documents {
        /// Where they are kept: in a directory, in memory and gone with the process, or in a bucket of a cloud, which all brokers share: s3, gcs or azure. With none there are only those of documents.stores.
        kind: DocumentStoreKind = DocumentStoreKind::Directory;
        /// Directory of the files; relative to data.directory. For kind directory.
        directory: PathBuf = PathBuf::from("documents");
        /// Size of one file. What else is in a form has limits.max_message_bytes.
        max_bytes: Size = Size::mib(10), [Size(1 << 10), Size(1 << 40)];
        /// How long a file is kept when nobody says. For ever if it is 0s.
        time_to_live: Duration = s(0), [s(0), days(36_500)];
        /// More stores, separated by ';': the ID that requests and references to documents name, then what differs from here, such as 'archive kind=s3 bucket.name=old-files s3.region=eu-west-1'. Sizes and times that one does not say are as here.
        stores: NamedStores = NamedStores::default();
        /// ID of the store that is meant by requests that name none. Without it, the one that is described here, or the only one.
        default_store: Option<Text> = None;
    }

    /// The bucket of the files, for the kinds s3, gcs and azure, which calls it a container.
    "documents.bucket" documents_bucket: DocumentsBucket {
        /// Its name. It must be there.
        name: Option<Text> = None;
        /// What the names of all objects in it begin with: a path without a slash at its ends.
        prefix: Option<Text> = None;
        /// How long a connection may take, TLS included.
        connect_timeout: Duration = s(5), [ms(10), s(300)];
        /// How long one request may take, and after how long a failed one is not tried again.
        request_timeout: Duration = s(20), [ms(100), DAY];
        /// How often a failed request is tried again.
        retries_max: usize = 3, [0, 100];
        /// PEM file with authorities that are trusted beside those of the machine.
        authorities: Option<PathBuf> = None;
    }

    /// How a bucket of Amazon S3 is reached, or of whatever speaks its language.
    "documents.s3" documents_s3: DocumentsS3 {
        /// Where the bucket is. Without it, what AWS_REGION says, or us-east-1.
        region: Option<Text> = None;
        /// URL of a store that is not Amazon's.
        endpoint: Option<Text> = None;
        /// Who asks. Without it, as the variables AWS_ACCESS_KEY_ID and the like, a web identity, the container or the machine say.
        access_key_id: Option<Text> = None;
        /// The secret of that key.
        secret_access_key: Secret = Secret::default();
    }

    /// How a bucket of Google Cloud Storage is reached.
    "documents.gcs" documents_gcs: DocumentsGcs {
        /// JSON file with the key of a service account. Without it, as GOOGLE_APPLICATION_CREDENTIALS or the machine says.
        service_account: Option<PathBuf> = None;
        /// URL of a store that is not Google's.
        endpoint: Option<Text> = None;
    }

    /// How a container of Azure Blob Storage is reached.
    "documents.azure" documents_azure: DocumentsAzure {
        /// The storage account. Without it, what AZURE_STORAGE_ACCOUNT_NAME says.
        account: Option<Text> = None;
        /// Its key. Without it, as the variables AZURE_STORAGE_ACCOUNT_KEY and the like or the machine say.
        access_key: Secret = Secret::default();
        /// URL of a store that is not Microsoft's.
        endpoint: Option<Text> = None;
    }

    /// Keeping the data of tenants apart.
    "multi_tenancy" multi_tenancy: MultiTenancy {
        /// Whether requests name tenants other than <default>. With an authentication method, whoever asks must be assigned to the tenant.
        enabled: bool = false;
    }

    /// The clock that timers run by.
    "clock" clock: Clock {
        /// Whether clients may pin and move it. For tests only.
        controlled: bool = false;
    }

    /// Traces of requests, for a collector of OpenTelemetry.
    "tracing" tracing: Tracing {
        /// Whether there are any.
        enabled: bool = false;
        /// Where they are sent: OTLP over gRPC.
        endpoint: Text = Text("http://localhost:4317".to_owned());
        /// Part of the requests that are traced. A client that sends a traceparent decides for its requests itself.
        ratio: f64 = 0.01, [0.0, 1.0];
        /// What this server is called in them.
        service: Text = Text("baton".to_owned());
    }

    /// What is written to the standard error output.
    "logging" logging: Logging {
        /// A level (off, error, warn, info, debug, trace), or a list such as info,broker=debug. Some libraries are quiet unless they are named, such as openraft=info.
        level: Levels = Levels("info".to_owned());
        /// One line for people (text) or one object per line (json).
        format: LogFormat = LogFormat::Text;
    }
}

impl Config {
    /// Rules between keys: what is wrong, each naming its keys.
    pub(crate) fn contradictions(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut at_most = |fine: bool, lower: &str, upper: &str| {
            if !fine {
                wrong.push(format!("'{lower}' is greater than '{upper}'"));
            }
        };
        let flow = &self.flow_control;
        let vegas = &self.flow_control_vegas;
        at_most(
            self.data.min_free_log_bytes <= self.data.min_free_bytes,
            "data.min_free_log_bytes",
            "data.min_free_bytes",
        );
        at_most(flow.min_limit <= flow.initial_limit, "flow_control.min_limit", "flow_control.initial_limit");
        at_most(flow.initial_limit <= flow.max_limit, "flow_control.initial_limit", "flow_control.max_limit");
        at_most(vegas.alpha <= vegas.beta, "flow_control.vegas.alpha", "flow_control.vegas.beta");
        at_most(self.log.segment_bytes <= self.log.retained_bytes, "log.segment_bytes", "log.retained_bytes");
        wrong.extend(self.contradictions_of_security());
        wrong.extend(self.not_built_in());
        #[cfg(feature = "opensearch")]
        wrong.extend(self.contradictions_of_opensearch());
        wrong.extend(self.contradictions_of_documents());
        wrong
    }
}
