//! Below `/baton/v1/process-instances/{processInstanceKey}`: what happened to an instance, in its order (`steps`), what
//! was so at one of these steps (`at`), and where its time went (`timeline`).
//!
//! Where steps are kept, they are shown as they are. Otherwise they are made of elements, jobs and incidents, of which
//! the time of few changes is known: `made` does that. The other two are of steps that are kept alone.

mod at;
mod made;
mod recorded;
mod step;
mod timeline;

use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::object;
use recorded::{check, is_recorded, recorded};
use step::write;

pub(super) use at::get as at;
pub(super) use timeline::get as timeline;

/// Default number of steps in a page.
const LIMIT_DEFAULT: u64 = 1_000;

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

#[cfg(test)]
mod tests {
    use protocol::{Key, Name};
    use search::model::StepKind;

    use super::step::Step;

    /// A step with a key of its own, and that of an element.
    pub(super) fn step(kind: StepKind, key: Key, element_key: Key) -> Step {
        Step { position: 5, subject_key: Some(key), element_key: Some(element_key), ..Step::of(kind) }
    }

    pub(super) fn element(kind: StepKind, key: Key, element_id: &str) -> Step {
        let (element_id, name) = (Some(Name::from(element_id)), Some(Name::from("SERVICE_TASK")));
        Step { element_id, name, ..step(kind, key, key) }
    }

    pub(super) fn job(kind: StepKind, element_key: Key, key: Key) -> Step {
        Step { name: Some(Name::from("work")), ..step(kind, key, element_key) }
    }
}
