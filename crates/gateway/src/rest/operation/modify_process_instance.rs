//! `POST /v2/process-instances/{processInstanceKey}/modification`

use bytes::Bytes;
use protocol::{
    ActivationInstruction, AncestorScope, Command, Document, ElementSource, Key, ModifyInstance, MoveElement,
    Name, ScopeVariables,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Call;
use crate::rest::fields::parse_key;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = command(call)?;
    call.submit_for_nothing("MODIFY", Command::ModifyInstance(command)).await
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Activate<'a> {
    element_id: Name,
    ancestor_element_instance_key: Option<Name>,
    #[serde(borrow, default)]
    variable_instructions: Vec<Variables<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Move<'a> {
    source_element_instruction: Source,
    target_element_id: Name,
    ancestor_scope_instruction: Option<Ancestor>,
    #[serde(borrow, default)]
    variable_instructions: Vec<Variables<'a>>,
}

#[derive(Deserialize)]
#[serde(tag = "sourceType", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Source {
    ById { source_element_id: Name },
    ByKey { source_element_instance_key: Name },
}

#[derive(Deserialize)]
#[serde(tag = "ancestorScopeType", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Ancestor {
    Direct { ancestor_element_instance_key: Name },
    Inferred {},
    SourceParent {},
}

/// The contract says that exactly one of them is there.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Terminate {
    element_id: Option<Name>,
    element_instance_key: Option<Name>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Variables<'a> {
    #[serde(borrow)]
    variables: &'a RawValue,
    #[serde(default)]
    scope_id: Name,
}

fn command(call: &Call<'_>) -> Result<ModifyInstance, Failure> {
    let fields = &call.fields;
    let mut modify = ModifyInstance::of(call.key()?);
    for activate in fields.list::<Activate<'_>>("activateInstructions")? {
        modify.activate.push(ActivationInstruction {
            element_id: activate.element_id,
            ancestor_key: ancestor(activate.ancestor_element_instance_key.as_ref())?,
            variables: variables(&activate.variable_instructions)?,
        });
    }
    for step in fields.list::<Move<'_>>("moveInstructions")? {
        modify.moves.push(MoveElement {
            source: match step.source_element_instruction {
                Source::ById { source_element_id } => ElementSource::Id(source_element_id),
                Source::ByKey { source_element_instance_key } => {
                    ElementSource::Key(parse_key("sourceElementInstanceKey", &source_element_instance_key)?)
                }
            },
            target_id: step.target_element_id,
            ancestor: match step.ancestor_scope_instruction {
                None => AncestorScope::Only,
                Some(Ancestor::Direct { ancestor_element_instance_key }) => {
                    ancestor(Some(&ancestor_element_instance_key))?
                        .map_or(AncestorScope::Only, AncestorScope::Direct)
                }
                Some(Ancestor::Inferred {}) => AncestorScope::Inferred,
                Some(Ancestor::SourceParent {}) => AncestorScope::SourceParent,
            },
            variables: variables(&step.variable_instructions)?,
        });
    }
    for terminate in fields.list::<Terminate>("terminateInstructions")? {
        modify.terminate.push(match terminate.element_instance_key {
            Some(key) => ElementSource::Key(parse_key("elementInstanceKey", &key)?),
            None => ElementSource::Id(terminate.element_id.unwrap_or_default()),
        });
    }
    modify.operation_reference = fields.operation_reference();
    Ok(modify)
}

/// -1 leaves the choice to the engine.
fn ancestor(key: Option<&Name>) -> Result<Option<Key>, Failure> {
    match key {
        None => Ok(None),
        Some(key) if **key == *"-1" => Ok(None),
        Some(key) => parse_key("ancestorElementInstanceKey", key).map(Some),
    }
}

fn variables(instructions: &[Variables<'_>]) -> Result<Vec<ScopeVariables>, Failure> {
    let read = |instruction: &Variables<'_>| {
        let text = Bytes::copy_from_slice(instruction.variables.get().as_bytes());
        let variables = Document::parse(text)
            .map_err(|error| Failure::invalid(format!("variableInstructions.variables: {error}")))?;
        Ok(ScopeVariables { scope_id: instruction.scope_id.clone(), variables })
    };
    instructions.iter().map(read).collect()
}
