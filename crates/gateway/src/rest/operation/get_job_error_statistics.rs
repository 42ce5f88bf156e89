//! `POST /v2/jobs/statistics/errors`

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::query::statistics;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    statistics::of_job_errors(call).await
}
