//! `GET /v2/status`: whether there is a partition with a healthy leader.

use http::StatusCode;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

#[expect(clippy::unused_async, reason = "all handlers have one shape")]
pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let topology = call.gateway.broker.topology();
    let mut partitions = topology.brokers.iter().flat_map(|broker| &broker.partitions);
    let is_up = partitions.any(|partition| partition.leader && partition.healthy);
    // The contract gives neither answer a body.
    Ok(Reply::empty(if is_up { StatusCode::NO_CONTENT } else { StatusCode::SERVICE_UNAVAILABLE }))
}
