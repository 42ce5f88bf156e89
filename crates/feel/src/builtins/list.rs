//! Functions of lists (DMN 1.5 table 75, and Camunda's additions). Aggregations are in `ordering`.

use super::argument::{integer, list};
use super::builtin::{Builtin, Failure, Outcome, fixed, function, message, variadic};
use crate::evaluate::{Evaluator, compare};
use crate::value::{List, Value};
use std::cmp::Ordering;

pub(super) const FUNCTIONS: &[Builtin] = &[
    function("list contains", &[fixed(&["list", "element"])], list_contains),
    function("count", &[fixed(&["list"])], count),
    function("is empty", &[fixed(&["list"])], is_empty),
    function("and", &[variadic(&["list"])], all),
    function("all", &[variadic(&["list"])], all),
    function("or", &[variadic(&["list"])], any),
    function("any", &[variadic(&["list"])], any),
    function(
        "sublist",
        &[
            fixed(&["list", "start position"]),
            fixed(&["list", "start position", "length"]),
            fixed(&["list", "start"]),
            fixed(&["list", "start", "length"]),
        ],
        sublist,
    ),
    function("append", &[variadic(&["list", "items"])], append),
    function("concatenate", &[variadic(&["lists"])], concatenate),
    function("insert before", &[fixed(&["list", "position", "newItem"])], insert_before),
    function("remove", &[fixed(&["list", "position"])], remove),
    function(
        "list replace",
        &[fixed(&["list", "position", "newItem"]), fixed(&["list", "match", "newItem"])],
        list_replace,
    ),
    function("reverse", &[fixed(&["list"])], reverse),
    function("index of", &[fixed(&["list", "match"])], index_of),
    function("union", &[variadic(&["lists"])], union),
    function("distinct values", &[fixed(&["list"])], distinct_values),
    function("duplicate values", &[fixed(&["list"])], duplicate_values),
    function("flatten", &[fixed(&["list"])], flatten),
    function("sort", &[fixed(&["list", "precedes"])], sort),
    function("partition", &[fixed(&["list", "size"])], partition),
];

fn list_contains(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let items = list(&arguments[0])?;
    evaluator.spend(items.len())?;
    for item in items {
        if evaluator.equals(item, &arguments[1])? == Some(true) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn count(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok((list(&arguments[0])?.len() as i64).into())
}

fn is_empty(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::Bool(list(&arguments[0])?.is_empty()))
}

/// Ternary logic over a list; `neutral` is the result for the empty one.
fn ternary(arguments: &[Value], neutral: bool) -> Outcome {
    let items = list(&arguments[0])?;
    let mut unknown = false;
    for item in items {
        match item.as_bool() {
            Some(value) if value != neutral => return Ok(Value::Bool(value)),
            Some(_) => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { Value::Null } else { Value::Bool(neutral) })
}

fn all(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    ternary(arguments, true)
}

fn any(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    ternary(arguments, false)
}

/// The place from 0 of a position from 1, or from -1 backwards; it may lie behind the end.
fn place(length: usize, position: i64) -> Option<usize> {
    match position {
        0 => None,
        1.. => usize::try_from(position - 1).ok(),
        _ => length.checked_sub(usize::try_from(position.unsigned_abs()).ok()?),
    }
}

fn sublist(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (items, start) = (list(&arguments[0])?, integer(&arguments[1])?);
    if start == 0 {
        return message("start position must be a non-zero number");
    }
    let from = place(items.len(), start).filter(|from| *from <= items.len());
    let Some(from) = from else {
        return if evaluator.is_standard() {
            message("start position is outside of the list")
        } else {
            Ok(evaluator.new_list(Vec::new())?)
        };
    };
    let rest = &items.items()[from..];
    let length = match arguments.get(2) {
        None => rest.len(),
        Some(length) => usize::try_from(integer(length)?).unwrap_or(0).min(rest.len()),
    };
    Ok(evaluator.new_list(rest[..length].to_vec())?)
}

fn append(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let mut items = list(&arguments[0])?.items().to_vec();
    items.extend(list(&arguments[1])?.iter().cloned());
    Ok(evaluator.new_list(items)?)
}

fn concatenate(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let mut items = Vec::new();
    for part in list(&arguments[0])? {
        if evaluator.is_lenient() && !matches!(part, Value::List(_) | Value::Null) {
            evaluator.spend(1)?;
            evaluator.hold_items(1)?;
            items.push(part.clone());
            continue;
        }
        let part = list(part)?;
        evaluator.open_list(part)?;
        evaluator.spend(part.len())?;
        evaluator.hold_items(part.len())?;
        items.extend(part.iter().cloned());
    }
    Ok(evaluator.end_list(items)?)
}

fn insert_before(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (items, position) = (list(&arguments[0])?, integer(&arguments[1])?);
    if position == 0 {
        return message("position must be a non-zero number");
    }
    let mut items = items.items().to_vec();
    match place(items.len(), position).filter(|place| *place <= items.len()) {
        Some(place) => items.insert(place, arguments[2].clone()),
        None if position > 0 && evaluator.is_lenient() => items.push(arguments[2].clone()),
        None => return message("position is outside of the list"),
    }
    Ok(evaluator.new_list(items)?)
}

fn remove(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (items, position) = (list(&arguments[0])?, integer(&arguments[1])?);
    if position == 0 {
        return message("position must be a non-zero number");
    }
    let mut items = items.items().to_vec();
    match place(items.len(), position).filter(|place| *place < items.len()) {
        Some(place) => drop(items.remove(place)),
        None if position > 0 && evaluator.is_lenient() => {}
        None => return message("position is outside of the list"),
    }
    Ok(evaluator.new_list(items)?)
}

/// DMN 1.5 table 75; the second argument is a position or a function that picks items.
fn list_replace(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let items = list(&arguments[0])?;
    let mut replaced = items.items().to_vec();
    match &arguments[1] {
        Value::Number(position) => {
            let place = place(items.len(), position.truncate_to_i64());
            match place.and_then(|place| replaced.get_mut(place)) {
                Some(item) => *item = arguments[2].clone(),
                None => return message("position is outside of the list"),
            }
        }
        Value::Function(matches) if matches.parameters().len() == 2 => {
            for item in &mut replaced {
                match evaluator.invoke(matches, &[item.clone(), arguments[2].clone()])? {
                    Value::Bool(true) => *item = arguments[2].clone(),
                    Value::Bool(false) => {}
                    _ => return Err(Failure::Illegal),
                }
            }
        }
        _ => return Err(Failure::Illegal),
    }
    Ok(evaluator.new_list(replaced)?)
}

fn reverse(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(evaluator.new_list(list(&arguments[0])?.iter().rev().cloned().collect())?)
}

fn index_of(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let mut positions = Vec::new();
    evaluator.spend(list(&arguments[0])?.len())?;
    for (index, item) in list(&arguments[0])?.iter().enumerate() {
        if evaluator.equals(item, &arguments[1])? == Some(true) {
            positions.push((index as i64 + 1).into());
        }
    }
    Ok(evaluator.new_list(positions)?)
}

/// Whether an equal value is among the items; pays for each comparison.
fn is_among(evaluator: &mut Evaluator<'_>, items: &[Value], value: &Value) -> Result<bool, Failure> {
    evaluator.spend(items.len())?;
    for item in items {
        if evaluator.equals(item, value)? == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn distinct(evaluator: &mut Evaluator<'_>, items: &List, kept: &mut Vec<Value>) -> Result<(), Failure> {
    for item in items {
        if !is_among(evaluator, kept, item)? {
            kept.push(item.clone());
        }
    }
    Ok(())
}

fn union(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let mut kept = Vec::new();
    for part in list(&arguments[0])? {
        evaluator.open_list(list(part)?)?;
        distinct(evaluator, list(part)?, &mut kept)?;
    }
    Ok(evaluator.new_list(kept)?)
}

fn distinct_values(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let mut kept = Vec::new();
    distinct(evaluator, list(&arguments[0])?, &mut kept)?;
    Ok(evaluator.new_list(kept)?)
}

fn duplicate_values(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let items = list(&arguments[0])?.items();
    let mut duplicates = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if is_among(evaluator, &items[index + 1..], item)? && !is_among(evaluator, &duplicates, item)? {
            duplicates.push(item.clone());
        }
    }
    Ok(evaluator.new_list(duplicates)?)
}

fn flatten(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let mut flat = Vec::new();
    flatten_into(evaluator, list(&arguments[0])?, &mut flat)?;
    Ok(evaluator.end_list(flat)?)
}

/// Recursion is bounded by the depth of values.
fn flatten_into(evaluator: &mut Evaluator<'_>, items: &List, flat: &mut Vec<Value>) -> Result<(), Failure> {
    evaluator.open_list(items)?;
    evaluator.spend(items.len())?;
    evaluator.hold_items(items.len())?;
    for item in items {
        match item {
            Value::List(inner) => flatten_into(evaluator, inner, flat)?,
            other => flat.push(other.clone()),
        }
    }
    Ok(())
}

/// A merge sort from below: stable, and it stops at the first failure of the function.
fn sort(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let mut items = list(&arguments[0])?.items().to_vec();
    let precedes = arguments[1].as_function().ok_or(Failure::Illegal)?;
    if precedes.parameters().len() != 2 {
        return Err(Failure::Illegal);
    }
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some(first), Some(second)) = (left.first(), right.first()) {
                match evaluator.invoke(precedes, &[second.clone(), first.clone()])? {
                    Value::Bool(true) => {
                        merged.push(second.clone());
                        right = &right[1..];
                    }
                    Value::Bool(false) => {
                        merged.push(first.clone());
                        left = &left[1..];
                    }
                    _ => return Err(Failure::Illegal),
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        evaluator.spend(merged.len())?;
        items = merged;
        width *= 2;
    }
    Ok(evaluator.new_list(items)?)
}

fn partition(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (items, size) = (list(&arguments[0])?, integer(&arguments[1])?);
    let Some(size) = usize::try_from(size).ok().filter(|size| *size > 0) else {
        return message(format!("'size' should be greater than zero but was '{size}'"));
    };
    let mut parts = Vec::with_capacity(items.len().div_ceil(size));
    for part in items.items().chunks(size) {
        parts.push(evaluator.new_list(part.to_vec())?);
    }
    Ok(evaluator.new_list(parts)?)
}

/// The order of two values for sorting; `None` if they have none.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    compare::order(left, right)
}
