//! The clock of the engine, for tests: what it shows, and where it is moved.

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use protocol::Clock;
use serde_json::{Value, json};

use super::operate::running;
use super::operations::{Operations, Slot};
use super::problem::{Problem, json_answer};

/// `GET /actuator/clock`.
pub(super) async fn read(State(slot): State<Slot>) -> Result<Response, Problem> {
    shown(&*running(&slot)?)
}

/// `POST /actuator/clock/pin {"epochMilli":N}`.
pub(super) async fn pin(State(slot): State<Slot>, body: Bytes) -> Result<Response, Problem> {
    let timestamp_ms = number("epochMilli", &body)?;
    if timestamp_ms < 0 || instant(timestamp_ms).is_none() {
        let detail = format!("Expected 'epochMilli' to be an instant from 1970 on, but it is {timestamp_ms}");
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    }
    change(&slot, Clock::Pin { timestamp_ms }).await
}

/// `POST /actuator/clock/add {"offsetMilli":N}`.
pub(super) async fn add(State(slot): State<Slot>, body: Bytes) -> Result<Response, Problem> {
    let offset_ms = number("offsetMilli", &body)?;
    let moved_ms = running(&slot)?.clock_ms().checked_add(offset_ms);
    if moved_ms.is_none_or(|moved_ms| moved_ms < 0 || instant(moved_ms).is_none()) {
        let detail =
            format!("Expected 'offsetMilli' to lead to an instant from 1970 on, but it is {offset_ms}");
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    }
    change(&slot, Clock::Add { offset_ms }).await
}

/// `DELETE /actuator/clock`.
pub(super) async fn reset(State(slot): State<Slot>) -> Result<Response, Problem> {
    change(&slot, Clock::Reset).await
}

async fn change(slot: &Slot, clock: Clock) -> Result<Response, Problem> {
    let operations = running(slot)?;
    operations.set_clock(clock).await?;
    shown(&*operations)
}

fn shown(operations: &dyn Operations) -> Result<Response, Problem> {
    let now_ms = operations.clock_ms();
    let instant = instant(now_ms).ok_or_else(|| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("The clock shows {now_ms}, which is no instant"),
        )
    })?;
    let body = json!({ "epochMilli": now_ms, "instant": instant.to_string() });
    Ok(json_answer(StatusCode::OK, &body))
}

fn instant(unix_ms: i64) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(unix_ms).ok()
}

/// The only member of the body.
fn number(name: &str, body: &[u8]) -> Result<i64, Problem> {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let members = value.as_object().filter(|members| members.len() == 1);
    members.and_then(|members| members.get(name)?.as_i64()).ok_or_else(|| {
        let detail = format!("Expected a JSON object with '{name}', which is a whole number of milliseconds");
        Problem::new(StatusCode::BAD_REQUEST, detail)
    })
}
