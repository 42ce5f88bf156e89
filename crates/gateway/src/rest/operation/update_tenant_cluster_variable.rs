//! `PUT /v2/cluster-variables/tenants/{tenantId}/{name}`

use super::{Call, cluster_variable};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    cluster_variable::update(call, true).await
}
