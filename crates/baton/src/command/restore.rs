//! `baton restore`: a new data directory begins with a backup.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use broker::{BackupError, FileSum};

use crate::cli::Restore;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

/// The embedded history in the directory of a backup.
pub(crate) const HISTORY_FILE: &str = "history.sqlite";
/// The sum of that file. Earlier releases wrote none.
pub(crate) const HISTORY_SUM: &str = "history.json";

pub(crate) fn run(arguments: &Restore) -> Result<ExitCode, Failure> {
    let Restore { backup_id, backups, data_dir } = arguments;
    std::fs::create_dir_all(data_dir)
        .map_err(|error| Failure::new(format!("cannot create '{}': {error}", data_dir.display())))?;
    let target = history_of(data_dir);
    if target.exists() {
        let failure = Failure::new(format!("'{}' is there already", target.display()));
        return Err(failure.hint("restore into a new directory"));
    }
    // All of it is read and compared before any of it is in its place.
    let history = StagedHistory::of(backups, *backup_id, data_dir)
        .map_err(|error| Failure::new(format!("cannot restore backup {backup_id}: {error}")))?;
    let restored = broker::restore(data_dir, backups, *backup_id).map_err(|error| {
        let failure = Failure::new(format!("cannot restore backup {backup_id}: {error}"));
        match error {
            BackupError::NotEmpty(_) => failure.hint("restore into a new directory"),
            BackupError::Unknown(_) => failure.hint("--backups is the directory that backup.directory names"),
            _ => failure,
        }
    })?;
    output::line(format_args!("state: everything up to position {}", restored.position))?;
    match history {
        Some(history) => {
            let target = history.put().map_err(Failure::new)?;
            output::line(format_args!("history: {}", target.display()))?;
        }
        None => output::note("This backup has no history: searches find what happens from now on."),
    }
    Ok(ExitCode::SUCCESS)
}

/// The history of a backup beside its place in a data directory: whole, and not in use yet.
pub(crate) struct StagedHistory {
    part: PathBuf,
    target: PathBuf,
}

impl StagedHistory {
    /// Copies the history of a backup, if it has one, and checks the copy: that it is what was taken, and that the
    /// store can read all of it.
    pub(crate) fn of(backups: &Path, backup_id: u64, data_dir: &Path) -> Result<Option<Self>, String> {
        let place = backups.join(backup_id.to_string());
        let source = place.join(HISTORY_FILE);
        let damaged = |reason: &dyn std::fmt::Display| format!("'{}' is damaged: {reason}", source.display());
        let sum = FileSum::read(&place.join(HISTORY_SUM))
            .map_err(|error| format!("'{}' is damaged: {error}", place.join(HISTORY_SUM).display()))?;
        if std::fs::symlink_metadata(&source).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return match sum {
                None => Ok(None),
                Some(_) => Err(damaged(&"it is missing")),
            };
        }
        let target = history_of(data_dir);
        let part = target.with_extension("part");
        // Dropped without having been put in its place, the part is removed.
        let staged = Self { part, target };
        FileSum::copy(sum.as_ref(), &source, &staged.part).map_err(|error| damaged(&error))?;
        secondary::check_file(&staged.part).map_err(|error| damaged(&error))?;
        Ok(Some(staged))
    }

    /// Gives it its place.
    pub(crate) fn put(self) -> Result<PathBuf, String> {
        let directory = self.target.parent().filter(|parent| !parent.as_os_str().is_empty());
        std::fs::rename(&self.part, &self.target)
            .and_then(|()| std::fs::File::open(directory.unwrap_or_else(|| Path::new(".")))?.sync_all())
            .map_err(|error| format!("cannot write '{}': {error}", self.target.display()))?;
        Ok(self.target.clone())
    }
}

impl Drop for StagedHistory {
    fn drop(&mut self) {
        // It is gone if it has its place.
        let _ = std::fs::remove_file(&self.part);
    }
}

fn history_of(data_dir: &Path) -> PathBuf {
    data_dir.join(Config::default().secondary_storage_sqlite.path)
}
