//! Backups of the state, taken while the broker works, and data directories that begin with one.

use std::path::Path;

use broker::{BackupError, BackupState, RuntimeBackup, restore};
use broker_api::Broker;
use protocol::{Query, QueryReply};

use crate::support::{Crashed, Server, jobs, task, within};

async fn with_backups(directory: &Path) -> Server {
    let path = directory.join("backups");
    Server::with(|options| options.backups = Some(path)).await
}

/// The backup, once it is taken or has failed.
async fn taken(server: &Server, id: u64) -> RuntimeBackup {
    within(async {
        loop {
            let all = server.backups().await.unwrap();
            let found = all.into_iter().find(|backup| backup.id == id).unwrap();
            if found.state != BackupState::InProgress {
                return found;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[tokio::test]
async fn a_new_data_directory_begins_with_the_state_of_a_backup() {
    let directory = tempfile::tempdir().unwrap();
    let server = with_backups(directory.path()).await;
    server.deploy(&task("t")).await;
    let before = server.create().await;
    let position = server.partition().position;
    let node = server.share();
    assert_eq!(within(node.take_backup(Some(7))).await.unwrap(), 7);
    let backup = taken(&server, 7).await;
    assert_eq!((backup.state, backup.failure.as_deref()), (BackupState::Completed, None));
    assert!(backup.position >= position && backup.index.is_some(), "{backup:?}");
    let after = server.create().await;
    drop(node);
    let crashed = server.kill();

    let new = tempfile::tempdir().unwrap();
    let backups = directory.path().join("backups");
    assert_eq!(restore(new.path(), &backups, 7).unwrap().id, 7);
    let restored = Crashed::begin(new).start().await;
    let read = |process_instance_key| restored.read(Query::ProcessInstance { key: process_instance_key });
    assert!(matches!(within(read(before)).await, Ok(QueryReply::ProcessInstance(_))));
    within(read(after)).await.unwrap_err();
    // It goes on from there, over a restart, too.
    let job = within(restored.activate_jobs(jobs("t"), None)).await.unwrap().jobs.remove(0);
    assert_eq!(job.process_instance_key, before);
    let restored = restored.crash().await;
    restored.complete(&job).await.unwrap();
    let next = restored.create().await;
    assert!(next > before);
    within(restored.read(Query::ProcessInstance { key: before })).await.unwrap_err();
    // A directory that has something is left alone.
    let occupied = crashed.directory().to_owned();
    assert!(matches!(restore(&occupied, &backups, 7), Err(BackupError::NotEmpty(_))));
    assert!(matches!(restore(directory.path(), &backups, 8), Err(BackupError::Unknown(8))));
}

#[tokio::test]
async fn numbers_of_backups_grow_and_each_is_deleted_alone() {
    let directory = tempfile::tempdir().unwrap();
    let server = with_backups(directory.path()).await;
    let node = server.share();
    assert_eq!(within(server.backups()).await.unwrap(), []);
    within(node.take_backup(Some(5))).await.unwrap();
    taken(&server, 5).await;
    for late in [5, 4] {
        let refused = within(node.take_backup(Some(late))).await.unwrap_err();
        assert!(matches!(refused, BackupError::NotLater { latest: 5, .. }), "{refused}");
    }
    let next = within(node.take_backup(None)).await.unwrap();
    assert!(next > 5);
    taken(&server, next).await;
    let ids = async || server.backups().await.unwrap().iter().map(|backup| backup.id).collect::<Vec<_>>();
    let held = async || server.held_backups().await.unwrap().iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!((ids().await, held().await), (vec![5, next], vec![5, next]));
    within(server.forget_backups(true)).await.unwrap();
    assert_eq!((ids().await, held().await), (vec![5, next], vec![]));
    within(server.forget_backups(false)).await.unwrap();
    assert_eq!(held().await, vec![5, next]);
    within(server.delete_backup(5)).await.unwrap();
    within(server.delete_backup(5)).await.unwrap();
    assert_eq!(ids().await, [next]);
    assert!(!directory.path().join("backups/5").exists());
}

#[tokio::test]
async fn a_backup_that_is_damaged_or_was_given_up_is_told_of() {
    let directory = tempfile::tempdir().unwrap();
    let server = with_backups(directory.path()).await;
    let node = server.share();
    within(node.take_backup(Some(1))).await.unwrap();
    taken(&server, 1).await;
    let backups = directory.path().join("backups");
    let (copy, description) = (backups.join("1/partition-1.state"), backups.join("1/backup.json"));
    let mut bytes = std::fs::read(&copy).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&copy, &bytes).unwrap();
    let new = tempfile::tempdir().unwrap();
    assert!(matches!(restore(new.path(), &backups, 1), Err(BackupError::State(_))));
    assert!(!new.path().join("state/partition-1.redb").exists());
    // As if the broker had stopped while it was taken.
    let text = std::fs::read_to_string(&description).unwrap().replace("completed", "in-progress");
    std::fs::write(&description, text).unwrap();
    let seen = taken(&server, 1).await;
    assert_eq!(seen.failure.as_deref(), Some("the broker stopped while it was taken"));
    assert!(matches!(restore(new.path(), &backups, 1), Err(BackupError::Incomplete { id: 1, .. })));
    std::fs::write(&description, "{").unwrap();
    let refused = server.backups().await.unwrap_err();
    assert!(refused.to_string().contains("backup.json"), "{refused}");
}

#[tokio::test]
async fn without_a_directory_there_are_no_backups() {
    let server = Server::start().await;
    let node = server.share();
    let refused = within(node.take_backup(None)).await.unwrap_err();
    assert_eq!(refused.to_string(), "no directory for backups is configured: set backup.directory");
    assert!(matches!(within(server.backups()).await, Err(BackupError::NotConfigured)));
}
