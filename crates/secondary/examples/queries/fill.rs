//! The rows of a busy system: most instances have ended, few have incidents.

use search::StoreError;
use search::model::{
    element_count as count, element_instance as element, incident, job, process_definition as definition,
    process_instance as instance, sequence_flow as flow, user_task as task, variable,
};
use secondary::{Batch, RowId, Writer};

/// Element instances of a process instance.
pub const ELEMENTS: u64 = 10;
/// Process definitions.
pub const DEFINITIONS: u64 = 100;
/// One of so many instances still runs.
pub const ACTIVE: u64 = 20;
/// One of so many active instances has an incident.
pub const INCIDENTS: u64 = 10;
/// People who have tasks.
pub const PEOPLE: u64 = 200;
/// Milliseconds between two instances.
pub const PACE_MS: i64 = 100;
/// When the first one started.
pub const START_MS: i64 = 1_700_000_000_000;
/// Instances that are written together.
const BATCH: u64 = 500;

pub const fn instance_key(number: u64) -> u64 {
    (number + 1) * 1000
}

/// Values of columns that stand for each other in many rows.
struct Common {
    key: u64,
    process: String,
    definition: u64,
    start: i64,
    end: Option<i64>,
    state: &'static str,
}

/// Writes what is missing; the position is the number of instances. Returns how many were there, and the rows written.
pub fn fill(writer: &mut dyn Writer, instances: u64) -> Result<(u64, u64), StoreError> {
    let from = writer.open()?;
    let (mut batch, mut rows) = (Batch::default(), 0);
    if from == 0 {
        for number in 0..DEFINITIONS {
            batch
                .insert(&definition::ENTITY, RowId::Key(number + 1))
                .set(definition::PROCESS_ID, process_id(number))
                .set(definition::NAME, format!("Process {number}"))
                .set(definition::VERSION, 1_u32)
                .set(definition::STATE, "ACTIVE")
                .set(definition::TENANT, "<default>");
        }
    }
    let mut at = from;
    while at < instances {
        let end = (at + BATCH).min(instances);
        (at..end).for_each(|number| add(&mut batch, number));
        writer.write(&batch, end)?;
        rows += batch.len() as u64;
        batch.clear();
        at = end;
    }
    Ok((from, rows))
}

pub fn process_id(number: u64) -> String {
    format!("process-{}", number % DEFINITIONS)
}

fn add(batch: &mut Batch, number: u64) {
    let start = START_MS + number.cast_signed() * PACE_MS;
    let is_active = number.is_multiple_of(ACTIVE);
    let common = Common {
        key: instance_key(number),
        process: process_id(number / 7),
        definition: number / 7 % DEFINITIONS + 1,
        start,
        end: (!is_active).then_some(start + 60_000),
        state: if is_active { "ACTIVE" } else { "COMPLETED" },
    };
    let has_incident = number.is_multiple_of(ACTIVE * INCIDENTS);
    batch
        .insert(&instance::ENTITY, RowId::Key(common.key))
        .set(instance::PROCESS_ID, &*common.process)
        .set(instance::PROCESS_NAME, &*common.process)
        .set(instance::VERSION, 1_u32)
        .set(instance::START, common.start)
        .set(instance::END, common.end)
        .set(instance::STATE, common.state)
        .set(instance::HAS_INCIDENT, has_incident)
        .set(instance::TENANT, "<default>")
        .set(instance::DEFINITION_KEY, common.definition)
        .set(instance::ROOT_INSTANCE_KEY, common.key)
        .set(instance::PARENT_INSTANCE_KEY, number.is_multiple_of(50).then(|| instance_key(number / 50)))
        .set(instance::TAGS, "[]")
        .set(instance::BUSINESS_ID, format!("order-{number}"))
        .set(instance::PARTITION, 1_u32);
    for at in 0..ELEMENTS {
        add_element(batch, &common, at);
    }
    for (at, (name, value)) in
        [("orderId", format!("\"{number}\"")), ("total", (number % 1000).to_string())].into_iter().enumerate()
    {
        batch
            .insert(&variable::ENTITY, RowId::Key(common.key + 100 + at as u64))
            .set(variable::NAME, name)
            .set(variable::VALUE, value)
            .set(variable::TENANT, "<default>")
            .set(variable::INSTANCE_KEY, common.key)
            .set(variable::SCOPE_KEY, common.key)
            .set(variable::PROCESS_ID, &*common.process)
            .set(variable::DEFINITION_KEY, common.definition);
    }
    batch
        .insert(&job::ENTITY, RowId::Key(common.key + 200))
        .set(job::ELEMENT_ID, "element-3")
        .set(job::INSTANCE_KEY, common.key)
        .set(job::PROCESS_ID, &*common.process)
        .set(job::TYPE, format!("type-{}", number % 30))
        .set(job::STATE, if is_active { "CREATED" } else { "COMPLETED" })
        .set(job::CREATED, common.start)
        .set(job::END, common.end);
    if has_incident {
        add_incident(batch, &common);
    }
    if number.is_multiple_of(10) {
        add_task(batch, &common, number);
    }
}

fn add_element(batch: &mut Batch, common: &Common, at: u64) {
    let is_last = at + 1 == ELEMENTS;
    let end = if is_last { common.end } else { Some(common.start + 1000 * at.cast_signed()) };
    batch
        .insert(&element::ENTITY, RowId::Key(common.key + 1 + at))
        .set(element::PROCESS_ID, &*common.process)
        .set(element::START, common.start + 1000 * at.cast_signed())
        .set(element::END, end)
        .set(element::ELEMENT_ID, format!("element-{at}"))
        .set(element::ELEMENT_NAME, format!("Element {at}"))
        .set(element::TYPE, "SERVICE_TASK")
        .set(element::STATE, if is_last { common.state } else { "COMPLETED" })
        .set(element::HAS_INCIDENT, false)
        .set(element::TENANT, "<default>")
        .set(element::INSTANCE_KEY, common.key)
        .set(element::DEFINITION_KEY, common.definition)
        .set(element::SCOPE_KEY, common.key);
    if end.is_some() {
        let id = format!("1-{}-element-{at}", common.definition);
        batch
            .insert(&count::ENTITY, RowId::Text(id.as_str().into()))
            .set(count::PROCESS_ID, &*common.process)
            .set(count::DEFINITION_KEY, common.definition)
            .set(count::ELEMENT_ID, format!("element-{at}"))
            .set(count::TENANT, "<default>")
            .add(count::COMPLETED, 1);
    }
    if at > 0 {
        batch
            .insert(&flow::ENTITY, RowId::Text(format!("{}_flow-{at}", common.key).as_str().into()))
            .set(flow::INSTANCE_KEY, common.key)
            .set(flow::DEFINITION_KEY, common.definition)
            .set(flow::PROCESS_ID, &*common.process)
            .set(flow::ELEMENT_ID, format!("flow-{at}"));
    }
}

fn add_incident(batch: &mut Batch, common: &Common) {
    batch
        .insert(&incident::ENTITY, RowId::Key(common.key + 300))
        .set(incident::PROCESS_ID, &*common.process)
        .set(incident::ERROR_TYPE, "JOB_NO_RETRIES")
        .set(incident::ERROR_MESSAGE, "the other system is away")
        .set(incident::ELEMENT_ID, "element-9")
        .set(incident::CREATED, common.start + 9000)
        .set(incident::STATE, "ACTIVE")
        .set(incident::TENANT, "<default>")
        .set(incident::DEFINITION_KEY, common.definition)
        .set(incident::INSTANCE_KEY, common.key);
}

fn add_task(batch: &mut Batch, common: &Common, number: u64) {
    let is_active = common.end.is_none();
    batch
        .insert(&task::ENTITY, RowId::Key(common.key + 400))
        .set(task::NAME, "Check the order")
        .set(task::STATE, if is_active { "CREATED" } else { "COMPLETED" })
        .set(task::ASSIGNEE, format!("user-{}", number / 10 % PEOPLE))
        .set(task::ELEMENT_ID, "element-9")
        .set(task::CANDIDATE_GROUPS, r#"["office"]"#)
        .set(task::PROCESS_ID, &*common.process)
        .set(task::CREATED, common.start + 9000)
        .set(task::COMPLETED, common.end)
        .set(task::TENANT, "<default>")
        .set(task::PRIORITY, 50_u32)
        .set(task::DEFINITION_KEY, common.definition)
        .set(task::INSTANCE_KEY, common.key);
}
