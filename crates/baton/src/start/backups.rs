//! Backups of the broker's state and of the embedded history, as operators ask for them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use broker::{
    BACKUP_ID_MAX, BackupError, BackupState, FileSum, Node, RuntimeBackup, backup_numbers,
    remove_backup_files,
};
use broker_api::Broker as _;
use gateway::management::{BackupStatus, HistoryBackupStatus, OperationError};
use parking_lot::Mutex;
use protocol::PartitionId;
use search::{EXPORTER_ID, Reader as _};
use secondary::{SqliteOptions, SqliteReader};

use crate::command::restore::{HISTORY_FILE, HISTORY_SUM};
use crate::config::{Config, StorageKind};

/// How long a copy waits for records that are being written.
const CATCH_UP_MAX: Duration = Duration::from_secs(10);
/// How often it is looked whether they are there.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// A copy of the history that is being made.
const PART_FILE: &str = "history.sqlite.part";
/// The file that says why there is no copy.
const FAILURE: &str = "history.failed";

/// The status of a backup of a partition.
pub(super) fn status(partition_id: PartitionId, backup: RuntimeBackup) -> BackupStatus {
    BackupStatus {
        id: backup.id,
        partition_id,
        state: match backup.state {
            BackupState::InProgress => "IN_PROGRESS",
            BackupState::Completed => "COMPLETED",
            BackupState::Failed => "FAILED",
        },
        failure_reason: backup.failure,
        created_at_ms: backup.created_ms,
        last_updated_at_ms: backup.updated_ms,
        broker_id: backup.broker_id,
        broker_version: backup.broker_version,
        checkpoint_position: backup.position,
        snapshot_id: backup.index,
    }
}

pub(super) fn failed(error: BackupError) -> OperationError {
    let text = error.to_string();
    match error {
        BackupError::NotConfigured | BackupError::Busy(_) => OperationError::Unavailable(text),
        BackupError::NotLater { .. } | BackupError::SeveralPartitions => OperationError::Conflict(text),
        BackupError::OutOfRange(_) => OperationError::Invalid(text),
        BackupError::Unknown(_) => OperationError::NotFound(text),
        _ => {
            tracing::warn!(%error, "a backup operation failed");
            OperationError::Failed(text)
        }
    }
}

/// Copies of the embedded history in the directory of backups.
pub(super) struct HistoryBackups {
    directory: Option<PathBuf>,
    /// The embedded store, or why there is none.
    source: Result<SqliteOptions, &'static str>,
    /// Numbers of the copies that are being made.
    active: Mutex<BTreeSet<u64>>,
}

impl HistoryBackups {
    pub(super) fn new(config: &Config, embedded: SqliteOptions) -> Self {
        let source = match config.secondary_storage.kind {
            StorageKind::Sqlite => Ok(embedded),
            StorageKind::None => Err("there is no secondary storage"),
            _ => Err("secondary storage is not the embedded one: back it up with its own tools"),
        };
        Self { directory: config.backup.directory.clone(), source, active: Mutex::default() }
    }

    fn directory(&self) -> Result<&Path, OperationError> {
        self.directory.as_deref().ok_or_else(|| failed(BackupError::NotConfigured))
    }

    fn place(&self, id: u64) -> Result<PathBuf, OperationError> {
        Ok(self.directory()?.join(id.to_string()))
    }

    /// Begins one in the background; gives the names of its files.
    pub(super) async fn take(
        self: Arc<Self>,
        id: u64,
        broker: Arc<Node>,
    ) -> Result<Vec<String>, OperationError> {
        if !(1..=BACKUP_ID_MAX).contains(&id) {
            return Err(failed(BackupError::OutOfRange(id)));
        }
        let place = self.place(id)?;
        let source = self.source.clone().map_err(|reason| OperationError::Unavailable(reason.to_owned()))?;
        if !source.path.exists() {
            let reason = "this broker has no copy of the embedded history".to_owned();
            return Err(OperationError::Unavailable(reason));
        }
        let exists = || OperationError::Conflict(format!("there is a backup {id} of the history already"));
        if !self.active.lock().insert(id) {
            return Err(exists());
        }
        let begun = blocking({
            let place = place.clone();
            move || {
                // Nothing that has this name is replaced.
                if std::fs::symlink_metadata(place.join(HISTORY_FILE)).is_ok() {
                    return Ok(false);
                }
                std::fs::create_dir_all(&place)?;
                remove_backup_files(&place, &[FAILURE, HISTORY_SUM])?;
                std::fs::create_dir_all(&place)?;
                Ok(true)
            }
        });
        match begun.await {
            Ok(true) => {}
            outcome => {
                self.active.lock().remove(&id);
                return Err(outcome.map_or_else(|error| failed_at(&place, &error), |_| exists()));
            }
        }
        tokio::spawn(async move {
            catch_up(&broker, &source).await;
            let copied = blocking(move || {
                let target = place.join(HISTORY_FILE);
                let copied = source.copy(&target).map_err(|error| error.to_string());
                let noted = copied.and_then(|_| {
                    let sum = FileSum::of(&target).and_then(|sum| sum.write(&place.join(HISTORY_SUM)));
                    sum.map_err(|error| format!("its sum cannot be noted: {error}"))
                });
                noted.or_else(|error| {
                    tracing::warn!(backup = id, error, "a backup of the history failed");
                    std::fs::write(place.join(FAILURE), error)
                })
            });
            if let Err(error) = copied.await {
                tracing::warn!(backup = id, %error, "a backup of the history cannot be described");
            }
            self.active.lock().remove(&id);
        });
        Ok(vec![HISTORY_FILE.to_owned()])
    }

    /// All backups of the history, the earliest first.
    pub(super) async fn list(self: Arc<Self>) -> Result<Vec<HistoryBackupStatus>, OperationError> {
        let directory = self.directory()?.to_owned();
        let active = self.active.lock().clone();
        let looked = directory.clone();
        blocking(move || list(&looked, &active)).await.map_err(|error| failed_at(&directory, &error))
    }

    pub(super) async fn delete(self: Arc<Self>, id: u64) -> Result<(), OperationError> {
        let place = self.place(id)?;
        if self.active.lock().contains(&id) {
            return Err(OperationError::Unavailable(format!("backup {id} of the history is being taken")));
        }
        let looked = place.clone();
        // The backup of the state may be in the directory, too.
        let removed =
            blocking(move || remove_backup_files(&looked, &[HISTORY_FILE, HISTORY_SUM, PART_FILE, FAILURE]));
        match removed.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(OperationError::NotFound(format!("there is no backup {id} of the history"))),
            Err(error) => Err(failed_at(&place, &error)),
        }
    }
}

/// Waits until the store has everything that was recorded before, or the time for that is over: the copy is then of
/// what it has.
async fn catch_up(broker: &Node, source: &SqliteOptions) {
    let recorded = broker.hasten_exports(EXPORTER_ID);
    let reader = SqliteReader::new(source.clone());
    let deadline = Instant::now() + CATCH_UP_MAX;
    for (partition, wanted) in recorded.positions.iter() {
        // A store that is being opened cannot be read yet.
        while !reader.position(partition).await.is_ok_and(|position| position >= wanted)
            && Instant::now() < deadline
        {
            broker.hasten_exports(EXPORTER_ID);
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }
}

fn failed_at(path: &Path, error: &io::Error) -> OperationError {
    tracing::warn!(path = %path.display(), %error, "a backup operation failed");
    OperationError::Failed(format!("'{}': {error}", path.display()))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn list(directory: &Path, active: &BTreeSet<u64>) -> io::Result<Vec<HistoryBackupStatus>> {
    let ids = backup_numbers(directory)?.into_iter();
    Ok(ids.filter_map(|id| describe(&directory.join(id.to_string()), id, active)).collect())
}

/// A backup of the history, if there is one. One that is not whole is told of as a failed one.
fn describe(place: &Path, id: u64, active: &BTreeSet<u64>) -> Option<HistoryBackupStatus> {
    let (copy, part, failure) = (place.join(HISTORY_FILE), place.join(PART_FILE), place.join(FAILURE));
    let is_there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    let (state, file, failure_reason) = if active.contains(&id) {
        ("IN_PROGRESS", part, None)
    } else if is_there(&failure) {
        let reason = std::fs::read_to_string(&failure)
            .unwrap_or_else(|error| format!("the reason cannot be read: {error}"));
        ("FAILED", failure, Some(reason))
    } else if is_there(&copy) {
        match looks_whole(place) {
            Ok(()) => ("COMPLETED", copy, None),
            Err(reason) => ("FAILED", copy, Some(reason)),
        }
    } else if is_there(&part) {
        ("FAILED", part, Some("the broker stopped while it was taken".to_owned()))
    } else if is_there(&place.join(HISTORY_SUM)) {
        ("FAILED", place.join(HISTORY_SUM), Some(format!("{HISTORY_FILE} is missing")))
    } else {
        return None;
    };
    let started = std::fs::metadata(file).ok().and_then(|found| found.modified().ok());
    let started_at_ms = started.and_then(unix_ms);
    let snapshot_name = HISTORY_FILE.to_owned();
    Some(HistoryBackupStatus { id, state, failure_reason, started_at_ms, snapshot_name })
}

/// Whether a copy is a file of the size that it was taken with. Its bytes are read by a restore only.
fn looks_whole(place: &Path) -> Result<(), String> {
    let found = std::fs::symlink_metadata(place.join(HISTORY_FILE)).map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err(format!("{HISTORY_FILE} is no regular file"));
    }
    let sum = FileSum::read(&place.join(HISTORY_SUM)).map_err(|error| format!("{HISTORY_SUM}: {error}"))?;
    match sum.filter(|sum| sum.bytes != found.len()) {
        None => Ok(()),
        Some(sum) => {
            Err(format!("{HISTORY_FILE} has {} bytes, but was taken with {}", found.len(), sum.bytes))
        }
    }
}

pub(super) fn unix_ms(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}
