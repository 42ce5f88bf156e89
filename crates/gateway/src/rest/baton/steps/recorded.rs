//! Steps of an instance that are kept.

use protocol::Key;
use search::model::{ORDER_CHARS, StepKind, instance_step as step, process_instance as instance};
use search::{Filter, Row, Search, Test};

use super::step::Step;
use crate::rest::baton::rows;
use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::problem_code::Code;
use crate::rest::query;

/// Steps that are read at a time where all are looked at.
const PAGE: usize = 2_000;
/// Steps that are put together for one answer.
const STEPS_MAX: usize = 1_000_000;

/// Refuses an instance that is not there, or not for the caller.
pub(super) async fn check(call: &Call<'_>, key: Key) -> Result<(), Failure> {
    let missing = Failure::not_found(format!("Process Instance with key '{key}' not found"));
    query::visible_row(call, &instance::ENTITY, rows::operand(key), 1, missing).await.map(drop)
}

/// Whether the steps of the instance are kept from its beginning on.
pub(super) async fn is_recorded(call: &Call<'_>, key: Key) -> Result<bool, Failure> {
    let first = rows::search(&step::ENTITY, rows::with_key(step::INSTANCE_KEY, key), 1);
    let found = call.storage()?.search(first).await?;
    let begins = |row: &Row| {
        row[usize::from(step::TYPE)]
            .text()
            .is_some_and(|kind| StepKind::of(kind) == Some(StepKind::ElementActivated))
            && row[usize::from(step::ELEMENT_KEY)].integer() == Some(key.cast_signed())
    };
    Ok(found.rows.first().is_some_and(begins))
}

/// Steps that are kept; one more than asked for tells that there are more.
pub(super) async fn recorded(
    call: &Call<'_>,
    key: Key,
    after: u64,
    limit: usize,
) -> Result<Vec<Step>, Failure> {
    let behind = Filter::Column(step::KEY, Test::Greater(rows::operand(after)));
    let filter = rows::with_key(step::INSTANCE_KEY, key).and(behind);
    let asked = rows::search(&step::ENTITY, filter, limit as u32 + 1);
    let asked = Search { cut: Some((step::VALUE, ORDER_CHARS as u32)), ..asked };
    let found = call.storage()?.search(asked).await?;
    let of_row = |row: Row| {
        let kind = rows::text(&row, step::TYPE).unwrap_or_default();
        // A later release may have written to the store.
        let unknown = || Failure::internal(format!("this release knows no step '{kind}' of an instance"));
        Ok(Step {
            position: rows::number(&row, step::KEY).unwrap_or(0).cast_unsigned(),
            time_ms: rows::number(&row, step::TIME).unwrap_or(0),
            kind: StepKind::of(&kind).ok_or_else(unknown)?,
            element_id: rows::text(&row, step::ELEMENT_ID),
            element_key: rows::key(&row, step::ELEMENT_KEY),
            subject_key: rows::key(&row, step::SUBJECT_KEY),
            name: rows::text(&row, step::NAME),
            value: rows::text(&row, step::VALUE),
        })
    };
    found.rows.into_iter().map(of_row).collect()
}

/// Tells each kept step of an instance, in their order, up to a position. Refuses an instance whose steps are not kept.
pub(super) async fn each(
    call: &Call<'_>,
    key: Key,
    until: u64,
    mut tell: impl FnMut(Step),
) -> Result<(), Failure> {
    check(call, key).await?;
    if !is_recorded(call, key).await? {
        return Err(Failure::new(
            Code::InvalidState,
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
