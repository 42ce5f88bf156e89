//! `POST /v2/incidents/statistics/process-instances-by-definition`: of each definition, how many instances have an
//! error.

use protocol::{FailingDefinitionView, Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::limits::INCIDENTS_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let search = Search::read(&call.fields)?;
    let wanted = search.wanted_integer("errorHashCode").and_then(|hash| i32::try_from(hash).ok());
    let error_hash = wanted.ok_or_else(|| Failure::invalid("filter.errorHashCode: is required"))?;
    let reply = call.read(Query::FailingDefinitions { error_hash, limit: INCIDENTS_MAX }).await?;
    let QueryReply::FailingDefinitions { definitions, has_more } = reply else {
        return Err(unexpected(&reply));
    };
    // They have passed the filter.
    Ok(Reply::json(search.page(definitions, has_more, property, write)))
}

fn property(definition: &FailingDefinitionView, name: &str) -> Option<String> {
    match name {
        "activeInstancesWithErrorCount" => Some(definition.instances.to_string()),
        "processDefinitionKey" => Some(definition.key.to_string()),
        "tenantId" => Some(definition.tenant_id.to_string()),
        _ => None,
    }
}

fn write(definition: &FailingDefinitionView, out: &mut Vec<u8>) {
    object(out)
        .with("processDefinitionId", &definition.process_id)
        .with("processDefinitionKey", Digits(definition.key))
        // The contract wants a text, so a process without a name goes by its ID.
        .with("processDefinitionName", definition.name.as_ref().unwrap_or(&definition.process_id))
        .with("processDefinitionVersion", definition.version)
        .with("tenantId", &definition.tenant_id)
        .with("activeInstancesWithErrorCount", definition.instances)
        .end();
}
