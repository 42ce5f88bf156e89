//! `POST /v2/process-definitions/statistics/process-instances`: of each process, how many instances run.

use std::collections::BTreeMap;

use protocol::{Name, Query, QueryReply, RunningDefinitionView};

use super::{Call, unexpected};
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;
use crate::rest::writer::object;

/// All versions of a process that have running instances.
struct Process {
    latest: RunningDefinitionView,
    has_multiple_versions: bool,
    running: u64,
    with_incidents: u64,
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let search = Search::read(&call.fields)?;
    let reply = call.read(Query::RunningDefinitions { process_id: None, limit: ENTITIES_MAX }).await?;
    let QueryReply::RunningDefinitions { definitions, has_more } = reply else {
        return Err(unexpected(&reply));
    };
    Ok(Reply::json(search.answer(by_process(definitions), has_more, property, write)))
}

fn by_process(definitions: Vec<RunningDefinitionView>) -> Vec<Process> {
    let mut processes: BTreeMap<(Name, Name), Process> = BTreeMap::new();
    for definition in definitions {
        let (running, with_incidents) = (definition.running, definition.with_incidents);
        let place = (definition.process_id.clone(), definition.tenant_id.clone());
        if let Some(process) = processes.get_mut(&place) {
            process.has_multiple_versions = true;
            process.running += running;
            process.with_incidents += with_incidents;
            if process.latest.version < definition.version {
                process.latest = definition;
            }
        } else {
            let process =
                Process { latest: definition, has_multiple_versions: false, running, with_incidents };
            processes.insert(place, process);
        }
    }
    processes.into_values().collect()
}

fn property(process: &Process, name: &str) -> Option<String> {
    match name {
        "processDefinitionId" => Some(process.latest.process_id.to_string()),
        "activeInstancesWithIncidentCount" => Some(process.with_incidents.to_string()),
        "activeInstancesWithoutIncidentCount" => {
            Some(process.running.saturating_sub(process.with_incidents).to_string())
        }
        _ => None,
    }
}

fn write(process: &Process, out: &mut Vec<u8>) {
    object(out)
        .with("processDefinitionId", &process.latest.process_id)
        .with("tenantId", &process.latest.tenant_id)
        .with("latestProcessDefinitionName", &process.latest.name)
        .with("hasMultipleVersions", process.has_multiple_versions)
        .with("activeInstancesWithoutIncidentCount", process.running.saturating_sub(process.with_incidents))
        .with("activeInstancesWithIncidentCount", process.with_incidents)
        .end();
}
