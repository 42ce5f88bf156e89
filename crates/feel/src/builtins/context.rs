//! Functions of contexts (DMN 1.5 table 80, and Camunda's additions).

use super::argument::{self, context};
use super::builtin::{Builtin, Failure, Outcome, fixed, function, message, variadic};
use crate::evaluate::Evaluator;
use crate::value::{Context, List, Value};
use std::sync::Arc;

pub(super) const FUNCTIONS: &[Builtin] = &[
    function(
        "get value",
        &[fixed(&["context", "key"]), fixed(&["m", "key"]), fixed(&["context", "keys"])],
        get_value,
    ),
    function("get entries", &[fixed(&["context"]), fixed(&["m"])], get_entries),
    function(
        "context put",
        &[fixed(&["context", "key", "value"]), fixed(&["context", "keys", "value"])],
        put,
    ),
    function("put", &[fixed(&["context", "key", "value"])], put),
    function("context merge", &[variadic(&["contexts"])], merge),
    function("put all", &[variadic(&["contexts"])], merge),
];

fn get_value(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let source = context(&arguments[0])?;
    match &arguments[1] {
        Value::String(key) => Ok(source.get(key).into()),
        Value::List(keys) if keys.is_empty() => Ok(Value::Null),
        Value::List(keys) => {
            let mut value = arguments[0].clone();
            for key in keys {
                let (Some(key), Some(inner)) = (key.as_str(), value.as_context()) else {
                    return Ok(Value::Null);
                };
                evaluator.search_context(inner)?;
                value = inner.get(key).unwrap_or_default();
            }
            Ok(value)
        }
        _ => Err(Failure::Illegal),
    }
}

fn get_entries(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let source = context(&arguments[0])?;
    let (key_name, value_name): (Arc<str>, Arc<str>) = (Arc::from("key"), Arc::from("value"));
    let mut entries = Vec::with_capacity(source.len());
    for (key, value) in source {
        let entry = vec![(key_name.clone(), Value::String(key.clone())), (value_name.clone(), value.clone())];
        entries.push(evaluator.new_context(entry)?);
    }
    Ok(evaluator.new_list(entries)?)
}

fn put(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let target = context(&arguments[0])?;
    match &arguments[1] {
        Value::String(key) => {
            evaluator.hold_context(target.len() + 1)?;
            Ok(evaluator.check_extent(target.with(key, arguments[2].clone()).into())?)
        }
        Value::List(keys) if keys.is_empty() => message("The context path must not be empty."),
        Value::List(keys) => put_path(evaluator, target, keys, &arguments[2]),
        _ => Err(Failure::Illegal),
    }
}

/// Sets a value inside of contexts in contexts, made where there are none.
fn put_path(evaluator: &mut Evaluator<'_>, target: &Context, keys: &List, value: &Value) -> Outcome {
    let mut path: Vec<(Context, &str)> = Vec::with_capacity(keys.len());
    let mut inner = target.clone();
    for key in keys {
        let key = argument::text(key)?;
        evaluator.open_context(&inner)?;
        let next = inner.get(key);
        path.push((inner, key));
        inner = match next {
            Some(Value::Context(next)) => next,
            Some(_) if evaluator.is_standard() && path.len() < keys.len() => return Err(Failure::Illegal),
            _ => Context::new(Vec::new()),
        };
    }
    let mut result = value.clone();
    for (outer, key) in path.into_iter().rev() {
        evaluator.spend(outer.len())?;
        evaluator.hold_context(outer.len() + 1)?;
        result = evaluator.check_extent(outer.with(key, result).into())?;
    }
    Ok(result)
}

fn merge(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let mut entries = Vec::new();
    for source in argument::list(&arguments[0])? {
        let source = context(source)?;
        evaluator.open_context(source)?;
        evaluator.spend(2 * source.len())?;
        evaluator.hold_context(source.len())?;
        entries.extend(source.iter().cloned());
    }
    Ok(evaluator.new_context(entries)?)
}
