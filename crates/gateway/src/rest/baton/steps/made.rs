//! Steps of an instance whose steps are not kept, made of what else is: its elements, jobs and incidents.

use protocol::{Key, Name};
use search::Row;
use search::model::{
    ColumnId, Entity, StepKind, element_instance as element, incident, job, process_instance as instance,
};

use super::super::rows::{key as key_of, number, search, text, with_key};
use super::step::Step;
use crate::rest::call::Call;
use crate::rest::problem::Failure;

/// Rows of each kind that steps are made of.
const ROWS_MAX: u32 = 10_000;

/// Steps made of what else is kept, numbered from 1 on.
pub(super) async fn steps(call: &Call<'_>, key: Key) -> Result<Vec<Step>, Failure> {
    let rows = async |entity: &'static Entity, column| {
        let found = call.storage()?.search(search(entity, with_key(column, key), ROWS_MAX)).await?;
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
        let (is_end, key) = (is_end(step.kind), step.subject_key.unwrap_or(0));
        (step.time_ms, is_end, if is_end { Key::MAX - key } else { key })
    });
    for (at, step) in steps.iter_mut().enumerate() {
        step.position = at as u64 + 1;
    }
    Ok(steps)
}

fn is_end(kind: StepKind) -> bool {
    matches!(kind, StepKind::ElementCompleted | StepKind::ElementTerminated)
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
    steps.push(Step { time_ms, ..step.clone() });
    if let Some(time_ms) = number(row, end) {
        let is_completed = text(row, state).is_some_and(|state| &*state == "COMPLETED");
        let kind = if is_completed { StepKind::ElementCompleted } else { StepKind::ElementTerminated };
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
        ..Step::of(StepKind::ElementActivated)
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
        ..Step::of(StepKind::ElementActivated)
    };
    of_life(row, &step, element::START, (element::END, element::STATE), steps);
}

fn of_job(row: &Row, steps: &mut Vec<Step>) {
    let step = Step {
        element_id: text(row, job::ELEMENT_ID),
        element_key: key_of(row, job::ELEMENT_KEY),
        subject_key: key_of(row, job::KEY),
        name: text(row, job::TYPE),
        ..Step::of(StepKind::JobCreated)
    };
    let time_ms = number(row, job::CREATED).unwrap_or(0);
    steps.push(Step { time_ms, ..step.clone() });
    let kind = match text(row, job::STATE).as_deref() {
        Some("COMPLETED") => StepKind::JobCompleted,
        Some("CANCELED") => StepKind::JobCanceled,
        Some("FAILED" | "ERROR_THROWN") => StepKind::JobFailed,
        Some("TIMED_OUT") => StepKind::JobTimedOut,
        _ => return,
    };
    let Some(time_ms) = number(row, job::END).or_else(|| number(row, job::UPDATED)) else { return };
    let value = if kind == StepKind::JobFailed { job::ERROR_MESSAGE } else { job::WORKER };
    let value = text(row, value).filter(|value| !value.is_empty());
    steps.push(Step { time_ms, kind, value, ..step });
}

/// When it was resolved is not kept.
fn of_incident(row: &Row, steps: &mut Vec<Step>) {
    steps.push(Step {
        position: 0,
        time_ms: number(row, incident::CREATED).unwrap_or(0),
        kind: StepKind::IncidentCreated,
        element_id: text(row, incident::ELEMENT_ID),
        element_key: key_of(row, incident::ELEMENT_KEY),
        subject_key: key_of(row, incident::KEY),
        name: text(row, incident::ERROR_TYPE),
        value: text(row, incident::ERROR_MESSAGE),
    });
}
