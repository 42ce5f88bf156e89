//! `GET /v2/batch-operations/{batchOperationKey}`

use protocol::{Query, QueryReply};

use super::{Call, batch_operation, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::BatchOperation { key: batch_operation::key(call)? }).await?;
    let QueryReply::BatchOperation(operation) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(384);
    batch_operation::write(&operation, &mut out);
    Ok(Reply::json(out))
}
