//! Permissions of operators: backups, exporters, the mode, and what belongs to the cluster as a whole.

use std::path::Path;

use protocol::{PermissionType as P, ResourceType as R};

use crate::permissions::{Row, row};
use crate::server::with_users;

const BATCHES: &[(R, P)] = &[(R::Batch, P::Create)];
const MODE_CHANGERS: &[(R, P)] = &[(R::System, P::Update), (R::Backup, P::Restore)];

/// Settings of a server that operators have something to do with.
pub fn settings(users: &Path, backups: &Path) -> Vec<String> {
    let more = [
        "security.authorizations=true",
        "clock.controlled=true",
        "secrets.environment_prefix=SECRET_OF_TESTS_",
        &format!("backup.directory={}", backups.display()),
    ];
    with_users(users, &more)
}

/// Permissions that come before all others.
pub fn rows() -> Vec<Row> {
    vec![
        row(
            R::ProcessDefinition,
            P::SuspendProcessInstance,
            &["suspendProcessInstance", "resumeProcessInstance"],
        ),
        row(
            R::Backup,
            P::Create,
            &[
                "takeRuntimeBackup",
                "takeRuntimeBackupAsClusterAdmin",
                "syncRuntimeBackupState",
                "syncRuntimeBackupStateAsClusterAdmin",
                "takeHistoryBackup",
                "takeHistoryBackupAsClusterAdmin",
            ],
        ),
        row(
            R::Backup,
            P::Read,
            &[
                "listRuntimeBackups",
                "listRuntimeBackupsAsClusterAdmin",
                "getRuntimeBackup",
                "getRuntimeBackupAsClusterAdmin",
                "getRuntimeBackupState",
                "getRuntimeBackupStateAsClusterAdmin",
                "listHistoryBackups",
                "listHistoryBackupsAsClusterAdmin",
                "getHistoryBackup",
                "getHistoryBackupAsClusterAdmin",
            ],
        ),
        row(R::Backup, P::Restore, &["restore", "restoreAsClusterAdmin", "getRestoreStatus"]),
        row(R::Secret, P::Read, &["listSecrets"]),
        row(R::Secret, P::Reveal, &["resolveSecrets"]),
        row(
            R::Exporter,
            P::Pause,
            &[
                "pauseExporting",
                "getExportingStatus",
                "resumeExporting",
                "pauseClusterExporting",
                "getClusterExportingStatus",
                "resumeClusterExporting",
            ],
        ),
        row(
            R::Resource,
            P::Read,
            &[
                "getFormByKey",
                "getResource",
                "getResourceContent",
                "getResourceContentBinary",
                "searchResources",
            ],
        ),
    ]
}

/// Permissions that come after all others, when backups are taken and not needed any more.
pub fn later_rows() -> Vec<Row> {
    vec![
        Row {
            instead: BATCHES,
            ..row(
                R::Batch,
                P::CreateBatchOperationSuspendProcessInstance,
                &["resumeProcessInstancesBatchOperation", "suspendProcessInstancesBatchOperation"],
            )
        },
        Row {
            instead: BATCHES,
            ..row(R::Batch, P::CreateBatchOperationUpdateJob, &["updateJobsBatchOperation"])
        },
        row(
            R::Backup,
            P::Delete,
            &[
                "deleteRuntimeBackupState",
                "deleteRuntimeBackupStateAsClusterAdmin",
                "deleteRuntimeBackup",
                "deleteRuntimeBackupAsClusterAdmin backupId=otherBackupId",
                "deleteHistoryBackup",
                "deleteHistoryBackupAsClusterAdmin backupId=otherBackupId",
            ],
        ),
        Row {
            instead: MODE_CHANGERS,
            ..row(R::System, P::Update, &["changeClusterMode", "changeClusterModeAsClusterAdmin"])
        },
        Row {
            instead: MODE_CHANGERS,
            ..row(R::Backup, P::Restore, &["changeClusterMode", "changeClusterModeAsClusterAdmin"])
        },
    ]
}
