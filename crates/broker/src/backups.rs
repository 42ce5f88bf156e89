//! Runtime backups: copies of the state of the partition, taken while it works. [`restore`] begins a new data directory
//! with one.
//!
//! Each has a directory of its own, named by its number, with a copy (`partition-1.state`) and what is known of it
//! (`backup.json`). The copy has no log: it is whole by itself, as of the flush that it was taken of. All replicas have
//! the same state, so one broker takes the backup of all; brokers of a cluster see the same backups if the directory is
//! on a disk that they share.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use replication::SnapshotSource as _;
use serde::{Deserialize, Serialize};
use state::Store;

use crate::data_directory::{log_directory, state_file};
use crate::durable_file;
use crate::node::Node;
use crate::snapshots::StateView;

/// The only form of the file until now.
const FORMAT: u32 = 1;
const DESCRIPTION: &str = "backup.json";
const COPY: &str = "partition-1.state";
/// The file that says up to which backup the state was deleted.
const FORGOTTEN: &str = "forgotten.json";
/// Most backups of a directory that are looked at.
const BACKUPS_MAX: usize = 10_000;

/// How far a backup is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackupState {
    /// It is being taken.
    InProgress,
    /// It can be restored.
    Completed,
    /// The copy could not be made.
    Failed,
}

/// A backup, as its directory tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeBackup {
    format: u32,
    /// Its number.
    pub id: u64,
    /// How far it is.
    pub state: BackupState,
    /// Why it failed.
    pub failure: Option<String>,
    /// When it was begun, Unix milliseconds.
    pub created_ms: i64,
    /// When its state last changed, Unix milliseconds.
    pub updated_ms: i64,
    /// The broker that took it.
    pub broker_id: u32,
    /// Release of that broker.
    pub broker_version: String,
    /// Everything up to this position is in it.
    pub position: u64,
    /// Log index that the copy is as of.
    pub index: Option<u64>,
}

/// Why a backup is not taken, told, deleted or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no directory for backups.
    #[error("no directory for backups is configured: set backup.directory")]
    NotConfigured,
    /// Numbers only grow.
    #[error("expected a backupId above {latest}, the latest, but it is {id}")]
    NotLater {
        /// The number that was asked for.
        id: u64,
        /// The latest.
        latest: u64,
    },
    /// There is none of this number.
    #[error("there is no backup {0}")]
    Unknown(u64),
    /// It cannot be used now.
    #[error("backup {0} is being taken")]
    Busy(u64),
    /// The backup has no whole copy.
    #[error("backup {id} is not complete: {reason}")]
    Incomplete {
        /// Its number.
        id: u64,
        /// The reason.
        reason: String,
    },
    /// The data directory has something that would be lost.
    #[error("'{0}' has data of a broker: expected a directory without state and log")]
    NotEmpty(PathBuf),
    /// A file cannot be read or written.
    #[error("'{path}': {source}")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The copy of the state.
    #[error(transparent)]
    State(#[from] state::StateError),
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BackupError {
    let path = path.to_owned();
    move |source| BackupError::File { path, source }
}

/// The backups of a directory.
#[derive(Debug, Default)]
pub(crate) struct BackupDirectory {
    path: Option<PathBuf>,
    /// Numbers of the backups that this broker is taking.
    active: Mutex<BTreeSet<u64>>,
}

impl BackupDirectory {
    pub fn new(path: Option<PathBuf>) -> Self {
        Self { path, active: Mutex::default() }
    }

    fn path(&self) -> Result<&Path, BackupError> {
        self.path.as_deref().ok_or(BackupError::NotConfigured)
    }

    /// All backups, the earliest first.
    fn list(&self) -> Result<Vec<RuntimeBackup>, BackupError> {
        let path = self.path()?;
        let ids = backup_numbers(path).map_err(at(path))?;
        let found = ids.into_iter().map(|id| self.find(path, id));
        found.filter_map(Result::transpose).collect()
    }

    fn find(&self, directory: &Path, id: u64) -> Result<Option<RuntimeBackup>, BackupError> {
        let path = directory.join(id.to_string()).join(DESCRIPTION);
        let Some(mut found) = durable_file::read_json::<RuntimeBackup>(&path).map_err(at(&path))? else {
            return Ok(None);
        };
        if found.format != FORMAT {
            let text = format!("it has format {}, this release reads {FORMAT}", found.format);
            return Err(at(&path)(io::Error::other(text)));
        }
        found.id = id;
        Ok(Some(found))
    }

    /// The same, of one that may have been given up by a broker that stopped.
    fn seen(&self, mut backup: RuntimeBackup, broker_id: u32) -> RuntimeBackup {
        let is_own = backup.broker_id == broker_id;
        if backup.state == BackupState::InProgress && is_own && !self.active.lock().contains(&backup.id) {
            backup.state = BackupState::Failed;
            backup.failure = Some("the broker stopped while it was taken".to_owned());
        }
        backup
    }

    fn describe(&self, backup: &RuntimeBackup) -> Result<(), BackupError> {
        let path = self.path()?.join(backup.id.to_string()).join(DESCRIPTION);
        let text = serde_json::to_vec_pretty(backup).expect("numbers and words are JSON");
        durable_file::write(&path, &text).map_err(at(&path))
    }

    /// Begins one, with a number above all others, or the given one.
    fn begin(&self, id: Option<u64>, mut backup: RuntimeBackup) -> Result<RuntimeBackup, BackupError> {
        let path = self.path()?;
        std::fs::create_dir_all(path).map_err(at(path))?;
        // One after the other, so that numbers only grow.
        let mut active = self.active.lock();
        let latest = self.list()?.last().map_or(0, |backup| backup.id);
        backup.id = id.unwrap_or_else(|| backup.created_ms.max(1).cast_unsigned().max(latest + 1));
        if backup.id <= latest {
            return Err(BackupError::NotLater { id: backup.id, latest });
        }
        let directory = path.join(backup.id.to_string());
        // A directory without a description is no backup.
        std::fs::create_dir_all(&directory).map_err(at(&directory))?;
        self.describe(&backup)?;
        active.insert(backup.id);
        Ok(backup)
    }

    fn forgotten(&self) -> Result<u64, BackupError> {
        let path = self.path()?.join(FORGOTTEN);
        Ok(durable_file::read_json(&path).map_err(at(&path))?.unwrap_or(0))
    }
}

impl Node {
    /// Begins a backup and gives its number. It is taken in the background.
    pub async fn take_backup(self: &Arc<Self>, id: Option<u64>) -> Result<u64, BackupError> {
        let now_ms = self.options().wall_clock.now_ms();
        let backup = RuntimeBackup {
            format: FORMAT,
            id: 0,
            state: BackupState::InProgress,
            failure: None,
            created_ms: now_ms,
            updated_ms: now_ms,
            broker_id: self.options().node_id,
            broker_version: env!("CARGO_PKG_VERSION").to_owned(),
            position: self.partition().position,
            index: None,
        };
        let mut backup = self.with_backups(move |backups| backups.begin(id, backup)).await?;
        let id = backup.id;
        let node = Arc::clone(self);
        tokio::spawn(async move {
            match node.copy_state(id).await {
                Ok(index) => (backup.state, backup.index) = (BackupState::Completed, Some(index)),
                Err(reason) => {
                    tracing::warn!(backup = id, reason, "a backup failed");
                    (backup.state, backup.failure) = (BackupState::Failed, Some(reason));
                }
            }
            backup.updated_ms = node.options().wall_clock.now_ms();
            let described = node
                .with_backups(move |backups| {
                    let described = backups.describe(&backup);
                    backups.active.lock().remove(&id);
                    described
                })
                .await;
            if let Err(error) = described {
                tracing::warn!(backup = id, %error, "a backup cannot be described");
            }
        });
        Ok(id)
    }

    /// Copies the state as of now or later; gives the log index of the copy.
    async fn copy_state(&self, id: u64) -> Result<u64, String> {
        self.write_state().await.map_err(|error| error.to_string())?;
        let snapshot = self.engine.lock().tables().snapshot().map_err(|error| error.to_string())?;
        let view = Box::new(StateView::new(snapshot));
        let copied = self.with_backups(move |backups| {
            let path = backups.path()?.join(id.to_string()).join(COPY);
            let index = view.index();
            view.write_to(&path).map_err(|error| at(&path)(io::Error::other(error)))?;
            let written = Store::check_snapshot(BufReader::new(File::open(&path).map_err(at(&path))?))?;
            assert_eq!(written, index, "a copy is as of its view");
            durable_file::sync(path.parent().expect("it is in a directory")).map_err(at(&path))?;
            Ok(index)
        });
        copied.await.map_err(|error| error.to_string())
    }

    /// All backups, the earliest first.
    pub async fn backups(&self) -> Result<Vec<RuntimeBackup>, BackupError> {
        let broker_id = self.options().node_id;
        self.with_backups(move |backups| {
            let all = backups.list()?;
            Ok(all.into_iter().map(|backup| backups.seen(backup, broker_id)).collect())
        })
        .await
    }

    /// Deletes a backup; one that is not there is deleted already.
    pub async fn delete_backup(&self, id: u64) -> Result<(), BackupError> {
        self.with_backups(move |backups| {
            if backups.active.lock().contains(&id) {
                return Err(BackupError::Busy(id));
            }
            let path = backups.path()?.join(id.to_string());
            // Without its description it is none any more, however much of the rest is still there.
            remove_backup_files(&path, &[DESCRIPTION, COPY]).map(drop).map_err(at(&path))
        })
        .await
    }

    /// The complete backups whose state was not deleted, the earliest first.
    pub async fn held_backups(&self) -> Result<Vec<RuntimeBackup>, BackupError> {
        self.with_backups(|backups| {
            let forgotten = backups.forgotten()?;
            let mut held = backups.list()?;
            held.retain(|backup| backup.state == BackupState::Completed && backup.id > forgotten);
            Ok(held)
        })
        .await
    }

    /// Has [`Node::held_backups`] leave out all that are there now, or none.
    pub async fn forget_backups(&self, forget: bool) -> Result<(), BackupError> {
        self.with_backups(move |backups| {
            let latest = backups.list()?.last().map_or(0, |backup| backup.id);
            let path = backups.path()?.join(FORGOTTEN);
            let text = if forget { latest.to_string() } else { "0".to_owned() };
            std::fs::create_dir_all(backups.path()?).map_err(at(&path))?;
            durable_file::write(&path, text.as_bytes()).map_err(at(&path))
        })
        .await
    }

    async fn with_backups<T: Send + 'static>(
        &self,
        work: impl FnOnce(&BackupDirectory) -> Result<T, BackupError> + Send + 'static,
    ) -> Result<T, BackupError> {
        let backups = Arc::clone(&self.backups);
        let done = tokio::task::spawn_blocking(move || work(&backups)).await;
        done.unwrap_or_else(|error| {
            Err(BackupError::File { path: PathBuf::new(), source: io::Error::other(error) })
        })
    }
}

/// The numbers of the backups in a directory, the latest [`BACKUPS_MAX`] of them; none if there is no directory.
pub fn backup_numbers(directory: &Path) -> io::Result<BTreeSet<u64>> {
    let mut numbers = BTreeSet::new();
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(numbers),
        entries => entries?,
    };
    for entry in entries {
        numbers.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u64>().ok()));
        if numbers.len() > BACKUPS_MAX {
            numbers.pop_first();
        }
    }
    Ok(numbers)
}

/// Removes files of a backup, in this order, and its directory unless that has others; whether there was any file.
pub fn remove_backup_files(directory: &Path, files: &[&str]) -> io::Result<bool> {
    let mut any = false;
    for file in files {
        match std::fs::remove_file(directory.join(file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            outcome => {
                outcome?;
                any = true;
            }
        }
    }
    match std::fs::remove_dir(directory) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
            Err(error)
        }
        _ => Ok(any),
    }
}

/// Begins a data directory, which must have no state and no log, with the state of a backup. In a cluster each broker
/// begins with the same one.
pub fn restore(data_dir: &Path, backups: &Path, id: u64) -> Result<RuntimeBackup, BackupError> {
    let directory = BackupDirectory::new(Some(backups.to_owned()));
    let backup = directory.find(backups, id)?.ok_or(BackupError::Unknown(id))?;
    if backup.state != BackupState::Completed {
        let reason = backup.failure.unwrap_or_else(|| "it is in progress, or its broker stopped".to_owned());
        return Err(BackupError::Incomplete { id, reason });
    }
    let state = state_file(data_dir);
    for path in [&state, &log_directory(data_dir)] {
        if path.try_exists().map_err(at(path))? {
            return Err(BackupError::NotEmpty(data_dir.to_owned()));
        }
    }
    let folder = state.parent().expect("it is in a directory");
    std::fs::create_dir_all(folder).map_err(at(folder))?;
    let copy = backups.join(id.to_string()).join(COPY);
    let source = BufReader::new(File::open(&copy).map_err(at(&copy))?);
    Store::restore_without_log(&state, source, state::Options::default())?;
    durable_file::sync(data_dir).map_err(at(data_dir))?;
    Ok(backup)
}
