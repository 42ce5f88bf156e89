//! What the operations on batch operations have in common.

use protocol::{
    BatchAction, BatchOperationChange, Command, CreateBatchOperation, InstanceFilter, Key, Response,
};

use super::{Call, unexpected};
use crate::rest::instance_filter;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_key, write_text};

/// Creates one with the filter of the body.
pub(super) async fn create(call: &Call<'_>, action: BatchAction) -> Result<Reply, Failure> {
    let filter: InstanceFilter = match call.fields.raw("filter") {
        Some(raw) => instance_filter::parse(raw)?,
        None => return Err(Failure::invalid("filter: is required, but missing")),
    };
    let create =
        CreateBatchOperation { action, filter, operation_reference: call.fields.operation_reference() };
    submit(call, Command::CreateBatchOperation(create)).await
}

/// Submits a command that creates one.
pub(super) async fn submit(call: &Call<'_>, command: Command) -> Result<Reply, Failure> {
    let answer = call.submit("CREATE", command).await?;
    let Response::BatchOperationCreated(created) = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(96);
    out.push(b'{');
    member("batchOperationKey", &mut out);
    write_key(created.batch_operation_key, &mut out);
    member("batchOperationType", &mut out);
    write_text(created.kind.as_str(), &mut out);
    out.push(b'}');
    Ok(Reply::json(out).timed(answer.timing))
}

/// Changes the one that the path names.
pub(super) async fn change(
    call: &Call<'_>,
    intent: &str,
    change: BatchOperationChange,
) -> Result<Reply, Failure> {
    let command = Command::ChangeBatchOperation { batch_operation_key: key(call)?, change };
    call.submit_for_nothing(intent, command).await
}

/// The key in the path. The contract takes any text; what is no key is the key of nothing.
pub(super) fn key(call: &Call<'_>) -> Result<Key, Failure> {
    let text = &call.parameters[0];
    text.parse::<Key>()
        .map_err(|_| Failure::not_found(format!("there is no batch operation with key '{text}'")))
}
