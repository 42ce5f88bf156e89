//! Properties of filters that are not a column of their entity.

use protocol::Name;
use search::model::{
    ColumnId, Entity, EntityId, Kind, batch_operation_item as item, decision_definition as decision,
    element_instance as element, incident, job, process_definition as process, process_instance as instance,
    user_task as task, variable,
};
use search::{EntityRef, Filter, Latest, Related};
use search::{Operand, Test};
use serde_json::{Map, Value};

use super::super::problem::Failure;
use super::filter_reader::FilterReader;
use super::values;

/// Properties that [`read`] takes care of.
pub(super) fn is_special(entity: &Entity, name: &str) -> bool {
    match entity.id {
        EntityId::ProcessInstance => matches!(
            name,
            "variables"
                | "batchOperationId"
                | "batchOperationKey"
                | "errorMessage"
                | "hasRetriesLeft"
                | "elementInstanceState"
                | "elementId"
                | "hasElementInstanceIncident"
                | "incidentErrorHashCode"
        ),
        EntityId::UserTask => {
            matches!(name, "processInstanceVariables" | "localVariables" | "candidateGroup" | "candidateUser")
        }
        EntityId::ProcessDefinition | EntityId::DecisionDefinition => name == "isLatestVersion",
        EntityId::BatchOperation => name == "operationType",
        _ => false,
    }
}

pub(super) fn read(
    reader: &mut FilterReader,
    path: &str,
    object: &Map<String, Value>,
) -> Result<Vec<Filter>, Failure> {
    let mut all = Vec::new();
    match reader.entity.id {
        EntityId::ProcessInstance => process_instance(reader, path, object, &mut all)?,
        EntityId::UserTask => {
            let scopes =
                [("processInstanceVariables", task::INSTANCE_KEY), ("localVariables", task::ELEMENT_KEY)];
            for (name, column) in scopes {
                variables(reader, path, object, name, (column, variable::SCOPE_KEY), &mut all)?;
            }
            let lists =
                [("candidateGroup", task::CANDIDATE_GROUPS), ("candidateUser", task::CANDIDATE_USERS)];
            for (name, column) in lists {
                columns(reader, path, object, &[(name, column, Kind::Text)], &mut all)?;
            }
        }
        EntityId::ProcessDefinition => {
            let latest = Latest {
                group: vec![process::PROCESS_ID, process::TENANT],
                by: process::VERSION,
                among: Filter::Column(
                    process::STATE,
                    Test::NotIn(["DELETED", "DRAINING"].map(|state| Operand::Text(Name::from(state))).into()),
                ),
            };
            is_latest(reader, object, latest, &mut all)?;
        }
        EntityId::DecisionDefinition => {
            let latest = Latest {
                group: vec![decision::DECISION_ID, decision::TENANT],
                by: decision::VERSION,
                among: Filter::everything(),
            };
            is_latest(reader, object, latest, &mut all)?;
        }
        EntityId::BatchOperation => {
            use search::model::batch_operation::TYPE;
            columns(reader, path, object, &[("operationType", TYPE, Kind::Text)], &mut all)?;
        }
        _ => {}
    }
    Ok(all)
}

fn is_latest(
    reader: &mut FilterReader,
    object: &Map<String, Value>,
    latest: Latest,
    all: &mut Vec<Filter>,
) -> Result<(), Failure> {
    if object.get("isLatestVersion") == Some(&Value::Bool(true)) {
        reader.count(1)?;
        all.push(Filter::Latest(Box::new(latest)));
    }
    Ok(())
}

/// Properties that have another name than their column.
fn columns(
    reader: &mut FilterReader,
    path: &str,
    object: &Map<String, Value>,
    names: &[(&str, ColumnId, Kind)],
    all: &mut Vec<Filter>,
) -> Result<(), Failure> {
    for (name, column, kind) in names {
        if let Some(value) = object.get(*name).filter(|value| !value.is_null()) {
            let tests = reader.tests(&format!("{path}.{name}"), value, *kind)?;
            all.extend(tests.into_iter().map(|test| Filter::Column(*column, test)));
        }
    }
    Ok(())
}

fn related(
    column: ColumnId,
    entity: &'static Entity,
    other: ColumnId,
    filter: Vec<Filter>,
    exists: bool,
) -> Filter {
    let filter = Filter::All(filter);
    Filter::Related(Box::new(Related { column, entity: EntityRef(entity), other, filter, exists }))
}

/// Each variable that is named must be there, with a value that passes; or must not be there at all.
fn variables(
    reader: &mut FilterReader,
    path: &str,
    object: &Map<String, Value>,
    property: &str,
    (column, other): (ColumnId, ColumnId),
    all: &mut Vec<Filter>,
) -> Result<(), Failure> {
    for (at, wanted) in object.get(property).and_then(Value::as_array).into_iter().flatten().enumerate() {
        let name = wanted.get("name").and_then(Value::as_str).unwrap_or_default();
        let mut filter = vec![Filter::Column(variable::NAME, Test::Equal(Operand::Text(Name::from(name))))];
        let path = format!("{path}.{property}[{at}].value");
        let mut tests = reader.tests(&path, wanted.get("value").unwrap_or(&Value::Null), Kind::Text)?;
        values::respell(&mut tests);
        reader.count(usize::from(tests.is_empty()))?;
        // A variable always has a value: one without does not exist.
        let exists = tests != [Test::Exists(false)];
        if exists {
            filter.extend(tests.into_iter().map(|test| Filter::Column(variable::VALUE, test)));
        }
        all.push(related(column, &variable::ENTITY, other, filter, exists));
    }
    Ok(())
}

fn process_instance(
    reader: &mut FilterReader,
    path: &str,
    object: &Map<String, Value>,
    all: &mut Vec<Filter>,
) -> Result<(), Failure> {
    variables(reader, path, object, "variables", (instance::KEY, variable::INSTANCE_KEY), all)?;
    let mut of_other = |names: &[(&str, ColumnId, Kind)], always: Vec<Filter>, entity, other| {
        let mut filter = Vec::new();
        columns(reader, path, object, names, &mut filter)?;
        if !filter.is_empty() {
            filter.extend(always);
            all.push(related(instance::KEY, entity, other, filter, true));
        }
        Ok::<_, Failure>(())
    };
    // Conditions on elements must hold for the same element.
    of_other(
        &[
            ("elementId", element::ELEMENT_ID, Kind::Text),
            ("elementInstanceState", element::STATE, Kind::Text),
            ("hasElementInstanceIncident", element::HAS_INCIDENT, Kind::Flag),
        ],
        Vec::new(),
        &element::ENTITY,
        element::INSTANCE_KEY,
    )?;
    of_other(
        &[
            ("errorMessage", incident::ERROR_MESSAGE, Kind::Text),
            ("incidentErrorHashCode", incident::ERROR_HASH, Kind::Integer),
        ],
        vec![Filter::Column(incident::STATE, Test::Equal(Operand::Text(Name::from("ACTIVE"))))],
        &incident::ENTITY,
        incident::INSTANCE_KEY,
    )?;
    of_other(
        &[("hasRetriesLeft", job::HAS_FAILED_WITH_RETRIES_LEFT, Kind::Flag)],
        Vec::new(),
        &job::ENTITY,
        job::INSTANCE_KEY,
    )?;
    of_other(
        &[
            ("batchOperationId", item::BATCH_KEY, Kind::Key),
            ("batchOperationKey", item::BATCH_KEY, Kind::Key),
        ],
        Vec::new(),
        &item::ENTITY,
        item::INSTANCE_KEY,
    )
}
