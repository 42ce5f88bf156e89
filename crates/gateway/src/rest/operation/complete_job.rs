//! `POST /v2/jobs/{jobKey}/completion`

use protocol::{Command, CompleteJob};

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use super::Call;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    if call.fields.raw("result").is_some() {
        return Err(Failure::not_served("result: results of listener and ad-hoc jobs are not served by this release"));
    }
    let command = CompleteJob { job_key: call.key()?, variables: call.document("variables")? };
    call.submit_for_nothing("COMPLETE", Command::CompleteJob(command)).await
}
