//! `GET /v2/system/configuration`: what clients may want to know of limits. Metrics of jobs are not gathered for the API
//! (they are on the management port), so their limits are nought.

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use super::Call;

const CONFIGURATION: &[u8] = br#"{"jobMetrics":{"enabled":false,"exportInterval":"PT0S","maxWorkerNameLength":0,"maxJobTypeLength":0,"maxTenantIdLength":0,"maxUniqueKeys":0}}"#;

#[expect(clippy::unused_async, reason = "all handlers have one shape")]
pub(super) async fn handle(_: &Call<'_>) -> Result<Reply, Failure> {
    Ok(Reply::json(CONFIGURATION.to_vec()))
}
