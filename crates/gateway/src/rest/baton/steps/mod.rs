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
    use std::collections::BTreeMap;

    use protocol::{Key, Name};
    use search::model::StepKind;
    use serde_json::{Value, json};

    use super::at::tests::then_of;
    use super::step::Step;
    use super::timeline::tests::items_of;
    use crate::rest::moment;

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

    fn time(value: &Value) -> i64 {
        moment::parse(value.as_str().unwrap()).unwrap()
    }

    /// A step as the answers of the API have it.
    fn told(step: &Value) -> Step {
        let key = |name: &str| step[name].as_str().map(|digits| digits.parse().unwrap());
        let text = |name: &str| step[name].as_str().map(Name::from);
        Step {
            position: step["position"].as_u64().unwrap(),
            time_ms: time(&step["time"]),
            kind: StepKind::of(step["kind"].as_str().unwrap()).unwrap(),
            element_id: text("elementId"),
            element_key: key("elementInstanceKey"),
            subject_key: key("key"),
            name: text("name"),
            value: text("value"),
        }
    }

    /// The named fields of each item, in rows; a worker that is not there is an empty text.
    fn rows(items: &Value, names: &[&str]) -> Value {
        let field = |item: &Value, name| if item[name].is_null() { json!("") } else { item[name].clone() };
        let row = |item| names.iter().map(|name| field(item, name)).collect();
        items.as_array().unwrap().iter().map(row).collect::<Vec<Value>>().into()
    }

    /// The web application folds steps, too; its unit tests read the cases as well.
    #[test]
    fn steps_are_folded_as_pages_do() {
        let cases: Vec<Value> = serde_json::from_str(include_str!("cases.json")).unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let about = &case["about"];
            let steps: Vec<_> = case["steps"].as_array().unwrap().iter().map(told).collect();
            let then = then_of(&steps, 100);
            let mut counts = json!({});
            for count in then["counts"].as_array().unwrap() {
                let mut count = count.clone();
                let element_id = count.as_object_mut().unwrap().remove("elementId").unwrap();
                counts[element_id.as_str().unwrap()] = count;
            }
            let found = json!({
                "isSuspended": then["state"] == "SUSPENDED",
                "counts": counts,
                "variables": rows(&then["variables"], &["scopeKey", "name", "value"]),
                "incidents": rows(&then["incidents"], &["incidentKey", "elementInstanceKey", "errorType", "errorMessage"]),
                "jobs": rows(&then["jobs"], &["jobKey", "type", "state", "worker"]),
            });
            assert_eq!(found, case["then"], "{about}");
            let mut spent: BTreeMap<String, BTreeMap<&str, i64>> = BTreeMap::new();
            for item in items_of(&steps, time(&case["end"])).as_array().unwrap() {
                let of = spent.entry(item["elementId"].as_str().unwrap().to_owned()).or_default();
                for way in ["waitingMs", "workingMs", "incidentMs", "otherMs"] {
                    *of.entry(way).or_default() += item[way].as_i64().unwrap();
                }
            }
            assert_eq!(json!(spent), case["spent"], "{about}");
        }
    }
}
