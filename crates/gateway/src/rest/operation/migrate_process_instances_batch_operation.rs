//! `POST /v2/process-instances/migration`

use protocol::{BatchAction, ElementMapping, MigrationPlan, Name};
use serde::Deserialize;

use super::migrate_process_instance::Instruction;
use super::{Call, batch_operation};
use crate::rest::fields::parse_key;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plan {
    target_process_definition_key: Name,
    mapping_instructions: Vec<Instruction>,
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let plan: Plan = serde_json::from_str(call.fields.raw("migrationPlan").unwrap_or("{}"))
        .map_err(|error| Failure::invalid(format!("migrationPlan: {error}")))?;
    let name = "migrationPlan.targetProcessDefinitionKey";
    let plan = MigrationPlan {
        target_definition_key: parse_key(name, &plan.target_process_definition_key)?,
        mappings: plan.mapping_instructions.into_iter().map(ElementMapping::from).collect(),
    };
    batch_operation::create(call, BatchAction::Migrate(plan)).await
}
