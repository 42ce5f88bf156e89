//! `PATCH /v2/jobs/{jobKey}`: changes retries, timeout or priority, at least one of them.

use protocol::{Command, JobChangeset, UpdateJob};
use serde::Deserialize;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

#[derive(Deserialize)]
struct Changeset {
    retries: Option<i32>,
    timeout: Option<i64>,
    priority: Option<i32>,
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let JobChangeset { retries, timeout_ms, priority } = changeset(call)?;
    let command = UpdateJob {
        job_key: call.key()?,
        retries,
        timeout_ms,
        operation_reference: call.fields.operation_reference(),
        priority,
        lease: call.lease(),
    };
    call.submit_for_nothing("UPDATE", Command::UpdateJob(command)).await
}

/// The changes that the body tells of.
pub(super) fn changeset(call: &Call<'_>) -> Result<JobChangeset, Failure> {
    let Changeset { retries, timeout, priority } =
        serde_json::from_str(call.fields.raw("changeset").unwrap_or("{}"))
            .map_err(|error| Failure::invalid(format!("changeset: {error}")))?;
    if retries.is_none() && timeout.is_none() && priority.is_none() {
        return Err(Failure::invalid("changeset: at least one of retries, timeout, priority is required"));
    }
    Ok(JobChangeset { retries, timeout_ms: timeout, priority })
}
