//! Common parts of the operations on batch operations.

use protocol::{
    BatchAction, BatchOperationChange, BatchOperationCreated, BatchOperationView, Command,
    CreateBatchOperation, Key, Name, Response,
};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::query;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, Object, object};

/// Creates one with the filter of the body. Secondary storage finds its items.
pub(super) async fn create(call: &Call<'_>, action: BatchAction) -> Result<Reply, Failure> {
    let Some(raw) = call.fields.raw("filter") else {
        return Err(Failure::invalid("filter: is required, but missing"));
    };
    call.storage()?;
    query::selected(action.kind(), raw)?;
    let operation_reference = call.fields.operation_reference();
    let create = CreateBatchOperation { action, operation_reference, search: Some(Name::from(raw)) };
    let reply = submit(call, Command::CreateBatchOperation(create)).await?;
    call.gateway.batch_searches.wake();
    Ok(reply)
}

/// Submits a command that creates one.
pub(super) async fn submit(call: &Call<'_>, command: Command) -> Result<Reply, Failure> {
    let answer = call.submit("CREATE", command).await?;
    let Response::BatchOperationCreated(created) = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(96);
    self::created(created, object(&mut out)).end();
    Ok(Reply::json(out).timed(answer.timing))
}

/// One that was created.
pub(super) fn created<'a>(created: &BatchOperationCreated, object: Object<'a>) -> Object<'a> {
    object
        .with("batchOperationKey", Digits(created.batch_operation_key))
        .with("batchOperationType", created.kind.as_str())
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

pub(super) fn actor_type(operation: &BatchOperationView) -> Option<&'static str> {
    operation.actor.as_ref().map(|actor| actor.actor_type.as_str())
}

pub(super) fn write(operation: &BatchOperationView, out: &mut Vec<u8>) {
    let count = |count| i32::try_from(count).unwrap_or(i32::MAX);
    object(out)
        .with("batchOperationKey", Digits(operation.key))
        .with("state", operation.state.as_str())
        .with("batchOperationType", operation.kind.as_str())
        .with("startDate", operation.started_ms.map(Moment))
        .with("endDate", operation.ended_ms.map(Moment))
        .with("actorType", actor_type(operation))
        .with("actorId", operation.actor.as_ref().and_then(|actor| actor.id.as_ref()))
        .with("operationsTotalCount", count(operation.total))
        .with("operationsFailedCount", count(operation.failed))
        .with("operationsCompletedCount", count(operation.completed))
        .list("errors", &operation.error, |(partition_id, message), out| {
            object(out)
                .with("partitionId", partition_id)
                .with("type", "QUERY_FAILED")
                .with("message", message)
                .end();
        })
        .end();
}
