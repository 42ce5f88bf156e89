//! The filter for process instances of batch operations, as far as the engine's state can answer it.

use protocol::{Condition, InstanceField, InstanceFilter, Name, Operand, Test};
use serde_json::{Map, Value};

use super::fields::parse_key;
use super::moment;
use super::problem::Failure;

/// Conditions of one filter. An alternative without any is one.
const CONDITIONS_MAX: usize = 1000;
/// Characters of a `$like`: comparing takes time by the product of pattern and text.
const LIKE_CHARS_MAX: usize = 1000;
/// Values of a `$in` or `$notIn`, and of all those of one filter. A store binds each of them, and takes not much
/// more than 30,000.
pub(super) const VALUES_MAX: usize = 5000;
/// Properties that only a store of what has ended could tell.
const UNKNOWN: &[&str] = &["batchOperationId", "batchOperationKey", "hasRetriesLeft"];

/// How the values of a property are written.
#[derive(Clone, Copy)]
pub(super) enum ValueKind {
    Key,
    Text,
    Integer,
    Date,
    Flag,
}

/// Reads a filter that was validated from the contract.
pub(super) fn parse(raw: &str) -> Result<InstanceFilter, Failure> {
    let Ok(Value::Object(object)) = serde_json::from_str(raw) else {
        return Err(Failure::invalid("filter: expected an object"));
    };
    let mut filter = InstanceFilter::default();
    for (name, value) in &object {
        match (name.as_str(), value) {
            ("$or", Value::Array(alternatives)) => {
                for (at, alternative) in alternatives.iter().enumerate() {
                    if let Value::Object(object) = alternative {
                        let mut conditions = Vec::new();
                        read_all(&format!("filter.$or[{at}]"), object, &mut conditions)?;
                        filter.any.push(conditions);
                    }
                }
            }
            _ => read(&format!("filter.{name}"), name, value, &mut filter.all)?,
        }
    }
    let tests = filter.all.len() + filter.any.iter().map(Vec::len).sum::<usize>();
    let count = tests + filter.any.iter().filter(|conditions| conditions.is_empty()).count();
    if count > CONDITIONS_MAX {
        return Err(Failure::invalid(format!(
            "filter: it has {count} conditions, more than {CONDITIONS_MAX}"
        )));
    }
    if tests == 0 {
        return Err(Failure::invalid("filter: at least one condition is required"));
    }
    Ok(filter)
}

fn read_all(path: &str, object: &Map<String, Value>, out: &mut Vec<Condition>) -> Result<(), Failure> {
    object.iter().try_for_each(|(name, value)| read(&format!("{path}.{name}"), name, value, out))
}

/// Reads one property.
fn read(path: &str, name: &str, value: &Value, out: &mut Vec<Condition>) -> Result<(), Failure> {
    if value.is_null() {
        return Ok(());
    }
    match (name, value) {
        ("tags", Value::Array(tags)) => {
            for tag in tags {
                let test = Test::Equal(operand(path, ValueKind::Text, tag)?);
                out.push(Condition { field: InstanceField::Tag, test });
            }
            return Ok(());
        }
        ("variables", Value::Array(variables)) => {
            for (at, variable) in variables.iter().enumerate() {
                let name = variable.get("name").and_then(Value::as_str).unwrap_or_default();
                let field = InstanceField::Variable(Name::from(name));
                let path = format!("{path}[{at}].value");
                read_tests(
                    &path,
                    &field,
                    ValueKind::Text,
                    variable.get("value").unwrap_or(&Value::Null),
                    out,
                )?;
            }
            return Ok(());
        }
        _ => {}
    }
    let Some((field, kind)) = field(name) else {
        let reason = if UNKNOWN.contains(&name) {
            "not supported as a filter without secondary storage, since running instances do not hold this property"
        } else {
            "is no property to filter by"
        };
        return Err(Failure::invalid(format!("{path}: {reason}")));
    };
    read_tests(path, &field, kind, value, out)
}

fn field(name: &str) -> Option<(InstanceField, ValueKind)> {
    Some(match name {
        "processInstanceKey" => (InstanceField::ProcessInstanceKey, ValueKind::Key),
        "parentProcessInstanceKey" => (InstanceField::ParentProcessInstanceKey, ValueKind::Key),
        "parentElementInstanceKey" => (InstanceField::ParentElementInstanceKey, ValueKind::Key),
        "processDefinitionKey" => (InstanceField::ProcessDefinitionKey, ValueKind::Key),
        "processDefinitionId" => (InstanceField::ProcessDefinitionId, ValueKind::Text),
        "processDefinitionName" => (InstanceField::ProcessDefinitionName, ValueKind::Text),
        "processDefinitionVersion" => (InstanceField::ProcessDefinitionVersion, ValueKind::Integer),
        "processDefinitionVersionTag" => (InstanceField::ProcessDefinitionVersionTag, ValueKind::Text),
        "tenantId" => (InstanceField::TenantId, ValueKind::Text),
        "businessId" => (InstanceField::BusinessId, ValueKind::Text),
        "state" => (InstanceField::State, ValueKind::Text),
        "startDate" => (InstanceField::StartDate, ValueKind::Date),
        "endDate" => (InstanceField::EndDate, ValueKind::Date),
        "hasIncident" => (InstanceField::HasIncident, ValueKind::Flag),
        "errorMessage" => (InstanceField::ErrorMessage, ValueKind::Text),
        "incidentErrorHashCode" => (InstanceField::IncidentErrorHash, ValueKind::Integer),
        "elementId" => (InstanceField::ElementId, ValueKind::Text),
        "elementInstanceState" => (InstanceField::ElementInstanceState, ValueKind::Text),
        "hasElementInstanceIncident" => (InstanceField::HasElementInstanceIncident, ValueKind::Flag),
        _ => return None,
    })
}

fn read_tests(
    path: &str,
    field: &InstanceField,
    kind: ValueKind,
    value: &Value,
    out: &mut Vec<Condition>,
) -> Result<(), Failure> {
    let tests = tests(path, value, kind)?;
    out.extend(tests.into_iter().map(|test| Condition { field: field.clone(), test }));
    Ok(())
}

/// Reads what a value must be: a plain one stands for itself, an object holds operators.
pub(super) fn tests(path: &str, value: &Value, kind: ValueKind) -> Result<Vec<Test>, Failure> {
    let Value::Object(operators) = value else {
        return Ok(vec![Test::Equal(operand(path, kind, value)?)]);
    };
    // The official Java client sends all lists that it has, empty ones too: those say nothing.
    let is_said = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
    let operators = operators.iter().filter(|(_, value)| is_said(value));
    operators.map(|(operator, value)| test(&format!("{path}.{operator}"), operator, kind, value)).collect()
}

fn test(path: &str, operator: &str, kind: ValueKind, value: &Value) -> Result<Test, Failure> {
    let one = || operand(path, kind, value);
    let many = || {
        let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
        if list.len() > VALUES_MAX {
            return Err(Failure::invalid(format!("{path}: has more than {VALUES_MAX} values")));
        }
        let mut list: Vec<Operand> =
            list.iter().map(|value| operand(path, kind, value)).collect::<Result<_, _>>()?;
        list.sort_unstable();
        list.dedup();
        Ok::<_, Failure>(list)
    };
    Ok(match operator {
        "$eq" => Test::Equal(one()?),
        "$neq" => Test::NotEqual(one()?),
        "$exists" => Test::Exists(value == &Value::Bool(true)),
        "$in" => Test::In(many()?),
        "$notIn" => Test::NotIn(many()?),
        "$gt" => Test::Greater(one()?),
        "$gte" => Test::GreaterOrEqual(one()?),
        "$lt" => Test::Less(one()?),
        "$lte" => Test::LessOrEqual(one()?),
        "$like" => Test::Like(pattern(path, value)?),
        _ => return Err(Failure::invalid(format!("{path}: is no operator"))),
    })
}

fn pattern(path: &str, value: &Value) -> Result<Name, Failure> {
    let text = value.as_str().unwrap_or_default();
    if text.chars().count() > LIKE_CHARS_MAX {
        return Err(Failure::invalid(format!("{path}: is longer than {LIKE_CHARS_MAX} characters")));
    }
    Ok(Name::from(text))
}

fn operand(path: &str, kind: ValueKind, value: &Value) -> Result<Operand, Failure> {
    let text = value.as_str().unwrap_or_default();
    Ok(match kind {
        ValueKind::Text => Operand::Text(Name::from(text)),
        ValueKind::Flag => Operand::Integer(i64::from(value == &Value::Bool(true))),
        ValueKind::Integer => Operand::Integer(value.as_i64().unwrap_or_default()),
        // Nothing has a negative key, or one that is no number; that is no fault of a filter.
        ValueKind::Key if !text.bytes().all(|byte| byte.is_ascii_digit()) => Operand::Integer(-1),
        ValueKind::Key => Operand::Integer(parse_key(path, text)?.cast_signed()),
        ValueKind::Date => Operand::Integer(time(path, text)?),
    })
}

/// A moment in Unix milliseconds.
pub(super) fn time(path: &str, text: &str) -> Result<i64, Failure> {
    moment::parse(text).ok_or_else(|| Failure::invalid(format!("{path}: is no date and time with offset")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(field: InstanceField, test: Test) -> Condition {
        Condition { field, test }
    }

    fn text(text: &str) -> Operand {
        Operand::Text(Name::from(text))
    }

    #[test]
    fn every_property_and_operator() {
        use InstanceField as F;
        for (raw, wanted) in [
            (
                r#"{"processInstanceKey":"5"}"#,
                condition(F::ProcessInstanceKey, Test::Equal(Operand::Integer(5))),
            ),
            (
                r#"{"processInstanceKey":{"$in":["7","5","7"]}}"#,
                condition(F::ProcessInstanceKey, Test::In(vec![Operand::Integer(5), Operand::Integer(7)])),
            ),
            (
                r#"{"parentProcessInstanceKey":{"$notIn":["7"]}}"#,
                condition(F::ParentProcessInstanceKey, Test::NotIn(vec![Operand::Integer(7)])),
            ),
            (
                r#"{"parentElementInstanceKey":{"$exists":false}}"#,
                condition(F::ParentElementInstanceKey, Test::Exists(false)),
            ),
            (
                r#"{"processDefinitionKey":"-3"}"#,
                condition(F::ProcessDefinitionKey, Test::Equal(Operand::Integer(-1))),
            ),
            (
                r#"{"processDefinitionId":{"$neq":"a"}}"#,
                condition(F::ProcessDefinitionId, Test::NotEqual(text("a"))),
            ),
            (
                r#"{"processDefinitionName":{"$like":"a*"}}"#,
                condition(F::ProcessDefinitionName, Test::Like("a*".into())),
            ),
            (
                r#"{"processDefinitionVersion":{"$gt":2}}"#,
                condition(F::ProcessDefinitionVersion, Test::Greater(Operand::Integer(2))),
            ),
            (
                r#"{"processDefinitionVersionTag":"v"}"#,
                condition(F::ProcessDefinitionVersionTag, Test::Equal(text("v"))),
            ),
            (r#"{"tenantId":"t"}"#, condition(F::TenantId, Test::Equal(text("t")))),
            (r#"{"businessId":{"$eq":"b"}}"#, condition(F::BusinessId, Test::Equal(text("b")))),
            (r#"{"state":"ACTIVE"}"#, condition(F::State, Test::Equal(text("ACTIVE")))),
            (
                r#"{"startDate":{"$gte":"2026-01-01T00:00:00+01:00"}}"#,
                condition(F::StartDate, Test::GreaterOrEqual(Operand::Integer(1_767_222_000_000))),
            ),
            (r#"{"endDate":{"$exists":true}}"#, condition(F::EndDate, Test::Exists(true))),
            (r#"{"hasIncident":true}"#, condition(F::HasIncident, Test::Equal(Operand::Integer(1)))),
            (r#"{"errorMessage":"m"}"#, condition(F::ErrorMessage, Test::Equal(text("m")))),
            (
                r#"{"incidentErrorHashCode":{"$in":[7,-5]}}"#,
                condition(F::IncidentErrorHash, Test::In(vec![Operand::Integer(-5), Operand::Integer(7)])),
            ),
            (r#"{"elementId":"e"}"#, condition(F::ElementId, Test::Equal(text("e")))),
            (
                r#"{"elementInstanceState":"ACTIVE"}"#,
                condition(F::ElementInstanceState, Test::Equal(text("ACTIVE"))),
            ),
            (
                r#"{"hasElementInstanceIncident":false}"#,
                condition(F::HasElementInstanceIncident, Test::Equal(Operand::Integer(0))),
            ),
            (r#"{"tags":["x"]}"#, condition(F::Tag, Test::Equal(text("x")))),
            (
                r#"{"variables":[{"name":"v","value":"\"a\""}]}"#,
                condition(F::Variable("v".into()), Test::Equal(text("\"a\""))),
            ),
        ] {
            assert_eq!(parse(raw).unwrap(), InstanceFilter { all: vec![wanted], any: vec![] }, "{raw}");
        }
    }

    #[test]
    fn alternatives_and_several_operators() {
        let filter = parse(
            r#"{"processDefinitionVersion":{"$gte":1,"$lt":3,"$lte":4},"tenantId":null,"$or":[{"state":"ACTIVE"},{"businessId":"b"}]}"#,
        )
        .unwrap();
        assert_eq!(filter.all.len(), 3);
        assert_eq!(filter.any.len(), 2);
    }

    #[test]
    fn what_the_engine_cannot_answer_is_refused_by_name() {
        for (raw, wanted) in [
            (
                r#"{"$or":[{"hasRetriesLeft":true}]}"#,
                "filter.$or[0].hasRetriesLeft: not supported as a filter without secondary storage, since running instances do not hold this property",
            ),
            (
                r#"{"batchOperationKey":"1"}"#,
                "filter.batchOperationKey: not supported as a filter without secondary storage, since running instances do not hold this property",
            ),
            (r#"{"$or":[{}]}"#, "filter: at least one condition is required"),
            ("{}", "filter: at least one condition is required"),
            (
                r#"{"processInstanceKey":"99999999999999999999"}"#,
                "filter.processInstanceKey: a key has at most 64 bits",
            ),
        ] {
            assert_eq!(parse(raw).unwrap_err().detail, wanted, "{raw}");
        }
        let long = format!(r#"{{"businessId":{{"$like":"{}"}}}}"#, "a".repeat(1001));
        assert_eq!(
            parse(&long).unwrap_err().detail,
            "filter.businessId.$like: is longer than 1000 characters"
        );
        let empty = format!(r#"{{"state":"ACTIVE","$or":[{}]}}"#, vec!["{}"; 1000].join(","));
        assert_eq!(parse(&empty).unwrap_err().detail, "filter: it has 1001 conditions, more than 1000");
        let many = format!(r#"{{"tags":[{}]}}"#, vec![r#""a""#; 1001].join(","));
        assert_eq!(parse(&many).unwrap_err().detail, "filter: it has 1001 conditions, more than 1000");
    }
}
