//! `PUT /v2/cluster-variables/global/{name}`

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use super::{Call, cluster_variable};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    cluster_variable::update(call, false).await
}
