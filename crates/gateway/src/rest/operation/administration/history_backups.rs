//! `/v2/backups/history`, and the same for the cluster: backups of the embedded history.

use http::StatusCode;

use super::super::Call;
use super::backups::accepted;
use super::of_tenants;
use crate::management::HistoryBackupStatus;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Moment, Object, object, write_list};

async fn begin(call: &Call<'_>) -> Result<(u64, Vec<String>), Failure> {
    let id = call.fields.value("backupId").as_u64().expect("the contract requires a number");
    Ok((id, call.operations()?.take_history_backup(id).await?))
}

/// `POST /v2/backups/history`
pub(crate) async fn take(call: &Call<'_>) -> Result<Reply, Failure> {
    let (id, scheduled) = begin(call).await?;
    let mut out = Vec::with_capacity(64);
    object(&mut out).with("backupId", id).with("scheduledSnapshots", scheduled).end();
    Ok(accepted(out))
}

/// `POST /cluster/v2/backups/history`
pub(crate) async fn take_of_all(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    let (id, scheduled) = begin(call).await?;
    let mut out = Vec::with_capacity(64);
    let whole = object(&mut out).with("backupId", id);
    of_tenants(whole, |tenant| tenant.with("scheduledSnapshots", &scheduled).end()).end();
    Ok(accepted(out))
}

/// The backups that are asked for. `verbose=false` leaves the times out, which are at hand here.
async fn listed(call: &Call<'_>) -> Result<Vec<HistoryBackupStatus>, Failure> {
    let is_wanted = call.wants_backup()?;
    let mut all = call.operations()?.history_backups().await?;
    all.retain(|backup| is_wanted(backup.id));
    Ok(all)
}

/// `GET /v2/backups/history`
pub(crate) async fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    let mut out = Vec::with_capacity(256);
    write_list(&listed(call).await?, &mut out, write);
    Ok(Reply::json(out))
}

/// `GET /cluster/v2/backups/history`
pub(crate) async fn list_of_all(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    let mut out = Vec::with_capacity(256);
    write_list(&listed(call).await?, &mut out, write_of_all);
    Ok(Reply::json(out))
}

async fn found(call: &Call<'_>) -> Result<HistoryBackupStatus, Failure> {
    Ok(call.operations()?.history_backup(call.backup_id()).await?)
}

/// `GET /v2/backups/history/{backupId}`
pub(crate) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let mut out = Vec::with_capacity(256);
    write(&found(call).await?, &mut out);
    Ok(Reply::json(out))
}

/// `GET /cluster/v2/backups/history/{backupId}`
pub(crate) async fn get_of_all(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    let mut out = Vec::with_capacity(256);
    write_of_all(&found(call).await?, &mut out);
    Ok(Reply::json(out))
}

/// `DELETE /v2/backups/history/{backupId}`
pub(crate) async fn delete(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    call.operations()?.delete_history_backup(call.backup_id()).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

fn write(backup: &HistoryBackupStatus, out: &mut Vec<u8>) {
    with_details(object(out).with("backupId", backup.id), backup).end();
}

fn write_of_all(backup: &HistoryBackupStatus, out: &mut Vec<u8>) {
    let whole = object(out).with("backupId", backup.id);
    of_tenants(whole, |tenant| with_details(tenant, backup).end()).end();
}

fn with_details<'a>(object_of: Object<'a>, backup: &HistoryBackupStatus) -> Object<'a> {
    object_of.with("state", backup.state).with("failureReason", backup.failure_reason.as_deref()).list(
        "details",
        [backup],
        |backup, out| {
            object(out)
                .with("snapshotName", &backup.snapshot_name)
                .with("state", backup.state)
                .with("startTime", backup.started_at_ms.map(Moment))
                .with("failures", backup.failure_reason.as_slice())
                .end();
        },
    )
}
