//! Runtime backups: copies of the state of the partition, taken while it works. [`restore`] begins a new data directory
//! with one.
//!
//! Each has a directory of its own, named by its number, with a copy (`partition-1.state`) and what is known of it
//! (`backup.json`). The copy has no log: it is whole by itself, as of the flush that it was taken of. All replicas have
//! the same state, so one broker takes the backup of all; brokers of a cluster see the same backups if the directory is
//! on a disk that they share.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use protocol::FIRST_PARTITION;
use serde::{Deserialize, Serialize};
use state::Store;

use crate::backup_file::{FileSum, open, read_description};
use data_directory::Restored;
use data_directory::durable_file;
use data_directory::{log_directory, state_file};

/// Format of the description of a backup.
const FORMAT: u32 = 1;
pub(crate) const DESCRIPTION: &str = "backup.json";
pub(crate) const COPY: &str = "partition-1.state";
/// The file that says up to which backup the state was deleted.
pub(crate) const FORGOTTEN: &str = "forgotten.json";
/// The largest number that a client may give a backup: there is always room for those that get the next one.
pub const BACKUP_ID_MAX: u64 = 1_000_000_000_000_000_000;
/// Most backups of a directory that are looked at.
const BACKUPS_MAX: usize = 10_000;

/// State of a backup.
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
    /// State of the backup.
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
    /// The file with the copy. Earlier releases noted none.
    #[serde(default)]
    pub copy: Option<FileSum>,
    /// Hash of the rows of the copy. Earlier releases noted none.
    #[serde(default)]
    pub state_hash: Option<u64>,
}

/// Reasons why a backup is not taken, shown, deleted or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no directory for backups.
    #[error("no directory for backups is configured: set backup.directory")]
    NotConfigured,
    /// A backup would need all partitions as of one moment.
    #[error("expected one partition: backups of several (cluster.partitions) cannot be taken yet")]
    SeveralPartitions,
    /// Numbers only grow.
    #[error("expected a backupId above {latest}, the latest, but it is {id}")]
    NotLater {
        /// The number that was asked for.
        id: u64,
        /// Number of the latest backup.
        latest: u64,
    },
    /// Numbers have a range.
    #[error("backupId: expected a number from 1 to {BACKUP_ID_MAX}, but found {0}")]
    OutOfRange(u64),
    /// There is no backup of this number.
    #[error("there is no backup {0}")]
    Unknown(u64),
    /// The backup is being taken.
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
    /// The backup is not what was taken.
    #[error("'{path}' is damaged: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
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

pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> BackupError {
    let path = path.to_owned();
    move |source| BackupError::File { path, source }
}

/// The backups of a directory.
#[derive(Debug, Default)]
pub(crate) struct BackupDirectory {
    path: Option<PathBuf>,
    /// Numbers of the backups that this broker is taking.
    pub active: Mutex<BTreeSet<u64>>,
}

impl BackupDirectory {
    pub fn new(path: Option<PathBuf>) -> Self {
        Self { path, active: Mutex::default() }
    }

    pub fn path(&self) -> Result<&Path, BackupError> {
        self.path.as_deref().ok_or(BackupError::NotConfigured)
    }

    /// All backups, the earliest first.
    pub fn list(&self) -> Result<Vec<RuntimeBackup>, BackupError> {
        let path = self.path()?;
        let ids = backup_numbers(path).map_err(at(path))?;
        Ok(ids.into_iter().filter_map(|id| self.told(path, id)).collect())
    }

    /// A backup of the list. One that cannot be read is told of as a failed one, and hides no other.
    fn told(&self, directory: &Path, id: u64) -> Option<RuntimeBackup> {
        let mut found =
            self.find(directory, id).unwrap_or_else(|error| Some(RuntimeBackup::unreadable(id, &error)))?;
        if found.state == BackupState::Completed
            && let Err(reason) = looks_whole(&directory.join(id.to_string()).join(COPY), found.copy.as_ref())
        {
            found.state = BackupState::Failed;
            found.failure = Some(format!("its copy is not whole: {reason}"));
        }
        Some(found)
    }

    fn find(&self, directory: &Path, id: u64) -> Result<Option<RuntimeBackup>, BackupError> {
        let place = directory.join(id.to_string());
        let path = place.join(DESCRIPTION);
        // A link could lead to what is no backup, or is another one.
        if fs::symlink_metadata(&place).is_ok_and(|found| !found.is_dir()) {
            return Err(at(&place)(io::Error::other("it is no directory")));
        }
        let Some(mut found) = read_description::<RuntimeBackup>(&path).map_err(at(&path))? else {
            return Ok(None);
        };
        if found.format != FORMAT {
            let text = format!("it has format {}, this release reads {FORMAT}", found.format);
            return Err(at(&path)(io::Error::other(text)));
        }
        found.id = id;
        Ok(Some(found))
    }

    /// A backup as it is shown: one in progress that this broker no longer takes has failed.
    pub fn seen(&self, mut backup: RuntimeBackup, broker_id: u32) -> RuntimeBackup {
        let is_own = backup.broker_id == broker_id;
        if backup.state == BackupState::InProgress && is_own && !self.active.lock().contains(&backup.id) {
            backup.state = BackupState::Failed;
            backup.failure = Some("the broker stopped while it was taken".to_owned());
        }
        backup
    }

    pub fn describe(&self, backup: &RuntimeBackup) -> Result<(), BackupError> {
        let path = self.path()?.join(backup.id.to_string()).join(DESCRIPTION);
        let text = serde_json::to_vec_pretty(backup).expect("numbers and words are JSON");
        durable_file::write(&path, &text).map_err(at(&path))
    }

    /// Begins one, with a number above all others, or the given one.
    pub fn begin(&self, id: Option<u64>, mut backup: RuntimeBackup) -> Result<RuntimeBackup, BackupError> {
        let path = self.path()?;
        fs::create_dir_all(path).map_err(at(path))?;
        // One after the other, so that numbers only grow.
        let mut active = self.active.lock();
        if let Some(id) = id.filter(|id| !(1..=BACKUP_ID_MAX).contains(id)) {
            return Err(BackupError::OutOfRange(id));
        }
        let latest = self.list()?.last().map_or(0, |backup| backup.id);
        backup.id = id.unwrap_or_else(|| backup.created_ms.max(1).cast_unsigned().max(latest + 1));
        if backup.id <= latest {
            return Err(BackupError::NotLater { id: backup.id, latest });
        }
        let directory = path.join(backup.id.to_string());
        // A directory without a description is no backup.
        fs::create_dir_all(&directory).map_err(at(&directory))?;
        self.describe(&backup)?;
        active.insert(backup.id);
        Ok(backup)
    }

    pub fn forgotten(&self) -> Result<u64, BackupError> {
        let path = self.path()?.join(FORGOTTEN);
        // Without it, all are told of.
        Ok(read_description(&path)
            .unwrap_or_else(|error| {
                tracing::warn!(path = %path.display(), %error, "the state of backups cannot be read");
                None
            })
            .unwrap_or(0))
    }
}

/// Whether a copy is there, of the size that it was taken with. Its bytes are read by a restore only.
fn looks_whole(copy: &Path, sum: Option<&FileSum>) -> io::Result<()> {
    let bytes = open(copy)?.get_ref().metadata()?.len();
    match sum.filter(|sum| sum.bytes != bytes) {
        None => Ok(()),
        Some(sum) => Err(io::Error::other(format!("it has {bytes} bytes, but was taken with {}", sum.bytes))),
    }
}

impl RuntimeBackup {
    /// One that a broker begins to take. Its number is given by the directory.
    pub(crate) fn begun(now_ms: i64, broker_id: u32, position: u64) -> Self {
        Self {
            format: FORMAT,
            id: 0,
            state: BackupState::InProgress,
            failure: None,
            created_ms: now_ms,
            updated_ms: now_ms,
            broker_id,
            broker_version: env!("CARGO_PKG_VERSION").to_owned(),
            position,
            index: None,
            copy: None,
            state_hash: None,
        }
    }

    /// A failed backup whose description cannot be read.
    fn unreadable(id: u64, error: &BackupError) -> Self {
        Self {
            id,
            state: BackupState::Failed,
            failure: Some(format!("it cannot be read: {error}")),
            broker_version: String::new(),
            ..Self::begun(0, 0, 0)
        }
    }
}

/// The numbers of the backups in a directory, the latest [`BACKUPS_MAX`] of them; none if there is no directory.
pub fn backup_numbers(directory: &Path) -> io::Result<BTreeSet<u64>> {
    let mut numbers = BTreeSet::new();
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(numbers),
        entries => entries?,
    };
    for entry in entries {
        numbers.extend(entry?.file_name().to_str().and_then(number_of));
        if numbers.len() > BACKUPS_MAX {
            numbers.pop_first();
        }
    }
    Ok(numbers)
}

/// The number that a name is, as it is written in paths: `007` and `+7` are none.
fn number_of(name: &str) -> Option<u64> {
    name.parse().ok().filter(|number: &u64| *number > 0 && number.to_string() == name)
}

/// Removes files of a backup, in this order, and its directory unless that has others; whether there was any file.
pub fn remove_backup_files(directory: &Path, files: &[&str]) -> io::Result<bool> {
    // The place that a link leads to is another's.
    if fs::symlink_metadata(directory).is_ok_and(|found| !found.is_dir()) {
        return fs::remove_file(directory).map(|()| true);
    }
    let mut any = false;
    for file in files {
        let path = directory.join(file);
        // A directory in the place of a file is no obstacle; a link goes, and what it leads to stays.
        let removed = match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&path),
            _ => fs::remove_file(&path),
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            outcome => {
                outcome?;
                any = true;
            }
        }
    }
    match fs::remove_dir(directory) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
            Err(error)
        }
        _ => Ok(any),
    }
}

/// Begins a data directory, which must have no state and no log, with the state of a backup. In a cluster each broker
/// begins with the same one. Nothing is written before the whole copy was compared with what was taken.
pub fn restore(data_dir: &Path, backups: &Path, id: u64) -> Result<RuntimeBackup, BackupError> {
    let backup = verify(backups, id)?;
    let state = state_file(data_dir, FIRST_PARTITION);
    for path in [&state, &log_directory(data_dir)] {
        if path.try_exists().map_err(at(path))? {
            return Err(BackupError::NotEmpty(data_dir.to_owned()));
        }
    }
    let folder = state.parent().expect("it is in a directory");
    fs::create_dir_all(folder).map_err(at(folder))?;
    let copy = backups.join(id.to_string()).join(COPY);
    let source = open(&copy).map_err(at(&copy))?;
    let index = Store::restore_without_log(&state, source, state::Options::default())?;
    if let Some(wanted) = backup.state_hash {
        let found = Store::open(&state, state::Options::default())?.snapshot()?.hash()?;
        if found != wanted {
            fs::remove_file(&state).map_err(at(&state))?;
            let reason = "the rows that were restored are not those of the backup".to_owned();
            return Err(BackupError::Damaged { path: copy, reason });
        }
    }
    // The replica is another one from now on, and so are the others.
    cluster::forget(data_dir).map_err(at(data_dir))?;
    let restored = Restored { backup_id: id, created_ms: backup.created_ms, index };
    restored.write(data_dir).map_err(at(data_dir))?;
    Ok(backup)
}

/// Reads the whole copy of a backup and compares it with what was taken.
fn verify(backups: &Path, id: u64) -> Result<RuntimeBackup, BackupError> {
    let directory = BackupDirectory::new(Some(backups.to_owned()));
    let backup = directory.find(backups, id)?.ok_or(BackupError::Unknown(id))?;
    if backup.state != BackupState::Completed {
        let reason = backup.failure.unwrap_or_else(|| "it is in progress, or its broker stopped".to_owned());
        return Err(BackupError::Incomplete { id, reason });
    }
    let copy = backups.join(id.to_string()).join(COPY);
    let damaged = |reason: &dyn std::fmt::Display| BackupError::Damaged {
        path: copy.clone(),
        reason: reason.to_string(),
    };
    if let Some(sum) = &backup.copy {
        sum.check(&copy).map_err(|error| damaged(&error))?;
    }
    let index = Store::check_snapshot(open(&copy).map_err(|error| damaged(&error))?)
        .map_err(|error| damaged(&error))?;
    if backup.index.is_some_and(|wanted| wanted != index) {
        return Err(damaged(&"it is of another backup"));
    }
    Ok(backup)
}
