//! PartitionOptions of a partition. Their documented defaults are printed by the binary.

#![expect(missing_docs, reason = "names say what is held")]

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use protocol::{FIRST_PARTITION, Name, PartitionId, PartitionSettings};

use crate::apply_watch::ApplyWatch;
use crate::clock::WallClock;
use crate::flow_control::FlowControlOptions;
use crate::write_limit::WriteLimitOptions;

/// Time-out after which applying a batch counts as too slow.
const APPLY_LIMIT: Duration = Duration::from_secs(5);

/// Options of a partition.
#[derive(Debug, Clone)]
pub struct PartitionOptions {
    /// Its number.
    pub number: PartitionId,
    /// How many partitions there are.
    pub partitions: PartitionSettings,
    /// Directory of everything durable.
    pub data_dir: PathBuf,
    /// Number of this broker, from 0.
    pub node_id: u32,
    /// Largest message or document, in bytes.
    pub max_message_bytes: usize,
    /// Messages to another partition beyond which new work is refused.
    pub max_outbox_messages: u64,
    /// The clock of the machine.
    pub wall_clock: WallClock,
    /// Whether clients may pin the clock.
    pub controlled_clock: bool,
    /// Whether a business ID belongs to at most one running root instance of a process.
    pub unique_business_ids: bool,
    /// Listeners of all user tasks that no client can change.
    pub global_listeners: Vec<protocol::GlobalListener>,
    /// Limits of the work of commands.
    pub work: engine::WorkLimits,
    /// How long and how many idempotency keys are kept.
    pub idempotency: protocol::IdempotencySettings,
    pub bpmn: bpmn::Limits,
    pub dmn: dmn::Limits,
    /// Options of the way from commands to log entries.
    pub ingress: IngressOptions,
    /// Options of flow control.
    pub flow_control: FlowControlOptions,
    /// Options of the write limit.
    pub write_limit: WriteLimitOptions,
    pub jobs: JobOptions,
    /// Options of the state and its flushes.
    pub state: StateOptions,
    pub log: replication::LogOptions,
    /// Bytes of log that are kept at most for other brokers of the cluster that lack them.
    pub log_kept_bytes: u64,
    pub export: export::Options,
    /// Watch for batches that take too long to apply, from before the start on.
    pub apply_watch: ApplyWatch,
    /// For tests: ID of an element at whose completion the engine stalls.
    #[doc(hidden)]
    pub stall_at: Option<protocol::Name>,
}

impl PartitionOptions {
    /// Defaults for a data directory.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            number: FIRST_PARTITION,
            partitions: PartitionSettings::default(),
            data_dir: data_dir.into(),
            node_id: 0,
            max_message_bytes: 4 * 1024 * 1024,
            max_outbox_messages: 100_000,
            wall_clock: WallClock::default(),
            controlled_clock: false,
            unique_business_ids: false,
            global_listeners: Vec::new(),
            work: engine::WorkLimits::default(),
            idempotency: protocol::IdempotencySettings::default(),
            bpmn: bpmn::Limits::default(),
            dmn: dmn::Limits::default(),
            ingress: IngressOptions::default(),
            flow_control: FlowControlOptions::default(),
            write_limit: WriteLimitOptions::default(),
            jobs: JobOptions::default(),
            state: StateOptions::default(),
            log: replication::LogOptions::default(),
            log_kept_bytes: replication::GroupOptions::default().log_kept_bytes_max,
            export: export::Options::default(),
            apply_watch: ApplyWatch::new(FIRST_PARTITION, APPLY_LIMIT),
            stall_at: None,
        }
    }

    /// The state as the broker is configured.
    pub(crate) fn store(&self) -> state::Options {
        state::Options {
            page_cache_bytes: self.state.page_cache_bytes,
            clean_cache_bytes: self.state.value_cache_bytes,
        }
    }

    /// The engine as the broker is configured; settings in its state win.
    pub(crate) fn engine(&self) -> engine::Options {
        engine::Options {
            partition_id: self.number,
            partitions: self.partitions,
            max_delivery_bytes: self.max_message_bytes,
            work: self.work,
            idempotency: self.idempotency,
            bpmn: self.bpmn.clone(),
            dmn: self.dmn.clone(),
            records: self.export.is_enabled(),
            unwanted_records: self.export.unwanted(),
            at_work: self.apply_watch.at_work(),
            fault: self.stall_at.clone().map(|element| (engine::FaultPoint::Complete, element)),
            fault_is_stall: self.stall_at.is_some(),
            ..engine::Options::default()
        }
    }
}

/// Options of the way from commands to log entries.
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
    /// Jobs that a new stream may hold, by job type, where it differs from [`Self::first_stream_credit`].
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
    /// Interval between measurements.
    pub check_interval: Duration,
    /// Directories beside that of the data that must have as much: they may be on other disks.
    pub further: Vec<PathBuf>,
    /// Probe that measures the free space.
    pub probe: DiskProbe,
}

impl Default for DiskOptions {
    fn default() -> Self {
        Self {
            min_free_bytes: 1024 * 1024 * 1024,
            check_interval: Duration::from_secs(1),
            further: Vec::new(),
            probe: DiskProbe::default(),
        }
    }
}

type Look = dyn Fn(&Path) -> Option<(u64, u64)> + Send + Sync;

/// Finds out how many bytes are free on the disk of a directory, and how many it has.
#[derive(Clone)]
pub struct DiskProbe(Arc<Look>);

impl Default for DiskProbe {
    fn default() -> Self {
        Self::new(|directory| {
            let stat = rustix::fs::statvfs(directory).ok()?;
            let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
            Some((bytes(stat.f_bavail), bytes(stat.f_blocks)))
        })
    }
}

impl DiskProbe {
    /// Another way to look; `None` says that the directory cannot be looked at.
    pub fn new(look: impl Fn(&Path) -> Option<(u64, u64)> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    pub(crate) fn look(&self, directory: &Path) -> Option<(u64, u64)> {
        (self.0)(directory)
    }
}

impl fmt::Debug for DiskProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DiskProbe")
    }
}
