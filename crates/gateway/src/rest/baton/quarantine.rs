//! `/baton/v1/banned-instances`: process instances that the engine failed on, for those who may look after the system,
//! each within its tenants.

use http::StatusCode;

use super::super::call::Call;
use crate::management::BannedInstance;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::visible::ReadAuthorization;
use crate::rest::writer::{Moment, object};

/// Default number of instances in a page.
const LIMIT_DEFAULT: u64 = 100;

pub(super) async fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    let after = call.query_number("after")?.unwrap_or(0);
    let limit = call.query_number("limit")?.unwrap_or(LIMIT_DEFAULT);
    let found = visible(call, after, limit as usize).await?;
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

/// Banned instances of visible tenants behind a key, up to a limit.
async fn visible(call: &Call<'_>, mut after: u64, limit: usize) -> Result<Vec<BannedInstance>, Failure> {
    let operations = call.operations()?;
    let Some(sight) = ReadAuthorization::of(call).await? else {
        return Ok(operations.banned_instances(after, limit).await?);
    };
    let mut visible = Vec::new();
    while visible.len() < limit {
        let found = operations.banned_instances(after, limit).await?;
        let is_last = found.len() < limit;
        let last = found.last().and_then(|banned| banned.process_instance_key.parse().ok());
        visible.extend(found.into_iter().filter(|banned| sight.is_of_tenant(&banned.tenant_id)));
        match last {
            Some(last) if !is_last => after = last,
            _ => break,
        }
    }
    visible.truncate(limit);
    Ok(visible)
}

/// Refuses one of a tenant that whoever asks is not assigned to, as one that is not there.
async fn check_tenant(call: &Call<'_>, key: u64) -> Result<(), Failure> {
    let Some(sight) = ReadAuthorization::of(call).await? else { return Ok(()) };
    let found = call.operations()?.banned_instances(key.saturating_sub(1), 1).await?;
    let is_visible = |banned: &BannedInstance| {
        banned.process_instance_key == key.to_string() && sight.is_of_tenant(&banned.tenant_id)
    };
    if found.first().is_some_and(is_visible) {
        return Ok(());
    }
    Err(Failure::not_found(format!("process instance {key} is not banned")))
}

/// It goes on where it stood.
pub(super) async fn release(call: &Call<'_>) -> Result<Reply, Failure> {
    check_tenant(call, call.key()?).await?;
    call.operations()?.release_instance(call.key()?).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

/// It ends, with the call hierarchy that it belongs to.
pub(super) async fn cancel(call: &Call<'_>) -> Result<Reply, Failure> {
    check_tenant(call, call.key()?).await?;
    call.operations()?.cancel_instance(call.key()?).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
