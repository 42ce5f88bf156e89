//! `POST /v2/jobs/{jobKey}/error`

use protocol::{Command, ThrowError};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = ThrowError {
        job_key: call.key()?,
        error_code: call.fields.name_or_empty("errorCode"),
        error_message: call.fields.name_or_empty("errorMessage"),
        variables: call.document("variables")?,
        lease: call.lease(),
    };
    call.submit_for_nothing("THROW_ERROR", Command::ThrowError(command)).await
}
