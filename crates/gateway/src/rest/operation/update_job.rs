//! `PATCH /v2/jobs/{jobKey}`: changes retries, timeout, or both.

use protocol::{Command, UpdateJob};
use serde::Deserialize;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

#[derive(Deserialize)]
struct Changeset {
    retries: Option<i32>,
    timeout: Option<i64>,
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let changeset: Changeset = serde_json::from_str(call.fields.raw("changeset").unwrap_or("{}"))
        .map_err(|error| Failure::invalid(format!("changeset: {error}")))?;
    if changeset.retries.is_none() && changeset.timeout.is_none() {
        return Err(Failure::invalid("changeset: at least one of retries, timeout is required"));
    }
    let command = UpdateJob {
        job_key: call.key()?,
        retries: changeset.retries,
        timeout_ms: changeset.timeout,
        operation_reference: call.fields.operation_reference(),
    };
    call.submit_for_nothing("UPDATE", Command::UpdateJob(command)).await
}
