//! Hit policies: combine the outputs of the matching rules (DMN 1.5 §8.2.10, §8.2.11).

use super::{Run, Step, Stop};
use crate::model::{HitPolicy, Table};
use feel::{Number, Value};

/// The outputs of a rule, one for each column.
type Outputs = Vec<Value>;

impl Run<'_> {
    /// The result of at least one match.
    pub(super) fn apply_hit_policy(&mut self, table: &Table, mut hits: Vec<Outputs>) -> Step<Value> {
        match table.hit_policy {
            HitPolicy::First => {}
            HitPolicy::Unique => {
                if hits.len() > 1 {
                    return Err(refuse("multiple values aren't allowed for UNIQUE hit policy", table, hits));
                }
            }
            HitPolicy::Any => {
                if hits.iter().any(|outputs| *outputs != hits[0]) {
                    return Err(refuse("different values aren't allowed for ANY hit policy", table, hits));
                }
            }
            HitPolicy::Priority => sort_by_priority(table, &mut hits),
            HitPolicy::OutputOrder => {
                sort_by_priority(table, &mut hits);
                return Ok(list(table, hits));
            }
            HitPolicy::RuleOrder | HitPolicy::Collect => return Ok(list(table, hits)),
            HitPolicy::Count => return Ok(Value::from(hits.len() as i64)),
            HitPolicy::Sum => {
                let numbers = numbers(table, hits)?;
                let zero = Number::from(0);
                let sum = numbers.into_iter().try_fold(zero, Number::plus);
                return sum.map(Value::from).ok_or_else(|| Stop::new("the sum is too large"));
            }
            HitPolicy::Min => return Ok(Value::from(numbers(table, hits)?.into_iter().min())),
            HitPolicy::Max => return Ok(Value::from(numbers(table, hits)?.into_iter().max())),
        }
        let first = hits.into_iter().next().unwrap_or_default();
        Ok(compound(table, first))
    }
}

fn refuse(reason: &str, table: &Table, hits: Vec<Outputs>) -> Stop {
    let found = list(table, hits).to_short_text();
    Stop::new(format!("{reason}. found: '{found}'"))
}

/// One output is a bare value, several are a context.
fn compound(table: &Table, mut outputs: Outputs) -> Value {
    if table.outputs.len() == 1 {
        return outputs.pop().unwrap_or_default();
    }
    Value::context(table.outputs.iter().map(|column| column.name.clone()).zip(outputs))
}

fn list(table: &Table, hits: Vec<Outputs>) -> Value {
    Value::list(hits.into_iter().map(|outputs| compound(table, outputs)).collect())
}

fn numbers(table: &Table, hits: Vec<Outputs>) -> Step<Vec<Number>> {
    if table.outputs.len() > 1 {
        return Err(refuse("multiple values aren't allowed", table, hits));
    }
    let values = hits.into_iter().flatten();
    values
        .map(|value| {
            let number = value.as_number();
            number.ok_or_else(|| Stop::new(format!("expected number but found '{}'", value.to_short_text())))
        })
        .collect()
}

/// Orders by the position of each output among the values listed for its column, the first column first; unlisted
/// values come last.
fn sort_by_priority(table: &Table, hits: &mut [Outputs]) {
    hits.sort_by_cached_key(|outputs| -> Vec<usize> {
        let columns = table.outputs.iter().zip(outputs);
        columns
            .map(|(column, output)| {
                column.priorities.iter().position(|value| value == output).unwrap_or(usize::MAX)
            })
            .collect()
    });
}
