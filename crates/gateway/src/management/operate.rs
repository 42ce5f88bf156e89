//! Operations on a running broker.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use super::operations::{OperationError, Operations, Slot};
use super::problem::{Problem, json_answer};

pub(super) fn running(slot: &Slot) -> Result<Arc<dyn Operations>, Problem> {
    slot.get().ok_or_else(Problem::starting)
}

impl From<OperationError> for Problem {
    fn from(error: OperationError) -> Self {
        let status = match error {
            OperationError::Invalid(_) => StatusCode::BAD_REQUEST,
            OperationError::Forbidden(_) => StatusCode::FORBIDDEN,
            OperationError::NotFound(_) => StatusCode::NOT_FOUND,
            OperationError::Conflict(_) => StatusCode::CONFLICT,
            OperationError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            OperationError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

/// A body that need not be there; JSON `null` is none.
pub(super) fn optional(body: &[u8]) -> serde_json::Result<Option<Value>> {
    if body.is_empty() { Ok(None) } else { serde_json::from_slice(body) }
}

pub(super) fn serialized(value: impl serde::Serialize) -> Result<Response, Problem> {
    let value = serde_json::to_value(value)
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(json_answer(StatusCode::OK, &value))
}

/// `GET /actuator/flowControl`.
pub(super) async fn flow_control(State(slot): State<Slot>) -> Result<Response, Problem> {
    Ok(json_answer(StatusCode::OK, &running(&slot)?.flow_control()))
}

/// `POST /actuator/flowControl`.
pub(super) async fn set_flow_control(State(slot): State<Slot>, body: Bytes) -> Result<Response, Problem> {
    let operations = running(&slot)?;
    let change: Value = serde_json::from_slice(&body)
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, format!("Expected a JSON object: {error}")))?;
    if !change.is_object() {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "Expected a JSON object"));
    }
    Ok(json_answer(StatusCode::OK, &operations.set_flow_control(change)?))
}

/// `POST /actuator/exporting/pause[?soft=true]`.
pub(super) async fn pause(State(slot): State<Slot>, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let soft = match query.as_deref() {
        None | Some("" | "soft=false") => false,
        Some("soft=true") => true,
        Some(other) => {
            let detail = format!("Expected 'soft' to be true or false, but the query was '{other}'");
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
        }
    };
    Ok(outcome(running(&slot)?.pause_exporting(soft).await))
}

/// `POST /actuator/exporting/resume`.
pub(super) async fn resume(State(slot): State<Slot>) -> Result<Response, Problem> {
    Ok(outcome(running(&slot)?.resume_exporting().await))
}

/// Tools expect 200 here in any case, and the outcome in the body.
fn outcome(result: Result<(), OperationError>) -> Response {
    let body = match result {
        Ok(()) => json!({ "body": null, "status": 204, "contentType": null }),
        Err(error) => {
            json!({ "body": { "message": error.to_string() }, "status": 500, "contentType": null })
        }
    };
    json_answer(StatusCode::OK, &body)
}
