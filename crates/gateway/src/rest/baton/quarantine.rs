//! `/baton/v1/banned-instances`: process instances that the engine failed on, for those who may look after the system.

use http::StatusCode;

use super::super::call::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Moment, object};

/// Default number of instances in a page.
const LIMIT_DEFAULT: u64 = 100;

pub(super) async fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    let after = call.query_number("after")?.unwrap_or(0);
    let limit = call.query_number("limit")?.unwrap_or(LIMIT_DEFAULT);
    let found = call.operations()?.banned_instances(after, limit as usize).await?;
    let mut out = Vec::with_capacity(256);
    object(&mut out)
        .list("items", &found, |banned, out| {
            object(out)
                .with("processInstanceKey", &banned.process_instance_key)
                .with("rootProcessInstanceKey", &banned.root_process_instance_key)
                .with("processDefinitionId", &banned.process_definition_id)
                .with("processDefinitionKey", &banned.process_definition_key)
                .with("processDefinitionVersion", banned.process_definition_version)
                .with("tenantId", &banned.tenant_id)
                .with("reason", &banned.reason)
                .with("bannedAt", Moment(banned.banned_at_ms))
                .end();
        })
        .end();
    Ok(Reply::json(out))
}

/// It goes on where it stood.
pub(super) async fn release(call: &Call<'_>) -> Result<Reply, Failure> {
    call.operations()?.release_instance(call.key()?).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

/// It ends, with the call hierarchy that it belongs to.
pub(super) async fn cancel(call: &Call<'_>) -> Result<Reply, Failure> {
    call.operations()?.cancel_instance(call.key()?).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
