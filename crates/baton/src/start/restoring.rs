//! A restore that the API asks for: the server ends, and starts again in the same process with the backup.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::SystemTime;

use broker::{RestoreOrder, RestoreState, finish_restore};
use gateway::management::{OperationError, RestoreStatus};
use protocol::FIRST_PARTITION;
use tokio_util::sync::CancellationToken;

use super::backups::unix_ms;
use crate::command::restore::StagedHistory;
use crate::config::{Config, StorageKind};
use crate::failure::Failure;

/// The reason why the data of a server are not one replica in its data directory.
type Elsewhere = Option<&'static str>;

/// Orders of a server to itself.
pub(super) struct Restores {
    data_dir: PathBuf,
    broker_id: u32,
    elsewhere: Elsewhere,
    /// Ends the server so that it starts again.
    again: CancellationToken,
}

impl Restores {
    pub(super) fn new(config: &Config, broker_id: u32, again: CancellationToken) -> Arc<Self> {
        let is_default =
            config.secondary_storage_sqlite.path == Config::default().secondary_storage_sqlite.path;
        let elsewhere = match config.secondary_storage.kind {
            StorageKind::Sqlite if !is_default => {
                Some("the embedded history is not in the data directory: use `baton restore`")
            }
            _ => None,
        };
        Arc::new(Self { data_dir: config.data.directory.clone(), broker_id, elsewhere, again })
    }

    /// Orders a restore of the broker, whose cluster has so many members. Gives its number.
    pub(super) fn order(
        &self,
        order: &RestoreOrder,
        members: usize,
        is_paused: bool,
        dry_run: bool,
    ) -> Result<u32, OperationError> {
        let refusal = if members > 1 {
            Some(
                "expected a broker that is alone: all replicas of a cluster must begin with the same state, so stop all \
                 brokers, and begin new data directories with `baton restore`",
            )
        } else if !is_paused {
            Some(
                "expected the mode RECOVERING, but the broker processes: change it with PATCH /v2/mode before",
            )
        } else {
            self.elsewhere
        };
        if let Some(refusal) = refusal {
            return Err(OperationError::Conflict(refusal.to_owned()));
        }
        if self.again.is_cancelled() {
            return Err(OperationError::Conflict("a restore has begun already".to_owned()));
        }
        if !dry_run {
            order.write(&self.data_dir).map_err(|error| OperationError::Failed(error.to_string()))?;
            tracing::info!(backup = order.backup_id, "a restore was asked for: the server starts again");
            self.again.cancel();
        }
        Ok(self.broker_id)
    }

    /// The latest order and its outcome.
    pub(super) fn status(&self) -> Result<Option<RestoreStatus>, OperationError> {
        let order = RestoreOrder::read(&self.data_dir);
        let order = order.map_err(|error| OperationError::Failed(error.to_string()))?;
        Ok(order.map(|order| RestoreStatus {
            state: match order.state {
                RestoreState::InProgress => "IN_PROGRESS",
                RestoreState::Completed => "COMPLETED",
                RestoreState::Failed => "FAILED",
            },
            change_id: order.change_id,
            started_at_ms: order.started_ms,
            completed_at_ms: order.completed_ms,
            backup_id: order.backup_id,
            partition_id: FIRST_PARTITION,
            broker_id: self.broker_id,
        }))
    }
}

/// Carries out an order of the former life of this server.
pub(super) fn finish(config: &Config) -> Result<(), Failure> {
    let (data_dir, backups) = (&config.data.directory, config.backup.directory.as_deref());
    let history = |id| match (config.secondary_storage.kind, backups) {
        (StorageKind::Sqlite, Some(backups)) => {
            StagedHistory::of(backups, id, data_dir)?.map_or(Ok(()), |history| history.put().map(drop))
        }
        _ => Ok(()),
    };
    let ended = finish_restore(data_dir, backups, now_ms(), history).map_err(|error| {
        Failure::new(format!("the restore of '{}' cannot end: {error}", data_dir.display()))
    })?;
    match ended {
        Some(RestoreOrder { backup_id: backup, failure: None, .. }) => {
            tracing::info!(backup, "the broker begins with the backup");
        }
        Some(RestoreOrder { backup_id: backup, failure: Some(reason), .. }) => {
            tracing::error!(backup, %reason, "the backup cannot be restored: the broker goes on with its former data");
        }
        None => {}
    }
    Ok(())
}

pub(super) fn now_ms() -> i64 {
    unix_ms(SystemTime::now()).unwrap_or_default()
}

/// Starts this program anew in this process, with the same arguments.
pub(super) fn start_again() -> io::Error {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_else(|| "baton".into());
    Command::new("/proc/self/exe").arg0(name).args(arguments).exec()
}
