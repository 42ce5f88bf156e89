//! `POST /v2/process-definitions/statistics/process-instances-by-version`: of each version of a process, how many
//! instances run.

use protocol::{Name, Query, QueryReply, RunningDefinitionView};

use super::{Call, unexpected};
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let search = Search::read(&call.fields)?;
    let process_id = search.wanted("processDefinitionId").map(Name::from);
    let reply = call.read(Query::RunningDefinitions { process_id, limit: ENTITIES_MAX }).await?;
    let QueryReply::RunningDefinitions { definitions, has_more } = reply else {
        return Err(unexpected(&reply));
    };
    Ok(Reply::json(search.answer(definitions, has_more, property, write)))
}

const fn without_incidents(definition: &RunningDefinitionView) -> u64 {
    definition.running.saturating_sub(definition.with_incidents)
}

fn property(definition: &RunningDefinitionView, name: &str) -> Option<String> {
    match name {
        "processDefinitionId" => Some(definition.process_id.to_string()),
        "processDefinitionKey" => Some(definition.key.to_string()),
        "processDefinitionName" => definition.name.as_ref().map(ToString::to_string),
        "processDefinitionVersion" => Some(definition.version.to_string()),
        "tenantId" => Some(definition.tenant_id.to_string()),
        "activeInstancesWithIncidentCount" => Some(definition.with_incidents.to_string()),
        "activeInstancesWithoutIncidentCount" => Some(without_incidents(definition).to_string()),
        _ => None,
    }
}

fn write(definition: &RunningDefinitionView, out: &mut Vec<u8>) {
    object(out)
        .with("processDefinitionId", &definition.process_id)
        .with("processDefinitionKey", Digits(definition.key))
        .with("processDefinitionName", definition.name.as_ref())
        .with("tenantId", &definition.tenant_id)
        .with("processDefinitionVersion", definition.version)
        .with("activeInstancesWithIncidentCount", definition.with_incidents)
        .with("activeInstancesWithoutIncidentCount", without_incidents(definition))
        .end();
}
