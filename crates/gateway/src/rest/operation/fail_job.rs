//! `POST /v2/jobs/{jobKey}/failure`

use protocol::{Command, FailJob};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = FailJob {
        job_key: call.key()?,
        retries: call.fields.int32("retries").unwrap_or_default(),
        retry_backoff_ms: call.fields.integer("retryBackOff").unwrap_or_default(),
        error_message: call.fields.name_or_empty("errorMessage"),
        variables: call.document("variables")?,
        lease: call.lease(),
    };
    call.submit_for_nothing("FAIL", Command::FailJob(command)).await
}
