//! `GET /v2/cluster-variables/global/{name}`

use super::{Call, cluster_variable};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    cluster_variable::get(call, false).await
}
