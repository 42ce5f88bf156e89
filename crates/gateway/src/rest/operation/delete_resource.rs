//! `POST /v2/resources/{resourceKey}/deletion`

use protocol::{Command, DeleteResource};

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_key};
use super::Call;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let resource_key = call.key()?;
    let command = DeleteResource { resource_key, operation_reference: call.fields.operation_reference() };
    let answer = call.submit("DELETE", Command::DeleteResource(command)).await?;
    let mut out = Vec::with_capacity(80);
    out.push(b'{');
    member("resourceKey", &mut out);
    write_key(resource_key, &mut out);
    // There is no history yet that `deleteHistory` could delete in a batch.
    member("batchOperation", &mut out);
    out.extend_from_slice(b"null}");
    Ok(Reply::json(out).timed(answer.timing))
}
