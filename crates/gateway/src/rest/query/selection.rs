//! Filters of batch operations: what they are on, and the conditions that an operation sets itself.
//!
//! Only running instances can be changed, so what a filter says of states is overridden, and of a cancellation and a
//! suspension also what it says of parents. A cancellation takes running states; it refuses others.

use protocol::BatchOperationType;
use search::Filter;
use search::model::{Entity, decision_instance, job, process_instance};
use serde_json::{Map, Value};

use super::super::problem::Failure;
use super::filter_reader::FilterReader;

const STATE: &str = "state";
const PARENT: &str = "parentProcessInstanceKey";
/// States that a cancellation may be asked for.
const RUNNING: [&str; 2] = ["ACTIVE", "SUSPENDED"];

/// The rows that an operation of a kind looks for, and the conditions that it sets itself, whatever the filter says of
/// them.
const fn selection_of(kind: BatchOperationType) -> (&'static Entity, &'static [&'static str]) {
    use BatchOperationType as Kind;
    match kind {
        Kind::DeleteDecisionInstance | Kind::DeleteDecisionDefinition => (&decision_instance::ENTITY, &[]),
        Kind::UpdateJob => (&job::ENTITY, &[]),
        Kind::DeleteProcessInstance | Kind::DeleteProcessDefinition => (&process_instance::ENTITY, &[]),
        Kind::CancelProcessInstance => (&process_instance::ENTITY, &[PARENT]),
        Kind::SuspendProcessInstance | Kind::ResumeProcessInstance => {
            (&process_instance::ENTITY, &[STATE, PARENT])
        }
        Kind::MigrateProcessInstance | Kind::ModifyProcessInstance | Kind::ResolveIncident => {
            (&process_instance::ENTITY, &[STATE])
        }
    }
}

/// The filter of an operation of a kind.
pub(in crate::rest) fn selected(kind: BatchOperationType, raw: &str) -> Result<Filter, Failure> {
    let Ok(Value::Object(mut filter)) = serde_json::from_str(raw) else {
        return Err(Failure::invalid("filter: expected an object"));
    };
    if kind == BatchOperationType::CancelProcessInstance {
        check_states(&filter)?;
    }
    let (entity, overridden) = selection_of(kind);
    let mut ignored = Map::new();
    for name in overridden {
        ignored.extend(filter.remove_entry(*name).filter(|(_, value)| !value.is_null()));
    }
    let mut reader = FilterReader::new(entity);
    let read = reader.object("filter", &filter)?;
    if !reader.is_empty() {
        return Ok(read);
    }
    if ignored.is_empty() {
        return Err(Failure::invalid("filter: at least one condition is required"));
    }
    // A filter for what runs means all that the operation takes. Any other would get far more than it asks for.
    let is_running = |state: &Value| RUNNING.iter().any(|running| is_state(state, running));
    if ignored.len() == 1 && ignored.get(STATE).is_some_and(is_running) {
        return Ok(read);
    }
    let names = ignored.keys().map(String::as_str).collect::<Vec<_>>().join(" and ");
    Err(Failure::invalid(format!(
        "filter: the operation overrides {names}; at least one other condition is required"
    )))
}

fn is_state(condition: &Value, state: &str) -> bool {
    let wanted = condition.get("$eq").unwrap_or(condition);
    wanted.as_str() == Some(state)
}

/// Refuses states that cannot be cancelled. Other operators than those that name states are taken as they are.
fn check_states(filter: &Map<String, Value>) -> Result<(), Failure> {
    let Some(condition) = filter.get(STATE) else { return Ok(()) };
    let listed = condition.get("$in").and_then(Value::as_array).into_iter().flatten();
    let named = condition.as_str().into_iter().chain(condition.get("$eq").and_then(Value::as_str));
    for state in named.chain(listed.filter_map(Value::as_str)) {
        if !RUNNING.contains(&state) {
            return Err(Failure::invalid(format!(
                "filter.state: only ACTIVE and SUSPENDED process instances can be cancelled, but it is {state}"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use BatchOperationType as Kind;

    use super::*;

    fn with(kind: Kind, condition: &str) -> Result<Filter, Failure> {
        selected(kind, &format!(r#"{{"processDefinitionId":"p"{condition}}}"#))
    }

    /// Whether a condition makes no difference.
    fn is_overridden(kind: Kind, condition: &str) -> bool {
        with(kind, condition).unwrap() == with(kind, "").unwrap()
    }

    const OF_PARENT: &str = r#","parentProcessInstanceKey":"7""#;

    #[test]
    fn what_an_operation_sets_itself_is_overridden() {
        for kind in [Kind::MigrateProcessInstance, Kind::ModifyProcessInstance, Kind::ResolveIncident] {
            assert!(is_overridden(kind, r#","state":"COMPLETED""#), "{kind:?}");
            assert!(!is_overridden(kind, OF_PARENT), "{kind:?}");
        }
        for kind in [Kind::SuspendProcessInstance, Kind::ResumeProcessInstance] {
            assert!(is_overridden(kind, r#","state":{"$neq":"ACTIVE"}"#), "{kind:?}");
            assert!(is_overridden(kind, OF_PARENT), "{kind:?}");
        }
        assert!(is_overridden(Kind::CancelProcessInstance, OF_PARENT));
        assert!(!is_overridden(Kind::DeleteProcessInstance, r#","state":"COMPLETED""#));
    }

    #[test]
    fn a_cancellation_takes_states_that_run_and_refuses_others() {
        for state in [r#""ACTIVE""#, r#"{"$in":["ACTIVE","SUSPENDED"]}"#, r#"{"$neq":"COMPLETED"}"#] {
            assert!(!is_overridden(Kind::CancelProcessInstance, &format!(r#","state":{state}"#)), "{state}");
        }
        for state in [r#""COMPLETED""#, r#"{"$eq":"TERMINATED"}"#, r#"{"$in":["ACTIVE","COMPLETED"]}"#] {
            assert!(with(Kind::CancelProcessInstance, &format!(r#","state":{state}"#)).is_err(), "{state}");
        }
    }

    #[test]
    fn an_overridden_condition_alone_selects_nothing() {
        selected(Kind::MigrateProcessInstance, r#"{"state":"ACTIVE"}"#).unwrap();
        for (kind, raw) in [
            (Kind::MigrateProcessInstance, r#"{"state":"COMPLETED"}"#),
            (Kind::SuspendProcessInstance, r#"{"parentProcessInstanceKey":"7"}"#),
            (Kind::CancelProcessInstance, r#"{"parentProcessInstanceKey":"7"}"#),
            (Kind::CancelProcessInstance, "{}"),
        ] {
            assert!(selected(kind, raw).is_err(), "{raw}");
        }
    }
}
