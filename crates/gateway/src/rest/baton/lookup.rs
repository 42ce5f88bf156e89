//! `GET /baton/v1/lookup/{text}`: what a key, a business ID or the ID of a definition is, as far as the caller may
//! know.

use futures::future::try_join_all;
use protocol::{Key, Name, Query, QueryReply};
use search::model::{
    ColumnId, Entity, batch_operation, decision_definition, decision_instance, element_instance, form,
    incident, job, process_definition, process_instance, user_task, variable,
};
use search::{EntityRef, Filter, Operand, Position, Row, Search, Sort, Test};

use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

/// Things that are found at the most.
const FOUND_MAX: usize = 20;

/// Where something is looked for.
struct Place {
    kind: &'static str,
    entity: &'static Entity,
    by: ColumnId,
}

impl Place {
    const fn new(kind: &'static str, entity: &'static Entity, by: ColumnId) -> Self {
        Self { kind, entity, by }
    }
}

/// By key.
static KEYED: [Place; 11] = [
    Place::new("PROCESS_INSTANCE", &process_instance::ENTITY, process_instance::KEY),
    Place::new("ELEMENT_INSTANCE", &element_instance::ENTITY, element_instance::KEY),
    Place::new("INCIDENT", &incident::ENTITY, incident::KEY),
    Place::new("JOB", &job::ENTITY, job::KEY),
    Place::new("USER_TASK", &user_task::ENTITY, user_task::KEY),
    Place::new("VARIABLE", &variable::ENTITY, variable::KEY),
    Place::new("PROCESS_DEFINITION", &process_definition::ENTITY, process_definition::KEY),
    Place::new("DECISION_DEFINITION", &decision_definition::ENTITY, decision_definition::KEY),
    Place::new("DECISION_INSTANCE", &decision_instance::ENTITY, decision_instance::EVALUATION_KEY),
    Place::new("FORM", &form::ENTITY, form::KEY),
    Place::new("BATCH_OPERATION", &batch_operation::ENTITY, batch_operation::KEY),
];

/// By what people call it.
static NAMED: [Place; 4] = [
    Place::new("PROCESS_INSTANCE", &process_instance::ENTITY, process_instance::BUSINESS_ID),
    Place::new("PROCESS_DEFINITION", &process_definition::ENTITY, process_definition::PROCESS_ID),
    Place::new("DECISION_DEFINITION", &decision_definition::ENTITY, decision_definition::DECISION_ID),
    Place::new("DECISION_INSTANCE", &decision_instance::ENTITY, decision_instance::ID),
];

/// Something that was found.
#[derive(Default)]
struct Thing {
    kind: &'static str,
    key: String,
    name: Option<Name>,
    definition_id: Option<Name>,
    instance_key: Option<Key>,
    element_id: Option<Name>,
    state: Option<Name>,
    tenant_id: Option<Name>,
}

pub(super) async fn search(call: &Call<'_>) -> Result<Reply, Failure> {
    let key: Option<Key> = call.parameter().parse().ok().filter(|key| *key > 0);
    let found = if call.storage().is_ok() { stored(call, key).await? } else { living(call, key).await? };
    let mut out = Vec::with_capacity(256);
    object(&mut out)
        .list("items", found.iter().take(FOUND_MAX), |found, out| {
            object(out)
                .with("kind", found.kind)
                .with("key", &found.key)
                .with("name", found.name.as_ref())
                .with("processDefinitionId", found.definition_id.as_ref())
                .with("processInstanceKey", found.instance_key.map(Digits))
                .with("elementId", found.element_id.as_ref())
                .with("state", found.state.as_ref())
                .with("tenantId", found.tenant_id.as_ref())
                .end();
        })
        .end();
    Ok(Reply::json(out))
}

async fn stored(call: &Call<'_>, key: Option<Key>) -> Result<Vec<Thing>, Failure> {
    // Waits once for all of them.
    call.fresh_storage().await?;
    let by_key = key
        .into_iter()
        .flat_map(|key| KEYED.iter().map(move |place| (place, Operand::Integer(key.cast_signed()))));
    let by_name = NAMED.iter().map(|place| (place, Operand::Text(Name::from(call.parameter()))));
    let rows =
        try_join_all(by_key.chain(by_name).map(|(place, wanted)| of_place(call, place, wanted))).await?;
    Ok(rows.into_iter().flatten().collect())
}

async fn of_place(call: &Call<'_>, place: &Place, wanted: Operand) -> Result<Vec<Thing>, Failure> {
    let entity = place.entity;
    let search = Search {
        entity: EntityRef(entity),
        filter: Filter::Column(place.by, Test::Equal(wanted)).and(call.visible_rows(entity).await?),
        // The latest first.
        sort: vec![Sort { column: 0, descending: true }],
        position: Position::Offset(0),
        limit: FOUND_MAX as u32,
        count_up_to: 0,
        columns: columns(entity),
        cut: None,
    };
    let rows = call.storage()?.search(search).await?.rows;
    Ok(rows.iter().map(|row| of_row(place, row)).collect())
}

/// Columns that say what something is, by the names of the API; those that mean the same stand together.
const MEANT: [&[&str]; 6] = [
    &["name", "processDefinitionName", "elementName", "errorMessage", "type", "decisionDefinitionName"],
    &["processDefinitionId", "decisionDefinitionId"],
    &["processInstanceKey"],
    &["elementId"],
    &["state"],
    &["tenantId"],
];

fn column(entity: &Entity, names: &[&str]) -> Option<ColumnId> {
    names.iter().find_map(|name| entity.column(name))
}

fn columns(entity: &Entity) -> u64 {
    MEANT.iter().filter_map(|names| column(entity, names)).fold(1, |bits, column| bits | 1 << column)
}

fn of_row(place: &Place, row: &Row) -> Thing {
    let value = |names: &[&str]| column(place.entity, names).map(|at| &row[at as usize]);
    let [name, definition_id, instance_key, element_id, state, tenant_id] = MEANT.map(value);
    let text = |value: Option<&search::Value>| value.and_then(|value| value.text().cloned());
    let key = row[0].text().map_or_else(|| row[0].integer().unwrap_or(0).to_string(), ToString::to_string);
    Thing {
        kind: place.kind,
        key,
        name: text(name),
        definition_id: text(definition_id),
        instance_key: instance_key.and_then(search::Value::integer).map(i64::cast_unsigned),
        element_id: text(element_id),
        state: text(state),
        tenant_id: text(tenant_id),
    }
}

/// Things that live, by key, where nothing is stored.
async fn living(call: &Call<'_>, key: Option<Key>) -> Result<Vec<Thing>, Failure> {
    let Some(key) = key else { return Ok(Vec::new()) };
    for query in [
        Query::ProcessInstance { key },
        Query::ElementInstance { key },
        Query::Incident { key },
        Query::ProcessDefinition { key },
    ] {
        // A thing that is not there, or is not for the caller, is not found.
        let Ok(reply) = call.read(query).await else { continue };
        let found = Thing { key: key.to_string(), ..Thing::default() };
        return Ok(vec![match reply {
            QueryReply::ProcessInstance(instance) => Thing {
                kind: "PROCESS_INSTANCE",
                name: instance.process_name,
                definition_id: Some(instance.process_id),
                instance_key: Some(key),
                state: Some(Name::from("ACTIVE")),
                tenant_id: Some(instance.tenant_id),
                ..found
            },
            QueryReply::ElementInstance(_) => Thing { kind: "ELEMENT_INSTANCE", ..found },
            QueryReply::Incident(_) => Thing { kind: "INCIDENT", ..found },
            _ => Thing { kind: "PROCESS_DEFINITION", ..found },
        }]);
    }
    Ok(Vec::new())
}
