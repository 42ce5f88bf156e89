//! Backups of the broker's state and of the embedded history, as operators ask for them.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use broker::{BackupError, BackupState, Node, RuntimeBackup, backup_numbers, remove_backup_files};
use broker_api::Broker as _;
use gateway::management::{BackupStatus, HistoryBackupStatus, OperationError};
use parking_lot::Mutex;
use search::{EXPORTER_ID, Reader as _};
use secondary::{SqliteOptions, SqliteReader};

use crate::command::restore::HISTORY_FILE;
use crate::config::{Config, StorageKind};

/// How long a copy waits for records that are being written.
const CATCH_UP_MAX: Duration = Duration::from_secs(10);
/// How often it is looked whether they are there.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// A copy of the history that is being made.
const PART_FILE: &str = "history.sqlite.part";
/// The file that says why there is no copy.
const FAILURE: &str = "history.failed";

pub(super) fn status(backup: RuntimeBackup) -> BackupStatus {
    BackupStatus {
        id: backup.id,
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
        BackupError::NotLater { .. } => OperationError::Conflict(text),
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
                if place.join(HISTORY_FILE).exists() {
                    return Ok(false);
                }
                std::fs::create_dir_all(&place)?;
                match std::fs::remove_file(place.join(FAILURE)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => Ok(true),
                }
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
                source.copy(&target).map(drop).or_else(|error| {
                    tracing::warn!(backup = id, %error, "a backup of the history failed");
                    std::fs::write(place.join(FAILURE), error.to_string())
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
        let removed = blocking(move || remove_backup_files(&looked, &[HISTORY_FILE, PART_FILE, FAILURE]));
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
    let described = ids.map(|id| describe(&directory.join(id.to_string()), id, active));
    described.filter_map(io::Result::transpose).collect()
}

fn describe(place: &Path, id: u64, active: &BTreeSet<u64>) -> io::Result<Option<HistoryBackupStatus>> {
    let part = place.join(PART_FILE);
    let (state, file, failure_reason) = if active.contains(&id) {
        ("IN_PROGRESS", part, None)
    } else if place.join(HISTORY_FILE).exists() {
        ("COMPLETED", place.join(HISTORY_FILE), None)
    } else if place.join(FAILURE).exists() {
        let reason = std::fs::read_to_string(place.join(FAILURE))?;
        ("FAILED", place.join(FAILURE), Some(reason))
    } else if part.exists() {
        ("FAILED", part, Some("the broker stopped while it was taken".to_owned()))
    } else {
        return Ok(None);
    };
    let started = std::fs::metadata(file).ok().and_then(|found| found.modified().ok());
    let started_at_ms = started.and_then(unix_ms);
    let snapshot_name = HISTORY_FILE.to_owned();
    Ok(Some(HistoryBackupStatus { id, state, failure_reason, started_at_ms, snapshot_name }))
}

pub(super) fn unix_ms(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}
