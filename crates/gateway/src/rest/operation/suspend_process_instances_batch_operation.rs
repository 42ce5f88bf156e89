//! `POST /v2/process-instances/suspension`: suspends process instances.

use protocol::BatchAction;

use super::{Call, batch_operation};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    batch_operation::create(call, BatchAction::Suspend).await
}
