//! `POST /v2/cluster-variables/tenants/{tenantId}`

use super::{Call, cluster_variable};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    cluster_variable::create(call, true).await
}
