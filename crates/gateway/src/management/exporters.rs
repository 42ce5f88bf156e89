//! Exporters: listed, switched on and off, removed, and what their targets refused.

use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use super::operate::{optional, running, serialized};
use super::operations::Slot;
use super::problem::{Problem, json_answer};

/// `GET /actuator/exporters`.
pub(super) async fn list(State(slot): State<Slot>) -> Result<Response, Problem> {
    serialized(running(&slot)?.exporters())
}

/// `POST /actuator/exporters/{id}/enable`, with `{"initializeFrom": ID}` or nothing.
pub(super) async fn enable(
    State(slot): State<Slot>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Problem> {
    let initialize_from = initialize_from(&body)?;
    switch(&slot, id, true, initialize_from).await
}

/// `POST /actuator/exporters/{id}/disable`.
pub(super) async fn disable(State(slot): State<Slot>, Path(id): Path<String>) -> Result<Response, Problem> {
    switch(&slot, id, false, None).await
}

/// `DELETE /actuator/exporters/{id}`, for one that is not configured any more.
pub(super) async fn remove(State(slot): State<Slot>, Path(id): Path<String>) -> Result<Response, Problem> {
    running(&slot)?.remove_exporter(id.clone()).await?;
    Ok(json_answer(StatusCode::ACCEPTED, &json!({ "exporterId": id, "status": "DELETED" })))
}

async fn switch(
    slot: &Slot,
    id: String,
    enabled: bool,
    initialize_from: Option<String>,
) -> Result<Response, Problem> {
    running(slot)?.switch_exporter(id.clone(), enabled, initialize_from).await?;
    let status = if enabled { "ENABLED" } else { "DISABLED" };
    Ok(json_answer(StatusCode::ACCEPTED, &json!({ "exporterId": id, "status": status })))
}

fn initialize_from(body: &[u8]) -> Result<Option<String>, Problem> {
    let wrong = || {
        let detail = "Expected no body, or {\"initializeFrom\": ID} with the ID of another exporter";
        Problem::new(StatusCode::BAD_REQUEST, detail)
    };
    let Some(body) = optional(body).map_err(|_| wrong())? else { return Ok(None) };
    let members = body.as_object().ok_or_else(wrong)?;
    match (members.get("initializeFrom"), members.len()) {
        (None, 0) | (Some(Value::Null), 1) => Ok(None),
        (Some(Value::String(id)), 1) => Ok(Some(id.clone())),
        _ => Err(wrong()),
    }
}

/// `GET /actuator/exporters/{id}/parked`.
pub(super) async fn parked(State(slot): State<Slot>, Path(id): Path<String>) -> Result<Response, Problem> {
    let items = running(&slot)?.parked_records(id).await?;
    Ok(json_answer(StatusCode::OK, &json!({ "items": items })))
}

/// `POST /actuator/exporters/{id}/parked/replay`.
pub(super) async fn replay(State(slot): State<Slot>, Path(id): Path<String>) -> Result<Response, Problem> {
    serialized(running(&slot)?.replay_parked(id).await?)
}
