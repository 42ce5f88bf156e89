//! Batch operations in scripts.
//!
//! A filter has the parts `key=#1,#2` (process instances), `parent=#1`, `called=true|false`, `id=PROCESS`,
//! `version=2`, `tag=TAG`, `tenant=ID`, `business=ID`, `state=ACTIVE`, `incident=true`, `error=*text*`,
//! `hash=message`, `element=ID`, `element-incident=true`, `var:NAME=JSON`, `before=10s` (after the start of the
//! test); `!` before a value means that it must not be that, `or.` before a name that this or another such is enough.

use std::fmt::Write as _;

use engine::Engine;
use protocol::{Condition, InstanceField, InstanceFilter, Key, Name, Operand, Test, error_hash};

use super::harness::START_MS;
use super::transcript::Transcript;

pub fn filter(options: &[(&str, &str)], transcript: &Transcript) -> InstanceFilter {
    let mut filter = InstanceFilter::default();
    for (name, value) in options.iter().filter(|(name, _)| *name != "v") {
        match name.strip_prefix("or.") {
            Some(name) => filter.any.push(vec![condition(name, value, transcript)]),
            None => filter.all.push(condition(name, value, transcript)),
        }
    }
    filter
}

fn condition(name: &str, value: &str, transcript: &Transcript) -> Condition {
    let text = |value: &str| Operand::Text(Name::from(value));
    let number = |value: &str| Operand::Integer(value.parse().expect("a number"));
    let flag = |value: &str| Operand::Integer(i64::from(value == "true"));
    let instance = |value: &str| {
        let at: usize = value.trim_start_matches('#').parse().expect("#1");
        Operand::Integer(transcript.instances[at - 1] as i64)
    };
    let (is_not, value) = match value.strip_prefix('!') {
        Some(value) => (true, value),
        None => (false, value),
    };
    let is = |operand| if is_not { Test::NotEqual(operand) } else { Test::Equal(operand) };
    let (field, test) = match name {
        "key" if value.contains(',') => {
            let mut keys: Vec<Operand> = value.split(',').map(instance).collect();
            keys.sort_unstable();
            (InstanceField::ProcessInstanceKey, if is_not { Test::NotIn(keys) } else { Test::In(keys) })
        }
        "key" => (InstanceField::ProcessInstanceKey, is(instance(value))),
        "parent" => (InstanceField::ParentProcessInstanceKey, is(instance(value))),
        "called" => (InstanceField::ParentElementInstanceKey, Test::Exists(value == "true")),
        "id" => (InstanceField::ProcessDefinitionId, is(text(value))),
        "version" => (InstanceField::ProcessDefinitionVersion, is(number(value))),
        "tag" => (InstanceField::Tag, is(text(value))),
        "tenant" => (InstanceField::TenantId, is(text(value))),
        "business" => (InstanceField::BusinessId, is(text(value))),
        "state" => (InstanceField::State, is(text(value))),
        "incident" => (InstanceField::HasIncident, is(flag(value))),
        "error" => (InstanceField::ErrorMessage, Test::Like(Name::from(value))),
        "hash" => {
            let hash = error_hash(&value.replace('_', " "));
            (InstanceField::IncidentErrorHash, is(Operand::Integer(hash.into())))
        }
        "element" => (InstanceField::ElementId, is(text(value))),
        "element-incident" => (InstanceField::HasElementInstanceIncident, is(flag(value))),
        "before" => {
            let seconds: i64 = value.trim_end_matches('s').parse().expect("seconds");
            (InstanceField::StartDate, Test::Less(Operand::Integer(START_MS + 1000 * seconds)))
        }
        other => match other.strip_prefix("var:") {
            Some(name) => (InstanceField::Variable(Name::from(name)), is(text(value))),
            None => panic!("no such condition: {other}"),
        },
    };
    Condition { field, test }
}

/// Counts and items of a batch operation.
pub fn describe(engine: &Engine, key: Key, transcript: &Transcript) -> String {
    let tables = engine.tables();
    let Some(operation) = tables.batch_operations.get(&key).unwrap() else { return "forgotten".to_owned() };
    let mut text = format!(
        "{} {}: {} of {} done, {} failed",
        transcript.batch_name(key),
        operation.state,
        operation.completed,
        operation.total,
        operation.failed
    );
    for (_, item) in tables.batch_items.scan((key, 0)..(key + 1, 0), usize::MAX).unwrap() {
        let _ = write!(text, "\n- {} {}", transcript.instance_name(item.process_instance_key), item.state);
    }
    text
}
