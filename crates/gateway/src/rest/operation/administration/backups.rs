//! `/v2/backups/runtime`, and the same for the cluster: backups of the state.

use http::StatusCode;

use super::super::Call;
use super::of_tenants;
use crate::management::{BackupStatus, OperationError};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Moment, Object, object, write_list};

/// The only kind of backup that there is.
const MANUAL: &str = "MANUAL_BACKUP";

impl Call<'_> {
    /// The number of a backup in the path.
    pub(super) fn backup_id(&self) -> u64 {
        self.parameter().parse().expect("the contract takes numbers only")
    }

    /// Whether a backup is asked for: `prefix` has the first digits of its number, then a star.
    pub(super) fn wants_backup(&self) -> Result<impl Fn(u64) -> bool + use<>, Failure> {
        let prefix = self.query_parameter("prefix")?.unwrap_or_default();
        let digits = prefix.trim_end_matches('*').to_owned();
        Ok(move |id: u64| id.to_string().starts_with(&digits))
    }
}

async fn begin(call: &Call<'_>) -> Result<Result<u64, OperationError>, Failure> {
    let wanted = call.fields.value("backupId").as_u64();
    Ok(call.operations()?.take_backup(wanted).await)
}

/// `POST /v2/backups/runtime`: without a number, it gets one above all others.
pub(crate) async fn take(call: &Call<'_>) -> Result<Reply, Failure> {
    let id = begin(call).await??;
    let mut out = Vec::with_capacity(32);
    object(&mut out).with("backupId", id).end();
    Ok(accepted(out))
}

pub(super) fn accepted(body: Vec<u8>) -> Reply {
    Reply { status: StatusCode::ACCEPTED, ..Reply::json(body) }
}

/// `POST /cluster/v2/backups/runtime`: an answer for each tenant, also when nothing begins.
pub(crate) async fn take_of_all(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    let begun = begin(call).await?;
    let (status, id, outcome, reason) = match begun {
        Ok(id) => (StatusCode::ACCEPTED, Some(id), "TRIGGERED", None),
        Err(error) => {
            let failure = Failure::from(error);
            (failure.status(), None, "FAILED", Some(failure.detail))
        }
    };
    let mut out = Vec::with_capacity(128);
    let outcome = |tenant: Object<'_>| {
        tenant.with("backupId", id).with("outcome", outcome).with("reason", reason.as_deref()).end();
    };
    of_tenants(object(&mut out), outcome).end();
    Ok(Reply { status, ..Reply::json(out) })
}

async fn listed(call: &Call<'_>) -> Result<Vec<BackupStatus>, Failure> {
    let is_wanted = call.wants_backup()?;
    let mut all = call.operations()?.backups().await?;
    all.retain(|backup| is_wanted(backup.id));
    Ok(all)
}

/// `GET /v2/backups/runtime`
pub(crate) async fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    let mut out = Vec::with_capacity(256);
    write_list(&listed(call).await?, &mut out, write);
    Ok(Reply::json(out))
}

/// `GET /cluster/v2/backups/runtime`
pub(crate) async fn list_of_all(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    let mut out = Vec::with_capacity(256);
    write_list(&listed(call).await?, &mut out, write_of_all);
    Ok(Reply::json(out))
}

async fn found(call: &Call<'_>) -> Result<BackupStatus, Failure> {
    Ok(call.operations()?.backup(call.backup_id()).await?)
}

/// `GET /v2/backups/runtime/{backupId}`
pub(crate) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let mut out = Vec::with_capacity(256);
    write(&found(call).await?, &mut out);
    Ok(Reply::json(out))
}

/// `GET /cluster/v2/backups/runtime/{backupId}`
pub(crate) async fn get_of_all(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    let mut out = Vec::with_capacity(256);
    write_of_all(&found(call).await?, &mut out);
    Ok(Reply::json(out))
}

/// `DELETE /v2/backups/runtime/{backupId}`: one that is not there is deleted already.
pub(crate) async fn delete(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    call.operations()?.delete_backup(call.backup_id()).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

fn write(backup: &BackupStatus, out: &mut Vec<u8>) {
    with_details(object(out).with("backupId", backup.id), backup).end();
}

fn write_of_all(backup: &BackupStatus, out: &mut Vec<u8>) {
    let whole = object(out)
        .with("backupId", backup.id)
        .with("state", backup.state)
        .with("failureReason", backup.failure_reason.as_deref());
    of_tenants(whole, |tenant| with_details(tenant, backup).end()).end();
}

/// Its state and that of its partition.
fn with_details<'a>(object_of: Object<'a>, backup: &BackupStatus) -> Object<'a> {
    object_of.with("state", backup.state).with("failureReason", backup.failure_reason.as_deref()).list(
        "details",
        [backup.partition_id],
        |partition, out| {
            object(out)
                .with("partitionId", partition)
                .with("state", backup.state)
                .with("failureReason", backup.failure_reason.as_deref())
                .with("createdAt", Moment(backup.created_at_ms))
                .with("lastUpdatedAt", Moment(backup.last_updated_at_ms))
                .with("snapshotId", backup.snapshot_id.map(|index| index.to_string()))
                .with("firstLogPosition", first_log_position(backup))
                .with("checkpointPosition", backup.checkpoint_position)
                .with("brokerId", backup.broker_id)
                .with("brokerVersion", &backup.broker_version)
                .end();
        },
    )
}

/// A backup has no log: what it begins has its first record behind it.
const fn first_log_position(backup: &BackupStatus) -> u64 {
    backup.checkpoint_position + 1
}

/// `GET /v2/backups/runtime/state`
pub(crate) async fn state(call: &Call<'_>) -> Result<Reply, Failure> {
    let held = call.operations()?.held_backups().await?;
    let mut out = Vec::with_capacity(512);
    with_state(object(&mut out), &held).end();
    Ok(Reply::json(out))
}

/// `GET /cluster/v2/backups/runtime/state`
pub(crate) async fn state_of_all(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    let held = call.operations()?.held_backups().await?;
    let mut out = Vec::with_capacity(512);
    let state = |tenant: Object<'_>| tenant.object("state", |object| with_state(object, &held)).end();
    of_tenants(object(&mut out), state).end();
    Ok(Reply::json(out))
}

/// `DELETE /v2/backups/runtime/state`: the backups stay, and are not told of by the state any more.
pub(crate) async fn delete_state(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    call.operations()?.forget_backups(true).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

/// `POST /v2/backups/runtime/state/sync`: the state is that of all backups that are there.
pub(crate) async fn sync_state(call: &Call<'_>) -> Result<Reply, Failure> {
    call.operations()?.forget_backups(false).await?;
    state(call).await
}

/// `POST /cluster/v2/backups/runtime/state/sync`
pub(crate) async fn sync_state_of_all(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    call.operations()?.forget_backups(false).await?;
    state_of_all(call).await
}

/// The latest backup, and each for itself as a range: there is no log between them.
fn with_state<'a>(object_of: Object<'a>, held: &[BackupStatus]) -> Object<'a> {
    let latest = held.last();
    object_of
        .list("checkpointStates", latest, |backup, out| {
            object(out)
                .with("checkpointId", backup.id)
                .with("checkpointType", MANUAL)
                .with("partitionId", backup.partition_id)
                .with("checkpointPosition", backup.checkpoint_position)
                .with("checkpointTimestamp", Moment(backup.created_at_ms))
                .end();
        })
        .list("backupStates", latest, |backup, out| write_point(object(out), backup).end())
        .list("ranges", held, |backup, out| {
            object(out)
                .with("partitionId", backup.partition_id)
                .object("start", |object| write_point(object, backup))
                .object("end", |object| write_point(object, backup))
                .end();
        })
}

fn write_point<'a>(object_of: Object<'a>, backup: &BackupStatus) -> Object<'a> {
    object_of
        .with("checkpointId", backup.id)
        .with("checkpointType", MANUAL)
        .with("partitionId", backup.partition_id)
        .with("checkpointPosition", backup.checkpoint_position)
        .with("firstLogPosition", first_log_position(backup))
        .with("checkpointTimestamp", Moment(backup.created_at_ms))
}
