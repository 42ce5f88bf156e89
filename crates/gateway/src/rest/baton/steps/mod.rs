//! Below `/baton/v1/process-instances/{processInstanceKey}`: what happened to an instance, in its order (`steps`), what
//! was so at one of these steps (`at`), and where its time went (`timeline`).
//!
//! Where steps are kept, they are shown as they are. Otherwise they are made of elements, jobs and incidents, of which
//! the time of few changes is known: `made` does that. The other two are of steps that are kept alone.

mod at;
mod made;
mod timeline;

use http::StatusCode;
use protocol::{Key, Name, RejectionType};
use search::model::{ORDER_CHARS, instance_step as step, process_instance as instance};
use search::{Filter, Row, Search, Test};

use super::rows;

use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::query;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, object};

pub(super) use at::get as at;
pub(super) use timeline::get as timeline;

/// Default number of steps in a page.
const LIMIT_DEFAULT: u64 = 1_000;
/// Steps that are read at a time where all are looked at.
const PAGE: usize = 2_000;
/// Steps that are put together for one answer.
const STEPS_MAX: usize = 1_000_000;

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
        if is_recorded { recorded(call, key, after, limit).await? } else { made::steps(call, key).await? };
    if !is_recorded {
        steps.retain(|step| step.position > after);
    }
    let has_more = steps.len() > limit;
    steps.truncate(limit);
    let mut out = Vec::with_capacity(64 + 192 * steps.len());
    object(&mut out)
        .list("items", &steps, write)
        .with("isRecorded", is_recorded)
        .with("hasMore", has_more)
        .end();
    Ok(Reply::json(out))
}

fn write(step: &Step, out: &mut Vec<u8>) {
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
}

/// Refuses an instance that is not there, or not for the caller.
async fn check(call: &Call<'_>, key: Key) -> Result<(), Failure> {
    let missing = Failure::not_found(format!("Process Instance with key '{key}' not found"));
    query::visible_row(call, &instance::ENTITY, rows::operand(key), 1, missing).await.map(drop)
}

/// Whether the steps of the instance are kept from its beginning on.
async fn is_recorded(call: &Call<'_>, key: Key) -> Result<bool, Failure> {
    let first = rows::search(&step::ENTITY, rows::with_key(step::INSTANCE_KEY, key), 1);
    let found = call.storage()?.search(first).await?;
    let begins = |row: &Row| {
        row[usize::from(step::TYPE)].text().is_some_and(|kind| &**kind == "ELEMENT_ACTIVATED")
            && row[usize::from(step::ELEMENT_KEY)].integer() == Some(key.cast_signed())
    };
    Ok(found.rows.first().is_some_and(begins))
}

/// Steps that are kept; one more than asked for tells that there are more.
async fn recorded(call: &Call<'_>, key: Key, after: u64, limit: usize) -> Result<Vec<Step>, Failure> {
    let behind = Filter::Column(step::KEY, Test::Greater(rows::operand(after)));
    let filter = rows::with_key(step::INSTANCE_KEY, key).and(behind);
    let asked = rows::search(&step::ENTITY, filter, limit as u32 + 1);
    let asked = Search { cut: Some((step::VALUE, ORDER_CHARS as u32)), ..asked };
    let found = call.storage()?.search(asked).await?;
    let of_row = |row: Row| Step {
        position: rows::number(&row, step::KEY).unwrap_or(0).cast_unsigned(),
        time_ms: rows::number(&row, step::TIME).unwrap_or(0),
        kind: rows::text(&row, step::TYPE).unwrap_or_default(),
        element_id: rows::text(&row, step::ELEMENT_ID),
        element_key: rows::key(&row, step::ELEMENT_KEY),
        subject_key: rows::key(&row, step::SUBJECT_KEY),
        name: rows::text(&row, step::NAME),
        value: rows::text(&row, step::VALUE),
    };
    Ok(found.rows.into_iter().map(of_row).collect())
}

/// Tells each kept step of an instance, in their order, up to a position. Refuses an instance whose steps are not kept.
async fn each(call: &Call<'_>, key: Key, until: u64, mut tell: impl FnMut(Step)) -> Result<(), Failure> {
    check(call, key).await?;
    if !is_recorded(call, key).await? {
        return Err(Failure::new(
            StatusCode::CONFLICT,
            RejectionType::InvalidState.as_str(),
            format!(
                "Expected the steps of process instance '{key}', but they are not kept; with secondary_storage.steps, those of instances are kept that start from then on"
            ),
        ));
    }
    let (mut after, mut count) = (0, 0);
    loop {
        let steps = recorded(call, key, after, PAGE).await?;
        let has_more = steps.len() > PAGE;
        for step in steps.into_iter().take(PAGE) {
            if step.position > until {
                return Ok(());
            }
            (after, count) = (step.position, count + 1);
            tell(step);
        }
        if !has_more {
            return Ok(());
        }
        if count >= STEPS_MAX {
            return Err(Failure::invalid(format!(
                "Expected at most {STEPS_MAX} steps, but process instance '{key}' has more; read them page by page"
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step with a key of its own, and that of an element.
    pub(super) fn step(kind: &str, key: Key, element_key: Key) -> Step {
        Step {
            position: 5,
            kind: Name::from(kind),
            subject_key: Some(key),
            element_key: Some(element_key),
            ..Step::default()
        }
    }

    pub(super) fn element(kind: &str, key: Key, element_id: &str) -> Step {
        let (element_id, name) = (Some(Name::from(element_id)), Some(Name::from("SERVICE_TASK")));
        Step { element_id, name, ..step(kind, key, key) }
    }

    pub(super) fn job(kind: &str, element_key: Key, key: Key) -> Step {
        Step { name: Some(Name::from("work")), ..step(kind, key, element_key) }
    }
}
