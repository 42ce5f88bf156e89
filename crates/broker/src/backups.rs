//! A broker takes, lists and deletes backups of its state while it works.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use data_directory::durable_file;
use partition::StateView;
use replication::SnapshotSource as _;
use state::Store;

use crate::backup_directory::{
    BackupDirectory, BackupError, BackupState, COPY, DESCRIPTION, FORGOTTEN, RuntimeBackup, at,
    remove_backup_files,
};
use crate::backup_file::{FileSum, open};
use crate::node::Node;

/// A copy of the state.
struct Copied {
    index: u64,
    sum: FileSum,
    hash: u64,
}

impl Node {
    /// Begins a backup and gives its number. It is taken in the background.
    pub async fn take_backup(self: &Arc<Self>, id: Option<u64>) -> Result<u64, BackupError> {
        if self.all().len() > 1 {
            return Err(BackupError::SeveralPartitions);
        }
        let now_ms = self.options().partition.wall_clock.now_ms();
        let position = self.partition().position;
        let backup = RuntimeBackup::begun(now_ms, self.number(), position);
        let mut backup = self.with_backups(move |backups| backups.begin(id, backup)).await?;
        let id = backup.id;
        let node = Arc::clone(self);
        tokio::spawn(async move {
            match node.copy_state(id).await {
                Ok(copied) => {
                    backup.state = BackupState::Completed;
                    (backup.index, backup.copy) = (Some(copied.index), Some(copied.sum));
                    backup.state_hash = Some(copied.hash);
                }
                Err(reason) => {
                    tracing::warn!(backup = id, reason, "a backup failed");
                    (backup.state, backup.failure) = (BackupState::Failed, Some(reason));
                }
            }
            backup.updated_ms = node.options().partition.wall_clock.now_ms();
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

    /// Copies the state as of now or later.
    async fn copy_state(&self, id: u64) -> Result<Copied, String> {
        self.first().write_state().await.map_err(|error| error.to_string())?;
        let snapshot = self.first().engine().lock().tables().snapshot().map_err(|error| error.to_string())?;
        let partition = self.first().number();
        let copied = self.with_backups(move |backups| {
            let path = backups.path()?.join(id.to_string()).join(COPY);
            let hash = snapshot.hash()?;
            let view = Box::new(StateView::new(partition, snapshot));
            let index = view.index();
            view.write_to(&path).map_err(|error| at(&path)(io::Error::other(error)))?;
            let written = Store::check_snapshot(open(&path).map_err(at(&path))?)?;
            assert_eq!(written, index, "a copy is as of its view");
            durable_file::sync(path.parent().expect("it is in a directory")).map_err(at(&path))?;
            let sum = FileSum::of(&path).map_err(at(&path))?;
            Ok(Copied { index, sum, hash })
        });
        copied.await.map_err(|error| error.to_string())
    }

    /// All backups, the earliest first.
    pub async fn backups(&self) -> Result<Vec<RuntimeBackup>, BackupError> {
        let broker_id = self.options().partition.node_id;
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

    /// The complete backups whose state was kept, the earliest first.
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
            let directory = backups.path()?;
            let latest = backups.list()?.last().map_or(0, |backup| backup.id);
            let path = directory.join(FORGOTTEN);
            let text = if forget { latest.to_string() } else { "0".to_owned() };
            fs::create_dir_all(directory).map_err(at(&path))?;
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
