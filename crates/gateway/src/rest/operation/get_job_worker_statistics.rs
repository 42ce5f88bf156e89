//! `POST /v2/jobs/statistics/by-workers`

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::{self, JobGroups, JobsAsked};
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    statistics::of_jobs(call, JobsAsked::of_body(call)?, JobGroups::Workers).await
}
