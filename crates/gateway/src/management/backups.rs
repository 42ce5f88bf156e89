//! `/actuator/backupRuntime` and `/actuator/backupHistory`: backups of the state, and of the embedded history.

#![expect(missing_docs, reason = "names say what is held")]

use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use super::operate::{running, serialized};
use super::operations::{OperationError, Slot};
use super::problem::{Problem, json_answer};

/// A backup of the state of the partition.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupStatus {
    #[serde(rename = "backupId")]
    pub id: u64,
    /// `IN_PROGRESS`, `COMPLETED` or `FAILED`.
    pub state: &'static str,
    pub failure_reason: Option<String>,
    /// Unix milliseconds.
    pub created_at_ms: i64,
    /// Unix milliseconds.
    pub last_updated_at_ms: i64,
    pub broker_id: u32,
    pub broker_version: String,
    /// Everything up to this position is in it.
    pub checkpoint_position: u64,
    /// Log index that the copy is as of.
    pub snapshot_id: Option<u64>,
}

/// A backup of the embedded history.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryBackupStatus {
    #[serde(rename = "backupId")]
    pub id: u64,
    /// `IN_PROGRESS`, `COMPLETED` or `FAILED`.
    pub state: &'static str,
    pub failure_reason: Option<String>,
    /// Unix milliseconds.
    pub started_at_ms: Option<i64>,
    /// Name of the file in the directory of the backup.
    pub snapshot_name: String,
}

/// A restore that a broker was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreStatus {
    pub change_id: String,
    /// `IN_PROGRESS`, `COMPLETED` or `FAILED`.
    pub state: &'static str,
    /// Unix milliseconds.
    pub started_at_ms: i64,
    /// Unix milliseconds.
    pub completed_at_ms: Option<i64>,
    pub backup_id: u64,
    pub broker_id: u32,
}

/// The number of a backup in a path.
fn number(id: &str) -> Result<u64, Problem> {
    id.parse().ok().filter(|id| *id > 0).ok_or_else(|| {
        Problem::new(StatusCode::BAD_REQUEST, format!("Expected the number of a backup, but found '{id}'"))
    })
}

/// The number of a backup in a body; `None` if there is none.
fn wanted(body: &[u8]) -> Result<Option<u64>, Problem> {
    let wrong = || {
        Problem::new(StatusCode::BAD_REQUEST, "Expected no body, or {\"backupId\": N} with a number above 0")
    };
    if body.is_empty() {
        return Ok(None);
    }
    let body: Value = serde_json::from_slice(body).map_err(|_| wrong())?;
    match body.get("backupId") {
        None | Some(Value::Null) if body.is_object() => Ok(None),
        Some(id) => Ok(Some(id.as_u64().filter(|id| *id > 0).ok_or_else(wrong)?)),
        None => Err(wrong()),
    }
}

/// `POST /actuator/backupRuntime`
pub(super) async fn take(State(slot): State<Slot>, body: Bytes) -> Result<Response, Problem> {
    let id = running(&slot)?.take_backup(wanted(&body)?).await?;
    let message = format!(
        "A backup with id {id} has been scheduled. Use GET actuator/backupRuntime/{id} to monitor it."
    );
    Ok(json_answer(StatusCode::ACCEPTED, &json!({ "message": message, "backupId": id })))
}

/// `GET /actuator/backupRuntime`
pub(super) async fn list(State(slot): State<Slot>) -> Result<Response, Problem> {
    serialized(running(&slot)?.backups().await?)
}

/// `GET /actuator/backupRuntime/{id}`
pub(super) async fn get(State(slot): State<Slot>, Path(id): Path<String>) -> Result<Response, Problem> {
    serialized(running(&slot)?.backup(number(&id)?).await?)
}

/// `DELETE /actuator/backupRuntime/{id}`
pub(super) async fn delete(State(slot): State<Slot>, Path(id): Path<String>) -> Result<StatusCode, Problem> {
    running(&slot)?.delete_backup(number(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /actuator/backupHistory`
pub(super) async fn take_history(State(slot): State<Slot>, body: Bytes) -> Result<Response, Problem> {
    let id = wanted(&body)?.ok_or_else(|| OperationError::Invalid("Expected a 'backupId'".to_owned()))?;
    let scheduled = running(&slot)?.take_history_backup(id).await?;
    Ok(json_answer(StatusCode::OK, &json!({ "scheduledSnapshots": scheduled })))
}

/// `GET /actuator/backupHistory`
pub(super) async fn list_history(State(slot): State<Slot>) -> Result<Response, Problem> {
    serialized(running(&slot)?.history_backups().await?)
}

/// `GET /actuator/backupHistory/{id}`
pub(super) async fn get_history(
    State(slot): State<Slot>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    serialized(running(&slot)?.history_backup(number(&id)?).await?)
}

/// `DELETE /actuator/backupHistory/{id}`
pub(super) async fn delete_history(
    State(slot): State<Slot>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    running(&slot)?.delete_history_backup(number(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
