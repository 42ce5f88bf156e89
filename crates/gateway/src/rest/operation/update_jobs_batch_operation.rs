//! `POST /v2/jobs/batch-update`: changes retries, timeout or priority of jobs.

use protocol::BatchAction;

use super::{Call, batch_operation, update_job};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    batch_operation::create(call, BatchAction::UpdateJobs(update_job::changeset(call)?)).await
}
