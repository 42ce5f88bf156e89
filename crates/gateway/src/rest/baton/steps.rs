//! `GET /baton/v1/process-instances/{processInstanceKey}/steps`: what happened to an instance, in its order.
//!
//! Where steps are kept, they are shown as they are. Otherwise they are made of elements, jobs and incidents, of which
//! the time of few changes is known.

use protocol::{Key, Name};
use search::model::{
    ColumnId, Entity, ORDER_CHARS, element_instance as element, incident, instance_step as step, job,
    process_instance as instance,
};
use search::{EntityRef, Filter, Operand, Position, Row, Search, Sort, Test};

use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::query;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, object};

/// Default number of steps in a page.
const LIMIT_DEFAULT: u64 = 1_000;
/// Rows of each kind that steps are made of.
const ROWS_MAX: u32 = 10_000;

/// One step.
#[derive(Debug, Default, Clone)]
struct Step {
    position: u64,
    time_ms: i64,
    kind: Name,
    element_id: Option<Name>,
    element_key: Option<Key>,
    subject_key: Option<Key>,
    name: Option<Name>,
    value: Option<Name>,
}

pub(super) async fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = call.key()?;
    let after = call.query_number("after")?.unwrap_or(0);
    let limit = call.query_number("limit")?.unwrap_or(LIMIT_DEFAULT) as usize;
    check(call, key).await?;
    let is_recorded = is_recorded(call, key).await?;
    let mut steps =
        if is_recorded { recorded(call, key, after, limit).await? } else { made(call, key).await? };
    if !is_recorded {
        steps.retain(|step| step.position > after);
    }
    let has_more = steps.len() > limit;
    steps.truncate(limit);
    let mut out = Vec::with_capacity(64 + 192 * steps.len());
    object(&mut out)
        .list("items", &steps, |step, out| {
            object(out)
                .with("position", step.position)
                .with("time", Moment(step.time_ms))
                .with("kind", &step.kind)
                .with("elementId", step.element_id.as_ref())
                .with("elementInstanceKey", step.element_key.map(Digits))
                .with("key", step.subject_key.map(Digits))
                .with("name", step.name.as_ref())
                .with("value", step.value.as_ref())
                .end();
        })
        .with("isRecorded", is_recorded)
        .with("hasMore", has_more)
        .end();
    Ok(Reply::json(out))
}

/// Refuses an instance that is not there, or not for the caller.
async fn check(call: &Call<'_>, key: Key) -> Result<(), Failure> {
    let missing = Failure::not_found(format!("Process Instance with key '{key}' not found"));
    let id = Operand::Integer(key.cast_signed());
    query::visible_row(call, &instance::ENTITY, id, 1, missing).await.map(drop)
}

fn search(entity: &'static Entity, filter: Filter, limit: u32) -> Search {
    Search {
        entity: EntityRef(entity),
        filter,
        sort: vec![Sort { column: 0, descending: false }],
        position: Position::Offset(0),
        limit,
        count_up_to: 0,
        columns: u64::MAX >> (64 - entity.columns.len()),
        cut: None,
    }
}

fn of_instance(column: ColumnId, key: Key) -> Filter {
    Filter::Column(column, Test::Equal(Operand::Integer(key.cast_signed())))
}

/// Whether the steps of the instance are kept from its beginning on.
async fn is_recorded(call: &Call<'_>, key: Key) -> Result<bool, Failure> {
    let first = search(&step::ENTITY, of_instance(step::INSTANCE_KEY, key), 1);
    let found = call.storage()?.search(first).await?;
    let begins = |row: &Row| {
        row[usize::from(step::TYPE)].text().is_some_and(|kind| &**kind == "ELEMENT_ACTIVATED")
            && row[usize::from(step::ELEMENT_KEY)].integer() == Some(key.cast_signed())
    };
    Ok(found.rows.first().is_some_and(begins))
}

/// Steps that are kept; one more than asked for tells that there are more.
async fn recorded(call: &Call<'_>, key: Key, after: u64, limit: usize) -> Result<Vec<Step>, Failure> {
    let behind = Filter::Column(step::KEY, Test::Greater(Operand::Integer(after.cast_signed())));
    let filter = of_instance(step::INSTANCE_KEY, key).and(behind);
    let asked = search(&step::ENTITY, filter, limit as u32 + 1);
    let asked = Search { cut: Some((step::VALUE, ORDER_CHARS as u32)), ..asked };
    let rows = call.storage()?.search(asked).await?.rows;
    let of_row = |row: Row| Step {
        position: number(&row, step::KEY).unwrap_or(0).cast_unsigned(),
        time_ms: number(&row, step::TIME).unwrap_or(0),
        kind: text(&row, step::TYPE).unwrap_or_default(),
        element_id: text(&row, step::ELEMENT_ID),
        element_key: key_of(&row, step::ELEMENT_KEY),
        subject_key: key_of(&row, step::SUBJECT_KEY),
        name: text(&row, step::NAME),
        value: text(&row, step::VALUE),
    };
    Ok(rows.into_iter().map(of_row).collect())
}

fn number(row: &Row, column: ColumnId) -> Option<i64> {
    row[usize::from(column)].integer()
}

fn key_of(row: &Row, column: ColumnId) -> Option<Key> {
    number(row, column).map(i64::cast_unsigned)
}

fn text(row: &Row, column: ColumnId) -> Option<Name> {
    row[usize::from(column)].text().cloned()
}

/// Steps made of what else is kept, numbered from 1 on.
async fn made(call: &Call<'_>, key: Key) -> Result<Vec<Step>, Failure> {
    let rows = async |entity: &'static Entity, column| {
        let found = call.storage()?.search(search(entity, of_instance(column, key), ROWS_MAX)).await?;
        Ok::<_, Failure>(found.rows)
    };
    let mut steps = Vec::new();
    for row in rows(&instance::ENTITY, instance::KEY).await? {
        of_process(&row, &mut steps);
    }
    for row in rows(&element::ENTITY, element::INSTANCE_KEY).await? {
        of_element(&row, &mut steps);
    }
    for row in rows(&job::ENTITY, job::INSTANCE_KEY).await? {
        of_job(&row, &mut steps);
    }
    for row in rows(&incident::ENTITY, incident::INSTANCE_KEY).await? {
        of_incident(&row, &mut steps);
    }
    // Keys are given in order, so of one moment what began earlier comes first; ends come behind, the inner ones first.
    steps.sort_by_key(|step| {
        let (is_end, key) = (is_end(&step.kind), step.subject_key.unwrap_or(0));
        (step.time_ms, is_end, if is_end { Key::MAX - key } else { key })
    });
    for (at, step) in steps.iter_mut().enumerate() {
        step.position = at as u64 + 1;
    }
    Ok(steps)
}

fn is_end(kind: &str) -> bool {
    matches!(kind, "ELEMENT_COMPLETED" | "ELEMENT_TERMINATED")
}

/// The beginning and the end of something.
fn of_life(
    row: &Row,
    step: &Step,
    begins: ColumnId,
    (end, state): (ColumnId, ColumnId),
    steps: &mut Vec<Step>,
) {
    let time_ms = number(row, begins).unwrap_or(0);
    steps.push(Step { time_ms, kind: Name::from("ELEMENT_ACTIVATED"), ..step.clone() });
    if let Some(time_ms) = number(row, end) {
        let is_completed = text(row, state).is_some_and(|state| &*state == "COMPLETED");
        let kind = Name::from(if is_completed { "ELEMENT_COMPLETED" } else { "ELEMENT_TERMINATED" });
        steps.push(Step { time_ms, kind, ..step.clone() });
    }
}

fn of_process(row: &Row, steps: &mut Vec<Step>) {
    let key = key_of(row, instance::KEY);
    let step = Step {
        element_id: text(row, instance::PROCESS_ID),
        element_key: key,
        subject_key: key,
        name: Some(Name::from("PROCESS")),
        ..Step::default()
    };
    of_life(row, &step, instance::START, (instance::END, instance::STATE), steps);
}

fn of_element(row: &Row, steps: &mut Vec<Step>) {
    let key = key_of(row, element::KEY);
    let step = Step {
        element_id: text(row, element::ELEMENT_ID),
        element_key: key,
        subject_key: key,
        name: text(row, element::TYPE),
        ..Step::default()
    };
    of_life(row, &step, element::START, (element::END, element::STATE), steps);
}

fn of_job(row: &Row, steps: &mut Vec<Step>) {
    let step = Step {
        element_id: text(row, job::ELEMENT_ID),
        element_key: key_of(row, job::ELEMENT_KEY),
        subject_key: key_of(row, job::KEY),
        name: text(row, job::TYPE),
        ..Step::default()
    };
    let time_ms = number(row, job::CREATED).unwrap_or(0);
    steps.push(Step { time_ms, kind: Name::from("JOB_CREATED"), ..step.clone() });
    let kind = match text(row, job::STATE).as_deref() {
        Some("COMPLETED") => "JOB_COMPLETED",
        Some("CANCELED") => "JOB_CANCELED",
        Some("FAILED" | "ERROR_THROWN") => "JOB_FAILED",
        Some("TIMED_OUT") => "JOB_TIMED_OUT",
        _ => return,
    };
    let Some(time_ms) = number(row, job::END).or_else(|| number(row, job::UPDATED)) else { return };
    let value = if kind == "JOB_FAILED" { job::ERROR_MESSAGE } else { job::WORKER };
    let value = text(row, value).filter(|value| !value.is_empty());
    steps.push(Step { time_ms, kind: Name::from(kind), value, ..step });
}

/// When it was resolved is not kept.
fn of_incident(row: &Row, steps: &mut Vec<Step>) {
    steps.push(Step {
        position: 0,
        time_ms: number(row, incident::CREATED).unwrap_or(0),
        kind: Name::from("INCIDENT_CREATED"),
        element_id: text(row, incident::ELEMENT_ID),
        element_key: key_of(row, incident::ELEMENT_KEY),
        subject_key: key_of(row, incident::KEY),
        name: text(row, incident::ERROR_TYPE),
        value: text(row, incident::ERROR_MESSAGE),
    });
}
