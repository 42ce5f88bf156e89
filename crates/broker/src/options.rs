//! Options of a broker. Their documented defaults are printed by the binary.

#![expect(missing_docs, reason = "names say what is held")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use protocol::Name;

use crate::apply_watch::ApplyWatch;
use crate::clock::WallClock;
use crate::flow_control::FlowControlOptions;
use crate::snapshot_transfer::BYTES_PER_SECOND;
use crate::store_queries::StoreQueries;
use crate::write_limit::WriteLimitOptions;

/// Applying a batch takes too long after this time.
const APPLY_LIMIT: Duration = Duration::from_secs(5);

/// Options of a broker.
#[derive(Debug, Clone)]
pub struct Options {
    /// Directory of everything durable.
    pub data_dir: PathBuf,
    /// Number of this broker, from 0.
    pub node_id: u32,
    pub cluster_id: String,
    /// Host name for clients, shown in the topology.
    pub advertised_host: String,
    /// gRPC port for clients, shown in the topology.
    pub advertised_port: u16,
    /// Largest message or document, in bytes.
    pub max_message_bytes: usize,
    /// The clock of the machine.
    pub wall_clock: WallClock,
    /// Whether clients may pin the clock.
    pub controlled_clock: bool,
    /// Whether a business ID belongs to at most one running root instance of a process.
    pub unique_business_ids: bool,
    /// Listeners of all user tasks that no client can change.
    pub global_listeners: Vec<protocol::GlobalListener>,
    /// Time that a stand-alone expression may take.
    pub expression_timeout: Duration,
    /// How many of those run at once; further ones wait within that time.
    pub max_evaluations_at_once: usize,
    /// How much work commands may be.
    pub work: engine::WorkLimits,
    /// How long and how many idempotency keys are kept.
    pub idempotency: protocol::IdempotencySettings,
    pub bpmn: bpmn::Limits,
    pub dmn: dmn::Limits,
    /// From commands to log entries.
    pub ingress: IngressOptions,
    /// How much is taken on.
    pub flow_control: FlowControlOptions,
    /// How much is written.
    pub write_limit: WriteLimitOptions,
    pub jobs: JobOptions,
    /// State and its flushes.
    pub state: StateOptions,
    pub disk: DiskOptions,
    pub log: replication::LogOptions,
    /// Bytes of log that are kept at most for other brokers of the cluster that lack them.
    pub log_kept_bytes: u64,
    pub export: export::Options,
    /// Directory of backups, if there is one.
    pub backups: Option<PathBuf>,
    /// The embedded store of a cluster, which some brokers have copies of.
    pub store: Option<Arc<StoreQueries>>,
    /// Connections to the other brokers of a cluster.
    pub peers: PeerOptions,
    /// Looks whether applying a batch takes too long, from before the start on.
    pub apply_watch: ApplyWatch,
    /// The engine stands still when an element of this ID completes. For tests.
    #[doc(hidden)]
    pub stall_at: Option<protocol::Name>,
}

impl Options {
    /// Defaults for a data directory.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            node_id: 0,
            cluster_id: "baton".to_owned(),
            advertised_host: "127.0.0.1".to_owned(),
            advertised_port: 26500,
            max_message_bytes: 4 * 1024 * 1024,
            wall_clock: WallClock::default(),
            controlled_clock: false,
            unique_business_ids: false,
            global_listeners: Vec::new(),
            expression_timeout: Duration::from_secs(5),
            max_evaluations_at_once: 2,
            work: engine::WorkLimits::default(),
            idempotency: protocol::IdempotencySettings::default(),
            bpmn: bpmn::Limits::default(),
            dmn: dmn::Limits::default(),
            ingress: IngressOptions::default(),
            flow_control: FlowControlOptions::default(),
            write_limit: WriteLimitOptions::default(),
            jobs: JobOptions::default(),
            state: StateOptions::default(),
            disk: DiskOptions::default(),
            log: replication::LogOptions::default(),
            log_kept_bytes: replication::GroupOptions::default().log_kept_bytes_max,
            export: export::Options::default(),
            backups: None,
            store: None,
            peers: PeerOptions::default(),
            apply_watch: ApplyWatch::new(APPLY_LIMIT),
            stall_at: None,
        }
    }
}

/// Connections to the other brokers of a cluster.
#[derive(Debug, Clone)]
pub struct PeerOptions {
    /// TLS with certificates of both sides; without, connections are not encrypted.
    pub certificates: Option<transport::Certificates>,
    /// Whether frames are compressed where the other side wants it, too.
    pub compresses: bool,
    /// Speed at which snapshots are sent to other brokers, one at a time.
    pub snapshot_bytes_per_second: u64,
}

impl Default for PeerOptions {
    fn default() -> Self {
        Self { certificates: None, compresses: false, snapshot_bytes_per_second: BYTES_PER_SECOND }
    }
}

/// From commands to log entries.
#[derive(Debug, Clone)]
pub struct IngressOptions {
    /// Commands of one log entry.
    pub max_batch_commands: usize,
    /// Bytes of the variables and resources of one log entry, above which it is closed.
    pub max_batch_bytes: usize,
    /// Log entries under way at once.
    pub max_batches_in_flight: usize,
}

impl Default for IngressOptions {
    fn default() -> Self {
        Self { max_batch_commands: 256, max_batch_bytes: 1024 * 1024, max_batches_in_flight: 2 }
    }
}

#[derive(Debug, Clone)]
pub struct JobOptions {
    /// Jobs that wait in the buffer of one stream; demand never exceeds it.
    pub stream_buffer: usize,
    /// Jobs that a new stream may hold.
    pub first_stream_credit: u32,
    /// The same for some job types.
    pub first_stream_credits: BTreeMap<Name, u32>,
    /// Jobs that a stream may hold at the most.
    pub max_stream_credit: u32,
    /// Subscribers whose demand goes into one log entry.
    pub max_demand_per_batch: usize,
}

impl Default for JobOptions {
    fn default() -> Self {
        Self {
            stream_buffer: 64,
            first_stream_credit: 32,
            first_stream_credits: BTreeMap::new(),
            max_stream_credit: 2000,
            max_demand_per_batch: 64,
        }
    }
}

impl JobOptions {
    /// Jobs of a type that a new stream may hold.
    pub fn first_credit_of(&self, job_type: &Name) -> u32 {
        self.first_stream_credits.get(job_type).copied().unwrap_or(self.first_stream_credit)
    }
}

/// State and its flushes.
#[derive(Debug, Clone)]
pub struct StateOptions {
    /// Time after which changes are flushed to disk.
    pub flush_interval: Duration,
    /// Bytes of changes after which they are flushed to disk.
    pub flush_bytes: usize,
    /// Bytes of the cache of disk pages.
    pub page_cache_bytes: usize,
    /// Bytes of the cache of decoded values.
    pub value_cache_bytes: u64,
}

impl Default for StateOptions {
    fn default() -> Self {
        Self {
            flush_interval: Duration::from_secs(5),
            flush_bytes: 32 * 1024 * 1024,
            page_cache_bytes: 16 * 1024 * 1024,
            value_cache_bytes: 16 * 1024 * 1024,
        }
    }
}

#[derive(Debug, Clone)]
pub struct DiskOptions {
    /// Commands are refused while less than this is free, in bytes.
    pub min_free_bytes: u64,
    /// How often to look.
    pub check_interval: Duration,
}

impl Default for DiskOptions {
    fn default() -> Self {
        Self { min_free_bytes: 1024 * 1024 * 1024, check_interval: Duration::from_secs(1) }
    }
}
