//! `baton restore`: a new data directory begins with a backup.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use broker::BackupError;

use crate::cli::Restore;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

/// The embedded history in the directory of a backup.
pub(crate) const HISTORY_FILE: &str = "history.sqlite";

pub(crate) fn run(arguments: &Restore) -> Result<ExitCode, Failure> {
    let Restore { backup_id, backups, data_dir } = arguments;
    std::fs::create_dir_all(data_dir)
        .map_err(|error| Failure::new(format!("cannot create '{}': {error}", data_dir.display())))?;
    let target = history_of(data_dir);
    if target.exists() {
        let failure = Failure::new(format!("'{}' is there already", target.display()));
        return Err(failure.hint("restore into a new directory"));
    }
    let restored = broker::restore(data_dir, backups, *backup_id).map_err(|error| {
        let failure = Failure::new(format!("cannot restore backup {backup_id}: {error}"));
        match error {
            BackupError::NotEmpty(_) => failure.hint("restore into a new directory"),
            BackupError::Unknown(_) => failure.hint("--backups is the directory that backup.directory names"),
            _ => failure,
        }
    })?;
    output::line(format_args!("state: everything up to position {}", restored.position))?;
    match restore_history(backups, *backup_id, data_dir).map_err(Failure::new)? {
        Some(target) => output::line(format_args!("history: {}", target.display()))?,
        None => output::note("This backup has no history: searches find what happens from now on."),
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts the history of a backup, if it has one, in its place in a data directory. Gives that place.
pub(crate) fn restore_history(
    backups: &Path,
    backup_id: u64,
    data_dir: &Path,
) -> Result<Option<PathBuf>, String> {
    let history = backups.join(backup_id.to_string()).join(HISTORY_FILE);
    if !history.exists() {
        return Ok(None);
    }
    let target = history_of(data_dir);
    copy(&history, &target)?;
    Ok(Some(target))
}

fn history_of(data_dir: &Path) -> PathBuf {
    data_dir.join(Config::default().secondary_storage_sqlite.path)
}

fn copy(source: &Path, target: &Path) -> Result<(), String> {
    std::fs::copy(source, target)
        .and_then(|_| std::fs::File::open(target)?.sync_all())
        .map_err(|error| format!("cannot write '{}': {error}", target.display()))
}
