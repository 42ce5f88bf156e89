//! Process instances that the engine failed on: listed, released, cancelled.

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use http::StatusCode;
use protocol::Key;
use serde_json::json;

use super::operate::running;
use super::operations::Slot;
use super::problem::{Problem, json_answer};

/// Instances of one page when nobody says.
const LIMIT_DEFAULT: usize = 100;
/// Instances of one page.
const LIMIT_MAX: usize = 500;

/// `GET /actuator/bannedInstances[?after=KEY&limit=N]`.
pub(super) async fn list(State(slot): State<Slot>, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let (mut after, mut limit) = (0, LIMIT_DEFAULT);
    for pair in query.as_deref().unwrap_or("").split('&').filter(|pair| !pair.is_empty()) {
        let read = match pair.split_once('=') {
            Some(("after", value)) => value.parse().map(|value| after = value).is_ok(),
            Some(("limit", value)) => value.parse().is_ok_and(|value| {
                limit = value;
                (1..=LIMIT_MAX).contains(&value)
            }),
            _ => false,
        };
        if !read {
            let detail = format!(
                "Expected 'after' to be a key and 'limit' 1 to {LIMIT_MAX}, but the query was '{pair}'"
            );
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
        }
    }
    let items = running(&slot)?.banned_instances(after, limit).await?;
    Ok(json_answer(StatusCode::OK, &json!({ "items": items })))
}

/// `POST /actuator/bannedInstances/{key}/release`.
pub(super) async fn release(State(slot): State<Slot>, Path(key): Path<String>) -> Result<Response, Problem> {
    let key = key_of(&key)?;
    running(&slot)?.release_instance(key).await?;
    Ok(json_answer(StatusCode::OK, &json!({ "processInstanceKey": key.to_string() })))
}

/// `POST /actuator/bannedInstances/{key}/cancellation`.
pub(super) async fn cancel(State(slot): State<Slot>, Path(key): Path<String>) -> Result<Response, Problem> {
    let key = key_of(&key)?;
    running(&slot)?.cancel_instance(key).await?;
    Ok(json_answer(StatusCode::OK, &json!({ "processInstanceKey": key.to_string() })))
}

fn key_of(text: &str) -> Result<Key, Problem> {
    let wrong = || Problem::new(StatusCode::BAD_REQUEST, format!("Expected a key, but found '{text}'"));
    text.parse().map_err(|_| wrong())
}
