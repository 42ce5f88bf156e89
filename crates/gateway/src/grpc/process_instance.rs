//! Process instances: create, create and wait, cancel, migrate.

use grpc as pb;
use protocol::{
    ActivationInstruction, Command, CreateInstance, DefinitionRef, ElementMapping, ElementSource,
    InstanceCreated, MigrateInstance, MigrationPlan, ModifyInstance, Name, Rejection, Response,
    ScopeVariables,
};
use tonic::Status;

use super::field;
use super::status::{of_rejection, unexpected_response, wrong_field};

/// The version number that asks for the latest version.
const LATEST_VERSION: i32 = -1;

pub(super) fn create(request: pb::CreateProcessInstanceRequest) -> Result<CreateInstance, Status> {
    field::length("startInstructions", request.start_instructions.len())?;
    field::length("runtimeInstructions", request.runtime_instructions.len())?;
    let start_before = request.start_instructions.into_iter().map(|start| start.element_id);
    let terminate_after = request.runtime_instructions.into_iter().map(|instruction| {
        use pb::process_instance_creation_runtime_instruction::Instruction;
        match instruction.instruction {
            Some(Instruction::Terminate(terminate)) => terminate.after_element_id,
            None => String::new(),
        }
    });
    let definition = definition(request.bpmn_process_id, request.process_definition_key, request.version)?;
    Ok(CreateInstance {
        start_before: field::names("startInstructions.elementId", start_before.collect())?,
        terminate_after: field::names(
            "runtimeInstructions.terminate.afterElementId",
            terminate_after.collect(),
        )?,
        tenant_id: field::tenant("tenantId", &request.tenant_id)?,
        variables: field::variables("variables", request.variables)?,
        tags: field::tags("tags", request.tags)?,
        operation_reference: request.operation_reference,
        ..CreateInstance::of(definition)
    })
}

/// The ID wins over the key; with neither, the key is 0 and nothing has that key.
fn definition(id: String, key: i64, version: i32) -> Result<DefinitionRef, Status> {
    if id.is_empty() {
        return match u64::try_from(key) {
            Ok(0) => Err(not_found(&format!("key '{key}'"))),
            Ok(key) => Ok(DefinitionRef::Key(key)),
            Err(_) => Err(wrong_field("processDefinitionKey", "a key greater than 0", key)),
        };
    }
    if version == LATEST_VERSION {
        return Ok(DefinitionRef::Id { id: field::name("bpmnProcessId", id)?, version: None });
    }
    match u32::try_from(version) {
        Ok(version) if version > 0 => {
            Ok(DefinitionRef::Id { id: field::name("bpmnProcessId", id)?, version: Some(version) })
        }
        _ => Err(not_found(&format!("process ID '{id}' and version '{version}'"))),
    }
}

fn not_found(what: &str) -> Status {
    let reason = format!("Expected to find process definition with {what}, but none found");
    of_rejection("CREATE", &Rejection::not_found(reason))
}

/// Reads a creation that waits: the command and the names of the variables to return.
pub(super) fn create_with_result(
    request: pb::CreateProcessInstanceWithResultRequest,
) -> Result<(CreateInstance, Vec<Name>), Status> {
    let fetch_variables = field::names("fetchVariables", request.fetch_variables)?;
    Ok((create(request.request.unwrap_or_default())?, fetch_variables))
}

pub(super) fn cancel(request: &pb::CancelProcessInstanceRequest) -> Result<Command, Status> {
    Ok(Command::CancelInstance {
        process_instance_key: field::key("processInstanceKey", request.process_instance_key)?,
        operation_reference: request.operation_reference,
    })
}

pub(super) fn migrate(request: pb::MigrateProcessInstanceRequest) -> Result<Command, Status> {
    let plan = request.migration_plan.unwrap_or_default();
    field::length("migrationPlan.mappingInstructions", plan.mapping_instructions.len())?;
    let mappings = plan
        .mapping_instructions
        .into_iter()
        .map(|instruction| {
            Ok(ElementMapping {
                source_element_id: field::name("sourceElementId", instruction.source_element_id)?,
                target_element_id: field::name("targetElementId", instruction.target_element_id)?,
            })
        })
        .collect::<Result<_, Status>>()?;
    Ok(Command::MigrateInstance(MigrateInstance {
        process_instance_key: field::key("processInstanceKey", request.process_instance_key)?,
        plan: MigrationPlan {
            target_definition_key: field::key(
                "targetProcessDefinitionKey",
                plan.target_process_definition_key,
            )?,
            mappings,
        },
        operation_reference: request.operation_reference,
    }))
}

pub(super) fn modify(request: pb::ModifyProcessInstanceRequest) -> Result<Command, Status> {
    let mut modify = ModifyInstance::of(field::key("processInstanceKey", request.process_instance_key)?);
    field::length("activateInstructions", request.activate_instructions.len())?;
    field::length("terminateInstructions", request.terminate_instructions.len())?;
    for activate in request.activate_instructions {
        field::length("variableInstructions", activate.variable_instructions.len())?;
        let mut variables = Vec::with_capacity(activate.variable_instructions.len());
        for set in activate.variable_instructions {
            variables.push(ScopeVariables {
                scope_id: field::optional_name("variableInstructions.scopeId", set.scope_id)?,
                variables: field::variables("variableInstructions.variables", set.variables)?,
            });
        }
        modify.activate.push(ActivationInstruction {
            element_id: field::name("activateInstructions.elementId", activate.element_id)?,
            ancestor_key: match activate.ancestor_element_instance_key {
                -1 | 0 => None,
                key => Some(field::key("activateInstructions.ancestorElementInstanceKey", key)?),
            },
            variables,
        });
    }
    for terminate in request.terminate_instructions {
        let key = field::key("terminateInstructions.elementInstanceKey", terminate.element_instance_key)?;
        modify.terminate.push(ElementSource::Key(key));
    }
    modify.operation_reference = request.operation_reference;
    Ok(Command::ModifyInstance(modify))
}

/// Writes the answer to a creation.
pub(super) fn created(response: Response) -> Result<pb::CreateProcessInstanceResponse, Status> {
    match response {
        Response::InstanceCreated(instance) | Response::InstanceCompleted { instance, .. } => {
            Ok(pb::CreateProcessInstanceResponse {
                process_definition_key: instance.process_definition_key as i64,
                version: instance.version as i32,
                process_instance_key: instance.process_instance_key as i64,
                tags: tag_texts(&instance),
                bpmn_process_id: instance.process_id.to_string(),
                tenant_id: instance.tenant_id.to_string(),
            })
        }
        _ => Err(unexpected_response("CREATE")),
    }
}

/// Writes the answer to a creation that waited.
pub(super) fn completed(response: Response) -> Result<pb::CreateProcessInstanceWithResultResponse, Status> {
    match response {
        Response::InstanceCompleted { instance, variables } => {
            Ok(pb::CreateProcessInstanceWithResultResponse {
                process_definition_key: instance.process_definition_key as i64,
                version: instance.version as i32,
                process_instance_key: instance.process_instance_key as i64,
                variables: variables.to_json(),
                tags: tag_texts(&instance),
                bpmn_process_id: instance.process_id.to_string(),
                tenant_id: instance.tenant_id.to_string(),
            })
        }
        _ => Err(unexpected_response("CREATE_WITH_AWAITING_RESULT")),
    }
}

fn tag_texts(instance: &InstanceCreated) -> Vec<String> {
    instance.tags.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    #[test]
    fn the_definition_is_found_as_clients_name_it() {
        let by_id = |version| definition("p".to_owned(), 7, version);
        let id = |version| DefinitionRef::Id { id: Name::from("p"), version };
        assert_eq!(by_id(-1).unwrap(), id(None));
        assert_eq!(by_id(3).unwrap(), id(Some(3)));
        assert_eq!(by_id(0).unwrap_err().code(), Code::NotFound);
        assert_eq!(definition(String::new(), 7, -1).unwrap(), DefinitionRef::Key(7));
        assert_eq!(definition(String::new(), -7, -1).unwrap_err().code(), Code::InvalidArgument);
        let neither = definition(String::new(), 0, 0).unwrap_err();
        assert_eq!(neither.code(), Code::NotFound);
        assert!(neither.message().contains("key '0'"), "{}", neither.message());
    }
}
