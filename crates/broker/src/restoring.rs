//! A restore that a running broker is asked for: it stops, and its next start begins with the backup.
//!
//! The order is a file (`restore.json`), so a start that is cut off goes on with it. The former data are in
//! `before-restore` until the backup is in their place; if that fails, they come back.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::backup_directory::restore;
use data_directory::durable_file;

const FILE: &str = "restore.json";
const ASIDE: &str = "before-restore";

/// State of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestoreState {
    /// The broker stops, or starts with it.
    InProgress,
    /// The broker began with the backup.
    Completed,
    /// The broker has its former data.
    Failed,
}

/// A restore that a broker was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreOrder {
    /// Its name in the API.
    pub change_id: String,
    /// The backup.
    pub backup_id: u64,
    /// When it was ordered, Unix milliseconds.
    pub started_ms: i64,
    /// When it ended, Unix milliseconds.
    pub completed_ms: Option<i64>,
    /// State of the restore.
    pub state: RestoreState,
    /// Why it failed.
    pub failure: Option<String>,
}

impl RestoreOrder {
    /// An order of now.
    pub fn new(change_id: String, backup_id: u64, now_ms: i64) -> Self {
        let (completed_ms, failure) = (None, None);
        Self {
            change_id,
            backup_id,
            started_ms: now_ms,
            completed_ms,
            state: RestoreState::InProgress,
            failure,
        }
    }

    /// The latest order of a data directory.
    pub fn read(data_dir: &Path) -> io::Result<Option<Self>> {
        durable_file::read_json(&data_dir.join(FILE))
    }

    /// Keeps it over the end of the process.
    pub fn write(&self, data_dir: &Path) -> io::Result<()> {
        let content = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        durable_file::write(&data_dir.join(FILE), &content)
    }
}

/// Carries out the order of a data directory, if there is one that was not; `history` puts the history of the backup in
/// its place. Gives the order with its outcome. An error leaves the order for the next start.
pub fn finish_restore(
    data_dir: &Path,
    backups: Option<&Path>,
    now_ms: i64,
    history: impl FnOnce(u64) -> Result<(), String>,
) -> io::Result<Option<RestoreOrder>> {
    let aside = data_dir.join(ASIDE);
    let Some(order) = RestoreOrder::read(data_dir)? else { return Ok(None) };
    if order.state != RestoreState::InProgress {
        // The end came between the outcome and the removal.
        remove(&aside)?;
        return Ok(None);
    }
    std::fs::create_dir_all(&aside)?;
    data_directory::move_replica(data_dir, &aside)?;
    let begun = match backups {
        Some(backups) => {
            restore(data_dir, backups, order.backup_id).map(drop).map_err(|error| error.to_string())
        }
        None => Err("no directory for backups is configured: set backup.directory".to_owned()),
    };
    let outcome = begun.and_then(|()| history(order.backup_id));
    let (state, failure) = match outcome {
        Ok(()) => (RestoreState::Completed, None),
        Err(failure) => {
            data_directory::remove_replica(data_dir)?;
            data_directory::move_replica(&aside, data_dir)?;
            (RestoreState::Failed, Some(failure))
        }
    };
    let ended = RestoreOrder { state, failure, completed_ms: Some(now_ms), ..order };
    ended.write(data_dir)?;
    remove(&aside)?;
    Ok(Some(ended))
}

fn remove(directory: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data directory with an order, and one of backups that are damaged.
    fn ordered() -> (tempfile::TempDir, tempfile::TempDir) {
        let (data, backups) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir_all(data.path().join("state")).unwrap();
        std::fs::write(data_directory::state_file(data.path(), protocol::FIRST_PARTITION), "former").unwrap();
        std::fs::create_dir_all(data.path().join("documents")).unwrap();
        RestoreOrder::new("7".to_owned(), 5, 1_000).write(data.path()).unwrap();
        (data, backups)
    }

    fn state_of(data: &Path) -> String {
        std::fs::read_to_string(data_directory::state_file(data, protocol::FIRST_PARTITION)).unwrap()
    }

    #[test]
    fn a_restore_that_fails_leaves_the_former_data() {
        let (data, backups) = ordered();
        let history = |_| panic!("there is no backup");
        let ended = finish_restore(data.path(), Some(backups.path()), 2_000, history).unwrap().unwrap();
        assert_eq!((ended.state, ended.completed_ms), (RestoreState::Failed, Some(2_000)));
        assert_eq!(ended.failure.as_deref(), Some("there is no backup 5"));
        assert_eq!(state_of(data.path()), "former");
        assert!(!data.path().join(ASIDE).exists());
        assert_eq!(RestoreOrder::read(data.path()).unwrap(), Some(ended));
        let again = finish_restore(data.path(), Some(backups.path()), 3_000, |_| Ok(())).unwrap();
        assert_eq!(again, None, "it is carried out once");
    }

    #[test]
    fn a_start_that_was_cut_off_goes_on_with_the_former_data_aside() {
        let (data, _) = ordered();
        let aside = data.path().join(ASIDE);
        std::fs::create_dir(&aside).unwrap();
        data_directory::move_replica(data.path(), &aside).unwrap();
        // A part of what the backup holds is there.
        std::fs::create_dir(data.path().join("state")).unwrap();
        std::fs::write(data_directory::state_file(data.path(), protocol::FIRST_PARTITION), "half").unwrap();
        let ended = finish_restore(data.path(), None, 2_000, |_| Ok(())).unwrap().unwrap();
        assert!(ended.failure.unwrap().contains("backup.directory"));
        assert_eq!(state_of(data.path()), "former");
        assert!(data.path().join("documents").exists());
    }

    #[test]
    fn former_data_go_when_the_outcome_was_kept_and_they_were_not_removed() {
        let (data, _) = ordered();
        let order = RestoreOrder::read(data.path()).unwrap().unwrap();
        RestoreOrder { state: RestoreState::Completed, ..order }.write(data.path()).unwrap();
        std::fs::create_dir(data.path().join(ASIDE)).unwrap();
        assert_eq!(finish_restore(data.path(), None, 2_000, |_| Ok(())).unwrap(), None);
        assert!(!data.path().join(ASIDE).exists());
    }
}
