//! `/actuator/backupRuntime` and `/actuator/backupHistory`: backups of the state, and of the embedded history.

use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use super::operate::{optional, running, serialized};
use super::operations::{OperationError, Slot};
use super::problem::{Problem, json_answer};

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
    let Some(body) = optional(body).map_err(|_| wrong())? else { return Ok(None) };
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
