//! `/v2/restore`: a broker that is alone and does not process begins anew with a backup of its state.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::Call;
use super::backups::accepted;
use super::{PHYSICAL_TENANT, new_change_id, planned};
use crate::management::{BackupStatus, RestoreStatus};
use crate::rest::moment;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Moment, object};

/// The backup that a request names: the latest of some, or the latest of a time.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Ids(BTreeSet<u64>),
    Between { from_ms: i64, to_ms: i64 },
}

impl Wanted {
    fn read(request: &Map<String, Value>) -> Result<Self, Failure> {
        let moment = |name: &str| -> Result<Option<i64>, Failure> {
            let Some(text) = request.get(name).and_then(Value::as_str) else { return Ok(None) };
            let parsed = moment::parse(text);
            parsed
                .map(Some)
                .ok_or_else(|| Failure::invalid(format!("{name}: expected a date and time with offset")))
        };
        let ids = request.get("backupIds").and_then(Value::as_array).into_iter().flatten();
        let ids: BTreeSet<u64> = ids.filter_map(Value::as_u64).collect();
        let (from, to) = (moment("from")?, moment("to")?);
        if ids.is_empty() == (from.is_none() && to.is_none()) {
            return Err(Failure::invalid("request body: expected either backupIds, or from and to"));
        }
        if !ids.is_empty() {
            return Ok(Self::Ids(ids));
        }
        let (from_ms, to_ms) = (from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX));
        if from_ms > to_ms {
            return Err(Failure::invalid("from: expected a moment before that of to"));
        }
        Ok(Self::Between { from_ms, to_ms })
    }

    /// A backup is whole by itself, so the latest holds all others.
    fn choose(&self, backups: &[BackupStatus]) -> Result<u64, Failure> {
        let whole = |backup: &&BackupStatus| backup.state == "COMPLETED";
        match self {
            Self::Ids(ids) => {
                for id in ids {
                    let found = backups.iter().find(|backup| backup.id == *id);
                    let found = found
                        .ok_or_else(|| Failure::invalid(format!("backupIds: there is no backup {id}")))?;
                    if !whole(&found) {
                        return Err(Failure::invalid(format!("backupIds: backup {id} is {}", found.state)));
                    }
                }
                Ok(*ids.last().expect("some are named"))
            }
            Self::Between { from_ms, to_ms } => {
                let mut inside = backups.iter().filter(whole);
                let latest = inside.rfind(|backup| (*from_ms..=*to_ms).contains(&backup.created_at_ms));
                latest.map(|backup| backup.id).ok_or_else(|| {
                    Failure::invalid(
                        "from, to: expected a time in which a backup was completed, but there is none",
                    )
                })
            }
        }
    }
}

/// The request of the only physical tenant, which the cluster's request may give for itself.
fn request_of(call: &Call<'_>) -> Result<Map<String, Value>, Failure> {
    let mut overrides = call.fields.object("overrides");
    let own = overrides.remove(PHYSICAL_TENANT);
    if let Some(other) = overrides.keys().next() {
        return Err(Failure::invalid(format!("overrides: there is no physical tenant '{other}'")));
    }
    if let Some(Value::Object(own)) = own {
        return Ok(own);
    }
    let member = |name: &str| (name.to_owned(), call.fields.value(name));
    Ok(["backupIds", "from", "to"].map(member).into_iter().collect())
}

/// `POST /v2/restore` and `POST /cluster/v2/restore`: the broker ends after this answer and starts with the backup.
pub(crate) async fn begin(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    let wanted = Wanted::read(&request_of(call)?)?;
    let operations = call.operations()?;
    let backups = operations.backups().await?;
    let backup_id = wanted.choose(&backups)?;
    let chosen = backups.iter().find(|backup| backup.id == backup_id).expect("it was chosen among these");
    let change_id = new_change_id();
    let broker_id =
        operations.restore(change_id.clone(), backup_id, call.is_set("dryRun")?).await?.to_string();
    Ok(accepted(planned(&change_id, STEPS, |step, out| {
        let operation = object(out).with("operation", step).with("brokerId", &broker_id);
        match step {
            "ModeChangeOperation" => operation.with("mode", "PROCESSING").end(),
            "PartitionPreRestoreOperation" => operation.with("partitionId", chosen.partition_id).end(),
            _ => operation.with("partitionId", chosen.partition_id).with("backupIds", [backup_id]).end(),
        }
    })))
}

/// The steps of a restore, by their names in the contract: the former data go, the backup comes, processing begins.
const STEPS: [&str; 3] = ["PartitionPreRestoreOperation", "PartitionRestoreOperation", "ModeChangeOperation"];

/// `GET /v2/restore`
pub(crate) async fn status(call: &Call<'_>) -> Result<Reply, Failure> {
    let restore = call.operations()?.restore_status()?;
    let restore = restore.ok_or_else(|| Failure::not_found("no restore was begun over the API"))?;
    let mut out = Vec::with_capacity(256);
    write(&restore, &mut out);
    Ok(Reply::json(out))
}

fn write(restore: &RestoreStatus, out: &mut Vec<u8>) {
    let is_restored = restore.state == "COMPLETED";
    object(out)
        .with("status", restore.state)
        .with("changeId", &restore.change_id)
        .with("startedAt", Moment(restore.started_at_ms))
        .list("brokers", [restore.broker_id.to_string()], |broker_id, out| {
            object(out)
                .with("brokerId", broker_id)
                .with("partitionsToRestore", 1)
                .with("partitionsRestored", i32::from(is_restored))
                .list("partitions", [restore.partition_id], |partition_id, out| {
                    object(out)
                        .with("partitionId", partition_id)
                        .with("state", if is_restored { "RESTORED" } else { "RESTORING" })
                        .with("backupIds", [restore.backup_id])
                        .with("completedAt", restore.completed_at_ms.filter(|_| is_restored).map(Moment))
                        .end();
                })
                .end();
        })
        .end();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn backup(id: u64, state: &'static str, created_at_ms: i64) -> BackupStatus {
        BackupStatus {
            id,
            partition_id: 1,
            state,
            failure_reason: None,
            created_at_ms,
            last_updated_at_ms: created_at_ms,
            broker_id: 0,
            broker_version: "1".to_owned(),
            checkpoint_position: id,
            snapshot_id: None,
        }
    }

    #[test]
    fn the_latest_backup_that_is_named_is_restored() {
        let all = [backup(3, "COMPLETED", 3_000), backup(5, "COMPLETED", 5_000), backup(7, "FAILED", 7_000)];
        let choose = |request: Value| {
            let wanted = Wanted::read(request.as_object().unwrap())?;
            wanted.choose(&all)
        };
        let refused = |request| choose(request).unwrap_err().detail.to_string();
        assert_eq!(choose(json!({"backupIds": [5, 3]})).unwrap(), 5);
        assert_eq!(choose(json!({"to": "1970-01-01T00:00:04Z", "from": null})).unwrap(), 3);
        assert_eq!(choose(json!({"from": "1970-01-01T00:00:01Z", "to": "1970-01-01T00:00:09Z"})).unwrap(), 5);
        assert_eq!(refused(json!({"backupIds": [4]})), "backupIds: there is no backup 4");
        assert_eq!(refused(json!({"backupIds": [3, 7]})), "backupIds: backup 7 is FAILED");
        assert_eq!(
            refused(json!({"from": "1970-01-01T00:00:06Z"})),
            "from, to: expected a time in which a backup was completed, but there is none"
        );
        let inverted = json!({"from": "1970-01-01T00:00:06Z", "to": "1970-01-01T00:00:05Z"});
        assert_eq!(refused(inverted), "from: expected a moment before that of to");
    }
}
