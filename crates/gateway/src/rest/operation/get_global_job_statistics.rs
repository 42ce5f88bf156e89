//! `GET /v2/jobs/statistics/global`

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::{self, JobsAsked};
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    statistics::of_all_jobs(call, JobsAsked::of_query(call)?).await
}
