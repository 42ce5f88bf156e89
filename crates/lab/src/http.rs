//! Requests by hand: the status counts as much as the answer.

use std::time::Duration;

use client::Address;
use serde_json::Value;

use crate::error::LabError;

/// Longer than any time limit of the server.
const PATIENCE: Duration = Duration::from_secs(180);

/// Statuses below 500 that a loaded system gives: too late, too soon, too many.
const OF_LOAD: [u16; 3] = [408, 409, 429];

/// An answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The answer, which must be a good one.
    pub(crate) fn good(self, action: &str) -> Result<Self, LabError> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        let reason = format!("{action}: status {}: {}", self.status, self.body);
        let is_fault_of_request = (400..500).contains(&self.status) && !OF_LOAD.contains(&self.status);
        Err(if is_fault_of_request { LabError::Refused(reason) } else { LabError::System(reason) })
    }
}

/// Asks at `host:port`, on a connection of its own; an error if nobody answers.
pub(crate) async fn ask(
    address: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Answered, LabError> {
    let failed = |error: &dyn std::fmt::Display| LabError::system(&format!("{method} {path}"), error);
    let address = Address::parse(address, 0).map_err(|error| failed(&error))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let answer = bench::ask(&address, method, path, &body, PATIENCE).await.map_err(|error| failed(&error))?;
    Ok(Answered { status: answer.status, body: answer.body })
}
