//! `POST /v2/process-instances/{processInstanceKey}/migration`

use protocol::{Command, ElementMapping, MigrateInstance, MigrationPlan, Name};
use serde::Deserialize;

use super::Call;
use crate::rest::fields::parse_key;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

/// A `MigrateProcessInstanceMappingInstruction` of the contract.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Instruction {
    source_element_id: Name,
    target_element_id: Name,
}

impl From<Instruction> for ElementMapping {
    fn from(instruction: Instruction) -> Self {
        Self {
            source_element_id: instruction.source_element_id,
            target_element_id: instruction.target_element_id,
        }
    }
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = call.fields.text("targetProcessDefinitionKey").unwrap_or_default();
    let instructions: Vec<Instruction> =
        serde_json::from_str(call.fields.raw("mappingInstructions").unwrap_or("[]"))
            .map_err(|error| Failure::invalid(format!("mappingInstructions: {error}")))?;
    let command = MigrateInstance {
        process_instance_key: call.key()?,
        plan: MigrationPlan {
            target_definition_key: parse_key("targetProcessDefinitionKey", &key)?,
            mappings: instructions.into_iter().map(ElementMapping::from).collect(),
        },
        operation_reference: call.fields.operation_reference(),
    };
    call.submit_for_nothing("MIGRATE", Command::MigrateInstance(command)).await
}
