//! Backups of the state, taken while the broker works, and data directories that begin with one.

use std::path::Path;

use broker::{BACKUP_ID_MAX, BackupError, BackupState, RuntimeBackup, restore};
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
    assert!(matches!(restore(new.path(), &backups, 1), Err(BackupError::Damaged { .. })));
    assert!(!new.path().join("state/partition-1.redb").exists());
    // As if the broker had stopped while it was taken.
    let text = std::fs::read_to_string(&description).unwrap().replace("completed", "in-progress");
    std::fs::write(&description, text).unwrap();
    let seen = taken(&server, 1).await;
    assert_eq!(seen.failure.as_deref(), Some("the broker stopped while it was taken"));
    assert!(matches!(restore(new.path(), &backups, 1), Err(BackupError::Incomplete { id: 1, .. })));
}

/// Any entry of the directory of backups is told of, and hides no other.
#[tokio::test]
async fn broken_entries_are_told_of_and_left_aside() {
    let directory = tempfile::tempdir().unwrap();
    let server = with_backups(directory.path()).await;
    let node = server.share();
    within(node.take_backup(Some(5))).await.unwrap();
    assert_eq!(taken(&server, 5).await.state, BackupState::Completed);
    let backups = directory.path().join("backups");
    let whole = std::fs::read(backups.join("5/backup.json")).unwrap();
    let copy = std::fs::read(backups.join("5/partition-1.state")).unwrap();
    let place = |id: u64| {
        let place = backups.join(id.to_string());
        std::fs::create_dir(&place).unwrap();
        place
    };
    std::fs::write(place(11).join("backup.json"), "{").unwrap();
    std::fs::create_dir(place(12).join("backup.json")).unwrap();
    std::os::unix::fs::symlink(backups.join("5/backup.json"), place(13).join("backup.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place(14).join("backup.json")).unwrap();
    let format = String::from_utf8(whole.clone()).unwrap().replace("\"format\": 1", "\"format\": 9");
    std::fs::write(place(15).join("backup.json"), format).unwrap();
    std::fs::write(place(16).join("backup.json"), &whole).unwrap();
    let cut = place(17);
    std::fs::write(cut.join("backup.json"), &whole).unwrap();
    std::fs::write(cut.join("partition-1.state"), &copy[..copy.len() / 2]).unwrap();
    let linked = place(18);
    std::fs::write(linked.join("backup.json"), &whole).unwrap();
    std::os::unix::fs::symlink(backups.join("5/partition-1.state"), linked.join("partition-1.state"))
        .unwrap();
    std::os::unix::fs::symlink(backups.join("5"), backups.join("19")).unwrap();
    std::fs::write(backups.join("20"), "").unwrap();
    std::fs::write(place(21).join("backup.json"), vec![b' '; 1 << 20]).unwrap();
    // These are no numbers of backups.
    for name in ["007", "+22", "0", "x", "99999999999999999999"] {
        std::fs::create_dir(backups.join(name)).unwrap();
        std::fs::write(backups.join(name).join("backup.json"), "{").unwrap();
    }
    std::fs::write(backups.join("forgotten.json"), "[").unwrap();

    let all = within(server.backups()).await.unwrap();
    assert_eq!(
        all.iter().map(|one| one.id).collect::<Vec<_>>(),
        [5, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]
    );
    assert_eq!((all[0].state, all[0].failure.as_deref()), (BackupState::Completed, None));
    let new = tempfile::tempdir().unwrap();
    for broken in &all[1..] {
        let reason = broken.failure.as_deref().unwrap_or_default();
        assert!(broken.state == BackupState::Failed && !reason.is_empty(), "{broken:?}");
        restore(new.path(), &backups, broken.id).unwrap_err();
        assert!(!new.path().join("state").exists(), "{broken:?}");
    }
    assert_eq!(within(server.held_backups()).await.unwrap().len(), 1);
    // The next is taken, and each broken one is deleted alone.
    let next = within(node.take_backup(None)).await.unwrap();
    assert_eq!(taken(&server, next).await.state, BackupState::Completed);
    for broken in &all[1..] {
        within(server.delete_backup(broken.id)).await.unwrap();
    }
    let left: Vec<u64> = within(server.backups()).await.unwrap().iter().map(|one| one.id).collect();
    assert_eq!(left, [5, next]);
    restore(new.path(), &backups, 5).unwrap();
}

#[tokio::test]
async fn numbers_of_backups_have_a_range_with_room_above() {
    let directory = tempfile::tempdir().unwrap();
    let server = with_backups(directory.path()).await;
    let node = server.share();
    for id in [0, BACKUP_ID_MAX + 1, i64::MAX.cast_unsigned(), u64::MAX] {
        let refused = within(node.take_backup(Some(id))).await.unwrap_err();
        assert!(matches!(refused, BackupError::OutOfRange(_)), "{refused}");
    }
    within(node.take_backup(Some(BACKUP_ID_MAX))).await.unwrap();
    taken(&server, BACKUP_ID_MAX).await;
    assert_eq!(within(node.take_backup(None)).await.unwrap(), BACKUP_ID_MAX + 1);
    taken(&server, BACKUP_ID_MAX + 1).await;
}

#[tokio::test]
async fn without_a_directory_there_are_no_backups() {
    let server = Server::start().await;
    let node = server.share();
    let refused = within(node.take_backup(None)).await.unwrap_err();
    assert_eq!(refused.to_string(), "no directory for backups is configured: set backup.directory");
    assert!(matches!(within(server.backups()).await, Err(BackupError::NotConfigured)));
}
