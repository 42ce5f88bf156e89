//! Options of exporting.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use protocol::{Intent, PartitionId};

use crate::copies::Copies;
use crate::exporter::Exporter;
use crate::ndjson::{self, NdjsonExporter, NdjsonOptions};

/// Options of exporting.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// From the partition to the exporters.
    pub stream: StreamOptions,
    /// The exporter to files of newline-delimited JSON.
    pub ndjson: NdjsonOptions,
    /// Exporters that are not of this crate.
    pub others: Vec<Factory>,
    /// If other replicas have an exporter that this one has not: the intents whose records that has no use for.
    pub unwanted_elsewhere: Option<&'static [Intent]>,
}

/// Makes the exporter of a partition.
#[derive(Clone)]
pub struct Factory {
    /// Makes it.
    pub make: Arc<dyn Fn(PartitionId) -> Box<dyn Exporter> + Send + Sync>,
    /// Intents whose records it has no use for.
    pub unwanted: &'static [Intent],
    /// The copies of its target, if each replica has its own. Else its target is that of all replicas.
    pub copies: Option<Arc<Copies>>,
    /// Is told up to which position the target of all replicas shows what another replica has exported.
    pub shown: Option<Shown>,
}

/// Is told a position of a partition.
pub type Shown = Arc<dyn Fn(PartitionId, u64) + Send + Sync>;

/// An exporter as it is configured.
pub struct Configured {
    /// The exporter.
    pub exporter: Box<dyn Exporter>,
    /// The owner of its target.
    pub target: TargetOwner,
}

/// The owner of an exporter's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetOwner {
    /// Each replica has one of its own.
    Own,
    /// Each replica has one of its own, which can be copied from that of another one.
    Copied,
    /// All replicas have one together: the one that leads feeds it.
    Shared,
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Factory")
    }
}

impl Options {
    /// Whether any exporter is configured.
    pub fn is_enabled(&self) -> bool {
        self.ndjson.enabled || !self.others.is_empty()
    }

    /// Intents whose records no exporter has a use for.
    pub fn unwanted(&self) -> Vec<Intent> {
        if self.ndjson.enabled {
            return Vec::new();
        }
        let mut lists = self.others.iter().map(|factory| factory.unwanted).chain(self.unwanted_elsewhere);
        let Some(first) = lists.next() else { return Vec::new() };
        let others: Vec<_> = lists.collect();
        let nobody = |intent: &&Intent| others.iter().all(|unwanted| unwanted.contains(intent));
        first.iter().filter(nobody).copied().collect()
    }

    /// The exporters that are configured, for one partition.
    pub fn exporters(&self, data_dir: &Path, partition: PartitionId) -> Vec<Configured> {
        let mut exporters = Vec::new();
        if self.ndjson.enabled {
            let directory = self.ndjson.directory.clone();
            let directory = directory.unwrap_or_else(|| data_dir.join("export").join(ndjson::ID));
            let exporter = Box::new(NdjsonExporter::new(&directory, partition, &self.ndjson));
            exporters.push(Configured { exporter, target: TargetOwner::Own });
        }
        exporters.extend(self.others.iter().map(|factory| {
            let target = if factory.copies.is_some() { TargetOwner::Copied } else { TargetOwner::Shared };
            Configured { exporter: (factory.make)(partition), target }
        }));
        exporters
    }

    /// Tells all who want to know up to which position the targets of all replicas show what another one has exported.
    pub fn shown(&self, partition: PartitionId, position: u64) {
        for shown in self.others.iter().filter_map(|factory| factory.shown.as_ref()) {
            shown(partition, position);
        }
    }

    /// The copies of an exporter's target, if each replica has its own.
    pub fn copies(&self) -> Option<&Arc<Copies>> {
        self.others.iter().find_map(|factory| factory.copies.as_ref())
    }

    /// Directory of what is spilled for one partition.
    pub fn spill_directory(data_dir: &Path, partition: PartitionId) -> PathBuf {
        data_dir.join("export").join(format!("partition-{partition}"))
    }
}

/// From the partition to the exporters.
#[derive(Debug, Clone)]
pub struct StreamOptions {
    /// Records kept in memory, in bytes; above it, the oldest are spilled to disk. At twice this size (the spill cannot
    /// be written) new work is refused.
    pub memory_bytes: usize,
    /// Size at which a spill file is closed and the next one begun, in bytes.
    pub spill_segment_bytes: u64,
    /// Size of the spill above which new work is refused, in bytes; everything is refused at a quarter more.
    pub spill_max_bytes: u64,
    /// Records that an exporter is given at once.
    pub max_records_per_call: usize,
    /// Bytes that an exporter takes before it is asked to flush.
    pub flush_bytes: usize,
    /// Time from one flush of what an exporter took to the next. Positions advance, and readers of what is exported see
    /// it, at this pace; what comes after a rest is flushed as soon as it has gathered.
    pub flush_interval: Duration,
    /// The longest time from one flush to the next while somebody looks for what is exported.
    pub hasten_interval: Duration,
    /// An exporter that has taken everything is not woken again before this time is over, so that it takes
    /// records in bulk.
    pub gather_interval: Duration,
    /// First pause of an exporter that failed; doubles up to `retry_max`.
    pub retry_min: Duration,
    /// Longest pause of an exporter that failed.
    pub retry_max: Duration,
    /// A record that the exporter's target refused so many times is parked. 0: never.
    pub park_after: u32,
    /// Before a flush of the state spills records, exporters that keep up get this time to acknowledge them: then
    /// nothing is written.
    pub flush_grace: Duration,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            memory_bytes: 32 * 1024 * 1024,
            spill_segment_bytes: 32 * 1024 * 1024,
            spill_max_bytes: 4 * 1024 * 1024 * 1024,
            max_records_per_call: 4096,
            flush_bytes: 4 * 1024 * 1024,
            flush_interval: Duration::from_secs(1),
            hasten_interval: Duration::from_millis(50),
            gather_interval: Duration::from_millis(20),
            retry_min: Duration::from_millis(100),
            retry_max: Duration::from_secs(10),
            park_after: 5,
            flush_grace: Duration::from_millis(100),
        }
    }
}
