//! What the operations on batch operations have in common.

use protocol::{
    BatchAction, BatchOperationChange, BatchOperationCreated, BatchOperationView, Command,
    CreateBatchOperation, InstanceFilter, Key, Name, Response,
};

use super::{Call, unexpected};
use crate::rest::instance_filter;
use crate::rest::problem::Failure;
use crate::rest::query;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_key, write_optional_text, write_text, write_time};

/// Creates one with the filter of the body. Its items are found by secondary storage, which knows what every property means;
/// without that, by the engine, among what lives.
pub(super) async fn create(call: &Call<'_>, action: BatchAction) -> Result<Reply, Failure> {
    let Some(raw) = call.fields.raw("filter") else {
        return Err(Failure::invalid("filter: is required, but missing"));
    };
    let (filter, search) = if call.storage().is_ok() {
        query::selected(query::selection_of(action.kind()), raw)?;
        (InstanceFilter::default(), Some(Name::from(raw)))
    } else {
        (instance_filter::parse(raw)?, None)
    };
    let operation_reference = call.fields.operation_reference();
    let create = CreateBatchOperation { action, filter, operation_reference, search };
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
    write_created(created, &mut out);
    Ok(Reply::json(out).timed(answer.timing))
}

/// One that was created.
pub(super) fn write_created(created: &BatchOperationCreated, out: &mut Vec<u8>) {
    out.push(b'{');
    member("batchOperationKey", out);
    write_key(created.batch_operation_key, out);
    member("batchOperationType", out);
    write_text(created.kind.as_str(), out);
    out.push(b'}');
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

/// What created it.
pub(super) fn actor_type(operation: &BatchOperationView) -> Option<&'static str> {
    operation.actor.as_ref().map(|actor| actor.actor_type.as_str())
}

/// A batch operation.
pub(super) fn write(operation: &BatchOperationView, out: &mut Vec<u8>) {
    out.push(b'{');
    member("batchOperationKey", out);
    write_key(operation.key, out);
    member("state", out);
    write_text(operation.state.as_str(), out);
    member("batchOperationType", out);
    write_text(operation.kind.as_str(), out);
    member("startDate", out);
    write_optional_time(operation.started_ms, out);
    member("endDate", out);
    write_optional_time(operation.ended_ms, out);
    member("actorType", out);
    write_optional_text(actor_type(operation).map(Name::from).as_ref(), out);
    member("actorId", out);
    write_optional_text(operation.actor.as_ref().and_then(|actor| actor.id.as_ref()), out);
    for (name, count) in [
        ("operationsTotalCount", operation.total),
        ("operationsFailedCount", operation.failed),
        ("operationsCompletedCount", operation.completed),
    ] {
        member(name, out);
        write_integer(i32::try_from(count).unwrap_or(i32::MAX), out);
    }
    member("errors", out);
    out.push(b'[');
    if let Some((partition_id, message)) = &operation.error {
        out.push(b'{');
        member("partitionId", out);
        write_integer(*partition_id, out);
        member("type", out);
        write_text("QUERY_FAILED", out);
        member("message", out);
        write_text(message, out);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

/// A moment, or null.
pub(super) fn write_optional_time(unix_ms: Option<i64>, out: &mut Vec<u8>) {
    match unix_ms {
        Some(unix_ms) => write_time(unix_ms, out),
        None => out.extend_from_slice(b"null"),
    }
}
