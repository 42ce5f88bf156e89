//! `POST /v2/resources/{resourceKey}/deletion`

use protocol::{Command, DeleteResource, Response};

use super::{Call, batch_operation, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let resource_key = call.key()?;
    let delete_history = call.fields.flag("deleteHistory");
    if delete_history {
        // History to delete is kept there, and searched there.
        call.storage()?;
    }
    let operation_reference = call.fields.operation_reference();
    let command = DeleteResource { resource_key, operation_reference, delete_history };
    let answer = call.submit("DELETE", Command::DeleteResource(command)).await?;
    let mut out = Vec::with_capacity(160);
    let object = object(&mut out).with("resourceKey", Digits(resource_key));
    match &answer.response {
        Response::Done => object.with("batchOperation", ()).end(),
        Response::BatchOperationCreated(created) => {
            call.gateway.batch_searches.wake();
            object.object("batchOperation", |object| batch_operation::created(created, object)).end();
        }
        other => return Err(unexpected(other)),
    }
    Ok(Reply::json(out).timed(answer.timing))
}
