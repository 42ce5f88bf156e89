//! Batches that operators have set aside, because applying them stops the partition.
//!
//! On a data directory that no server has open, [`set_aside`] writes two files for a batch of the log: its bytes,
//! and then the order not to apply it. The second is what counts, so a crash in between leaves the batch as it was.
//! The broker reads the orders when it starts; when it comes to such a batch, its instances are banned instead.
//! From then on that is part of the state, and the files only tell what was there.
//!
//! The order stands beside the log, not in it: a partition with several replicas needs it on each of them, before
//! any applies the batch.

#![expect(missing_docs, reason = "names say what is held")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use engine::Tables;
use protocol::{Batch, FIRST_PARTITION, Key};
use replication::{LogError, LogStore};
use serde::{Deserialize, Serialize};
use state::{StateError, Store};

use crate::apply_watch::SlowBatchNote;
use crate::data_directory::{log_directory, state_file};
use crate::durable_file;
use crate::opening::log_is_in_use;

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
    #[error("'{0}' is no data directory: it has no state of partition {FIRST_PARTITION}")]
    NoData(PathBuf),
    /// State cannot be opened, as while a server runs.
    #[error("the state in '{path}' cannot be opened: {source}")]
    State { path: PathBuf, source: StateError },
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A file cannot be read or written.
    #[error("'{path}': {source}")]
    File { path: PathBuf, source: io::Error },
    /// The state has it already.
    #[error("the batch at position {position} is applied: the state on disk is as of position {applied}")]
    Applied {
        position: u64,
        /// Position of the state on disk.
        applied: u64,
    },
    /// It is in the log no more, not yet, or no batch of commands.
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
    /// None of the position is set aside.
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
            Self::Log(error) => log_is_in_use(error),
            _ => false,
        }
    }
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> SetAsideError {
    let path = path.to_owned();
    move |source| SetAsideError::File { path, source }
}

fn directory(data_dir: &Path) -> PathBuf {
    data_dir.join(DIRECTORY)
}

fn order_file(data_dir: &Path, position: u64) -> PathBuf {
    directory(data_dir).join(format!("partition-{FIRST_PARTITION}-{position}.json"))
}

fn batch_file(data_dir: &Path, position: u64) -> PathBuf {
    directory(data_dir).join(format!("partition-{FIRST_PARTITION}-{position}.batch"))
}

fn decode(position: u64, bytes: &[u8]) -> Result<Batch, SetAsideError> {
    Batch::decode(bytes).map_err(|error| SetAsideError::Unreadable { position, reason: error.to_string() })
}

/// Sets the batch at a position of the log aside. Without `is_sure`, it must be the one that the server stood at,
/// as it has noted, or else the first that the state on disk does not have.
pub async fn set_aside(data_dir: &Path, position: u64, is_sure: bool) -> Result<SetAside, SetAsideError> {
    let path = state_file(data_dir);
    if !path.is_file() || !log_directory(data_dir).is_dir() {
        return Err(SetAsideError::NoData(data_dir.to_owned()));
    }
    // Held until the end: a server cannot start meanwhile, nor is there one.
    let failed = |source| SetAsideError::State { path: data_dir.to_owned(), source };
    let store = Store::open(&path, state::Options::default()).map_err(failed)?;
    let applied = Tables::open(&store).map_err(failed)?.applied_index();
    let order = order_file(data_dir, position);
    if order.exists() {
        return Err(SetAsideError::Already(position));
    }
    if position <= applied {
        return Err(SetAsideError::Applied { position, applied });
    }
    let log = LogStore::open(&log_directory(data_dir), replication::LogOptions::default())?;
    let found = find(&log, data_dir, position, applied, is_sure);
    log.close().await;
    let bytes = found?;
    let batch = decode(position, &bytes)?;
    let noted = SlowBatchNote::read(data_dir).map_err(file_error(data_dir))?;
    let process_instance_key =
        noted.filter(|note| note.position == position).and_then(|note| note.process_instance_key);
    let folder = directory(data_dir);
    std::fs::create_dir_all(&folder).map_err(file_error(&folder))?;
    durable_file::may_end_here();
    let file = batch_file(data_dir, position);
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
    log: &LogStore,
    data_dir: &Path,
    position: u64,
    applied: u64,
    is_sure: bool,
) -> Result<bytes::Bytes, SetAsideError> {
    let group = u64::from(FIRST_PARTITION);
    let last = log.last_index(group)?;
    let bytes = log.payload(group, position)?.ok_or(SetAsideError::NotInLog { position, last })?;
    if is_sure {
        return Ok(bytes);
    }
    let noted = SlowBatchNote::read(data_dir).map_err(file_error(data_dir))?;
    let expected = match noted.map(|note| note.position).filter(|noted| (applied + 1..=last).contains(noted))
    {
        Some(noted) => noted,
        None => first_batch(log, applied + 1, last)?.unwrap_or(applied + 1),
    };
    if position == expected { Ok(bytes) } else { Err(SetAsideError::NotNext { position, expected }) }
}

/// The first entry that is a batch, others being the log's own.
fn first_batch(log: &LogStore, from: u64, last: u64) -> Result<Option<u64>, LogError> {
    for position in from..=last {
        if log.payload(u64::from(FIRST_PARTITION), position)?.is_some() {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

/// The batches that are set aside, by position.
pub fn list(data_dir: &Path) -> Result<Vec<SetAside>, SetAsideError> {
    let orders = orders(data_dir)?;
    orders.into_values().map(|order| read(data_dir, order)).collect()
}

/// A batch that is set aside.
pub fn inspect(data_dir: &Path, position: u64) -> Result<SetAside, SetAsideError> {
    let order = orders(data_dir)?.remove(&position).ok_or(SetAsideError::Unknown(position))?;
    read(data_dir, order)
}

fn read(data_dir: &Path, order: Order) -> Result<SetAside, SetAsideError> {
    let Order { position, process_instance_key, .. } = order;
    let file = batch_file(data_dir, position);
    let bytes = std::fs::read(&file).map_err(file_error(&file))?;
    Ok(SetAside { position, process_instance_key, batch: decode(position, &bytes)?, file })
}

fn orders(data_dir: &Path) -> Result<BTreeMap<u64, Order>, SetAsideError> {
    let folder = directory(data_dir);
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries.map_err(file_error(&folder))?,
    };
    let mut orders = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(file_error(&folder))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let bytes = std::fs::read(&path).map_err(file_error(&path))?;
            let order: Order =
                serde_json::from_slice(&bytes).map_err(io::Error::from).map_err(file_error(&path))?;
            orders.insert(order.position, order);
        }
    }
    Ok(orders)
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
    pub fn open(data_dir: &Path, applied: u64) -> Result<Self, SetAsideError> {
        let mut found = BTreeMap::new();
        for (position, order) in orders(data_dir)?.split_off(&(applied + 1)) {
            let file = batch_file(data_dir, position);
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
