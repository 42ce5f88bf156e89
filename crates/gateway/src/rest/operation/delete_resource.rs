//! `POST /v2/resources/{resourceKey}/deletion`

use protocol::{Command, DeleteResource, Response};

use super::{Call, batch_operation, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_key};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let resource_key = call.key()?;
    let delete_history = call.fields.flag("deleteHistory");
    if delete_history {
        // What is to be deleted is kept there, and looked for there.
        call.storage()?;
    }
    let operation_reference = call.fields.operation_reference();
    let command = DeleteResource { resource_key, operation_reference, delete_history };
    let answer = call.submit("DELETE", Command::DeleteResource(command)).await?;
    let mut out = Vec::with_capacity(160);
    out.push(b'{');
    member("resourceKey", &mut out);
    write_key(resource_key, &mut out);
    member("batchOperation", &mut out);
    match &answer.response {
        Response::Done => out.extend_from_slice(b"null"),
        Response::BatchOperationCreated(created) => {
            batch_operation::write_created(created, &mut out);
            call.gateway.batch_searches.wake();
        }
        other => return Err(unexpected(other)),
    }
    out.push(b'}');
    Ok(Reply::json(out).timed(answer.timing))
}
