//! `POST /v2/batch-operations/{batchOperationKey}/cancellation`

use protocol::BatchOperationChange;

use super::{Call, batch_operation};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    batch_operation::change(call, "CANCEL", BatchOperationChange::Cancel).await
}
