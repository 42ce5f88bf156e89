//! Batches that operators have set aside, because applying them stops the partition.
//!
//! On a data directory that no server has open, [`ClosedPartition::set_aside`] writes two files for a batch of the
//! log: its bytes, and then the order not to apply it. The second is what counts, so a crash in between leaves the
//! batch as it was. The broker reads the orders when it starts; when it comes to such a batch, its instances are
//! banned instead. From then on that is part of the state, and the files only tell what was there.
//!
//! The order stands beside the log, not in it: a partition with several replicas needs it on each of them, before
//! any applies the batch.

#![expect(missing_docs, reason = "names say what is held")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use engine::Tables;
use protocol::{Batch, Key, PartitionId};
use replication::{LogError, LogStore};
use serde::{Deserialize, Serialize};
use state::{StateError, Store};

use crate::apply_watch::SlowBatchNote;
use data_directory::durable_file;
use data_directory::{log_directory, state_file};

/// Where the files are in the data directory.
const DIRECTORY: &str = "set-aside";

/// The order not to apply a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Order {
    position: u64,
    /// The instance that was at work when applying took too long.
    process_instance_key: Option<Key>,
    /// Length of the batch, to find that the order is for another log.
    bytes: usize,
}

/// A batch that is set aside.
#[derive(Debug, Clone, PartialEq)]
pub struct SetAside {
    /// Position in the log.
    pub position: u64,
    /// The instance that was at work when applying took too long, if it is known.
    pub process_instance_key: Option<Key>,
    pub file: PathBuf,
    pub batch: Batch,
}

/// Why a batch cannot be set aside, or be looked at.
#[derive(Debug, thiserror::Error)]
pub enum SetAsideError {
    /// There is nothing of a partition.
    #[error("'{0}' is no data directory: it has no state of partition {1}")]
    NoData(PathBuf, PartitionId),
    /// State cannot be opened, as while a server runs.
    #[error("the state in '{path}' cannot be opened: {source}")]
    State { path: PathBuf, source: StateError },
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A file cannot be read or written.
    #[error("'{path}': {source}")]
    File { path: PathBuf, source: io::Error },
    /// The state has the batch already.
    #[error("the batch at position {position} is applied: the state on disk is as of position {applied}")]
    Applied {
        position: u64,
        /// Position of the state on disk.
        applied: u64,
    },
    /// The log has no batch of commands at the position: no more, not yet, or never.
    #[error("the log has no batch at position {position}: its last entry is at {last}")]
    NotInLog { position: u64, last: u64 },
    /// The server has stopped at another one.
    #[error("the batch that the server stood at is that at position {expected}, not {position}")]
    NotNext {
        position: u64,
        /// The position that would be set aside.
        expected: u64,
    },
    /// It is set aside already.
    #[error("the batch at position {0} is set aside already")]
    Already(u64),
    /// No batch at the position is set aside.
    #[error("no batch at position {0} is set aside")]
    Unknown(u64),
    /// The bytes are no batch.
    #[error("the batch at position {position} cannot be read: {reason}")]
    Unreadable { position: u64, reason: String },
}

impl SetAsideError {
    /// Whether a server has the data directory open.
    pub fn is_in_use(&self) -> bool {
        match self {
            Self::State { source: StateError::AlreadyOpen { .. }, .. } => true,
            Self::Log(error) => error.is_in_use(),
            _ => false,
        }
    }
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> SetAsideError {
    let path = path.to_owned();
    move |source| SetAsideError::File { path, source }
}

/// A partition of a data directory that no server has open.
#[derive(Debug, Clone, Copy)]
pub struct ClosedPartition<'a> {
    data_dir: &'a Path,
    partition: PartitionId,
}

fn decode(position: u64, bytes: &[u8]) -> Result<Batch, SetAsideError> {
    Batch::decode(bytes).map_err(|error| SetAsideError::Unreadable { position, reason: error.to_string() })
}

impl<'a> ClosedPartition<'a> {
    /// A partition of a data directory.
    pub fn new(data_dir: &'a Path, partition: PartitionId) -> Self {
        Self { data_dir, partition }
    }

    fn directory(self) -> PathBuf {
        self.data_dir.join(DIRECTORY)
    }

    /// The beginning of the names of files of this partition.
    fn prefix(self) -> String {
        format!("partition-{}-", self.partition)
    }

    fn order_file(self, position: u64) -> PathBuf {
        self.directory().join(format!("{}{position}.json", self.prefix()))
    }

    fn batch_file(self, position: u64) -> PathBuf {
        self.directory().join(format!("{}{position}.batch", self.prefix()))
    }

    /// The batch that the server stood at, as it has noted.
    fn noted(self) -> Result<Option<SlowBatchNote>, SetAsideError> {
        let noted = SlowBatchNote::read(self.data_dir, self.partition).map_err(file_error(self.data_dir))?;
        Ok(noted.filter(|note| note.partition_id == self.partition))
    }

    /// Sets the batch at a position of the log aside. Without `is_sure`, it must be the one that the server stood at,
    /// as it has noted, or else the first that the state on disk does not have.
    pub async fn set_aside(self, position: u64, is_sure: bool) -> Result<SetAside, SetAsideError> {
        let Self { data_dir, partition } = self;
        let path = state_file(data_dir, partition);
        if !path.is_file() || !log_directory(data_dir).is_dir() {
            return Err(SetAsideError::NoData(data_dir.to_owned(), partition));
        }
        // Held until the end: a server cannot start meanwhile, nor is there one.
        let failed = |source| SetAsideError::State { path: data_dir.to_owned(), source };
        let store = Store::open(&path, state::Options::default()).map_err(failed)?;
        let applied = Tables::open(&store).map_err(failed)?.applied_index();
        let order = self.order_file(position);
        if order.exists() {
            return Err(SetAsideError::Already(position));
        }
        if position <= applied {
            return Err(SetAsideError::Applied { position, applied });
        }
        let log = LogStore::open(&log_directory(data_dir), replication::LogOptions::default())?;
        let found = self.find(&log, position, applied, is_sure);
        log.close().await;
        let bytes = found?;
        let batch = decode(position, &bytes)?;
        let noted = self.noted()?.filter(|note| note.position == position);
        let process_instance_key = noted.and_then(|note| note.process_instance_key);
        let folder = self.directory();
        std::fs::create_dir_all(&folder).map_err(file_error(&folder))?;
        durable_file::may_end_here();
        let file = self.batch_file(position);
        durable_file::write(&file, &bytes).map_err(file_error(&file))?;
        durable_file::sync(data_dir).map_err(file_error(data_dir))?;
        durable_file::may_end_here();
        let content = Order { position, process_instance_key, bytes: bytes.len() };
        let content = serde_json::to_vec(&content).map_err(io::Error::from).map_err(file_error(&order))?;
        durable_file::write(&order, &content).map_err(file_error(&order))?;
        drop(store);
        Ok(SetAside { position, process_instance_key, file, batch })
    }

    fn find(
        self,
        log: &LogStore,
        position: u64,
        applied: u64,
        is_sure: bool,
    ) -> Result<bytes::Bytes, SetAsideError> {
        let group = u64::from(self.partition);
        let last = log.last_index(group)?;
        let bytes = log.payload(group, position)?.ok_or(SetAsideError::NotInLog { position, last })?;
        if is_sure {
            return Ok(bytes);
        }
        let noted = self.noted()?.map(|note| note.position);
        let expected = match noted.filter(|noted| (applied + 1..=last).contains(noted)) {
            Some(noted) => noted,
            None => first_batch(log, group, applied + 1, last)?.unwrap_or(applied + 1),
        };
        if position == expected { Ok(bytes) } else { Err(SetAsideError::NotNext { position, expected }) }
    }

    /// The batches that are set aside, by position.
    pub fn list(self) -> Result<Vec<SetAside>, SetAsideError> {
        self.orders()?.into_values().map(|order| self.read(order)).collect()
    }

    /// A batch that is set aside.
    pub fn inspect(self, position: u64) -> Result<SetAside, SetAsideError> {
        let order = self.orders()?.remove(&position).ok_or(SetAsideError::Unknown(position))?;
        self.read(order)
    }

    fn read(self, order: Order) -> Result<SetAside, SetAsideError> {
        let Order { position, process_instance_key, .. } = order;
        let file = self.batch_file(position);
        let bytes = std::fs::read(&file).map_err(file_error(&file))?;
        Ok(SetAside { position, process_instance_key, batch: decode(position, &bytes)?, file })
    }

    fn orders(self) -> Result<BTreeMap<u64, Order>, SetAsideError> {
        let folder = self.directory();
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            entries => entries.map_err(file_error(&folder))?,
        };
        let of_partition = self.prefix();
        let is_order = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(&of_partition))
                && path.extension().is_some_and(|extension| extension == "json")
        };
        let mut orders = BTreeMap::new();
        for entry in entries {
            let path = entry.map_err(file_error(&folder))?.path();
            if is_order(&path) {
                let bytes = std::fs::read(&path).map_err(file_error(&path))?;
                let order: Order =
                    serde_json::from_slice(&bytes).map_err(io::Error::from).map_err(file_error(&path))?;
                orders.insert(order.position, order);
            }
        }
        Ok(orders)
    }
}

/// The first entry that is a batch, others being the log's own.
fn first_batch(log: &LogStore, group: u64, from: u64, last: u64) -> Result<Option<u64>, LogError> {
    for position in from..=last {
        if log.payload(group, position)?.is_some() {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

/// A batch that is not to be applied.
pub(crate) struct Found {
    /// The instance that was at work when applying took too long, if it is known.
    pub at_work: Option<Key>,
}

/// The batches that are not to be applied, for the broker that starts.
#[derive(Debug, Default)]
pub(crate) struct Orders(BTreeMap<u64, (Option<Key>, bytes::Bytes)>);

impl Orders {
    /// Reads those that the state does not have yet.
    pub fn open(partition: ClosedPartition<'_>, applied: u64) -> Result<Self, SetAsideError> {
        let mut found = BTreeMap::new();
        for (position, order) in partition.orders()?.split_off(&(applied + 1)) {
            let file = partition.batch_file(position);
            let bytes = std::fs::read(&file).map_err(file_error(&file))?;
            if bytes.len() != order.bytes {
                let reason = format!("it has {} bytes instead of {}", bytes.len(), order.bytes);
                return Err(SetAsideError::Unreadable { position, reason });
            }
            found.insert(position, (order.process_instance_key, bytes.into()));
        }
        Ok(Self(found))
    }

    /// Whether the batch at a position is set aside. An error if the log has another one there.
    pub fn take(&mut self, position: u64, bytes: &[u8]) -> Result<Option<Found>, String> {
        match self.0.remove(&position) {
            None => Ok(None),
            Some((at_work, expected)) if *expected == *bytes => Ok(Some(Found { at_work })),
            Some(_) => Err(format!(
                "the batch at position {position} is not the one that was set aside: the log and the directory \
                 '{DIRECTORY}' do not belong together"
            )),
        }
    }
}
