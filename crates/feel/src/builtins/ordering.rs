//! Aggregations of a list of numbers, and extremes (DMN 1.5 table 75).

use super::argument::{list, number};
use super::builtin::{Builtin, Failure, Outcome, function, or_message, variadic};
use super::list::order;
use crate::evaluate::{Evaluator, Fatal};
use crate::number::Number;
use crate::value::{List, Value};
use std::cmp::Ordering;

pub(super) const FUNCTIONS: &[Builtin] = &[
    function("min", &[variadic(&["list"])], min),
    function("max", &[variadic(&["list"])], max),
    function("sum", &[variadic(&["list"])], sum),
    function("product", &[variadic(&["list"])], product),
    function("mean", &[variadic(&["list"])], mean),
    function("median", &[variadic(&["list"])], median),
    function("stddev", &[variadic(&["list"])], stddev),
    function("mode", &[variadic(&["list"])], mode),
];

fn extreme(arguments: &[Value], wanted: Ordering) -> Outcome {
    let mut items = list(&arguments[0])?.iter();
    let Some(mut best) = items.next() else { return Ok(Value::Null) };
    order(best, best).ok_or(Failure::Illegal)?;
    for item in items {
        if order(item, best).ok_or(Failure::Illegal)? == wanted {
            best = item;
        }
    }
    Ok(best.clone())
}

fn min(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    evaluator.walk(&arguments[0])?;
    extreme(arguments, Ordering::Less)
}

fn max(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    evaluator.walk(&arguments[0])?;
    extreme(arguments, Ordering::Greater)
}

/// Steps for each number of a list that is aggregated or sorted.
const NUMBER_STEPS: usize = 6;

fn pay(evaluator: &mut Evaluator<'_>, numbers: &Value) -> Result<(), Failure> {
    let count = numbers.as_list().map_or(0, List::len);
    Ok(evaluator.spend(NUMBER_STEPS * count)?)
}

fn numbers(value: &Value) -> Result<Vec<Number>, Failure> {
    list(value)?.iter().map(number).collect()
}

fn out_of_range() -> String {
    "the result is out of range".to_owned()
}

fn total(numbers: &[Number]) -> Option<Number> {
    numbers.iter().try_fold(Number::ZERO, |sum, number| sum.plus(*number))
}

fn average(numbers: &[Number]) -> Option<Number> {
    total(numbers)?.divided_by(numbers.len().into())
}

fn sum(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let mut items = list(&arguments[0])?.iter();
    let Some(first) = items.next() else { return Ok(Value::Null) };
    // Without a vector: sums over lists are frequent.
    let mut sum = Some(number(first)?);
    for item in items {
        let item = number(item)?;
        sum = sum.and_then(|sum| sum.plus(item));
    }
    or_message(sum, out_of_range)
}

fn product(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    pay(evaluator, &arguments[0])?;
    let numbers = numbers(&arguments[0])?;
    if numbers.is_empty() {
        return Ok(Value::Null);
    }
    or_message(numbers.into_iter().try_fold(Number::ONE, Number::times), out_of_range)
}

fn mean(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    pay(evaluator, &arguments[0])?;
    let numbers = numbers(&arguments[0])?;
    if numbers.is_empty() {
        return Ok(Value::Null);
    }
    or_message(average(&numbers), out_of_range)
}

fn median(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    pay(evaluator, &arguments[0])?;
    let mut numbers = numbers(&arguments[0])?;
    numbers.sort();
    let middle = numbers.len() / 2;
    match numbers.len() {
        0 => Ok(Value::Null),
        length if length % 2 == 1 => Ok(numbers[middle].into()),
        _ => or_message(average(&numbers[middle - 1..=middle]), out_of_range),
    }
}

/// Of a sample: divided by one less than the number of items.
fn stddev(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    pay(evaluator, &arguments[0])?;
    let numbers = numbers(&arguments[0])?;
    match numbers.len() {
        0 => return Ok(Value::Null),
        1 if evaluator.is_standard() => return Err(Failure::Illegal),
        1 => {
            return Err(Failure::Fatal(Fatal::new(
                "the standard deviation of a single number is not defined",
            )));
        }
        _ => {}
    }
    let deviation = || {
        let mean = average(&numbers)?;
        let mut squares = Number::ZERO;
        for number in &numbers {
            let difference = number.minus(mean)?;
            squares = squares.plus(difference.times(difference)?)?;
        }
        squares.divided_by((numbers.len() - 1).into())?.square_root()
    };
    or_message(deviation(), out_of_range)
}

/// The numbers that occur most often, ascending.
fn mode(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    pay(evaluator, &arguments[0])?;
    let mut numbers = numbers(&arguments[0])?;
    numbers.sort();
    let runs: Vec<&[Number]> = numbers.chunk_by(|left, right| left == right).collect();
    let most = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    let modes = runs.into_iter().filter(|run| run.len() == most).map(|run| run[0].into()).collect();
    Ok(Value::list(modes))
}
