//! Rows that meet a condition.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};

use protocol::Name;
use search::model::{ColumnId, Entity, Kind};
use search::{Operand, Test, Value};

use super::bytes::read_number;
use super::column::{Column, is_null};
use super::rows::{Opened, PackedRows};
use super::texts::hash;
use super::{Condition, PackError, Relation};

/// The packs of the things of one group: one for each entity that has rows.
pub(crate) trait Group {
    /// The values of a column in the rows of an entity that meet a condition.
    fn values(
        &self,
        entity: &'static Entity,
        column: ColumnId,
        condition: &Condition,
    ) -> Result<HashSet<Value>, PackError>;
}

/// The rows that meet a condition, in their order.
pub(crate) fn select(
    pack: &Opened<'_>,
    condition: &Condition,
    group: &dyn Group,
) -> Result<Vec<u32>, PackError> {
    if !may_be_met(pack, condition) {
        return Ok(Vec::new());
    }
    retain((0..pack.pack.rows as u32).collect(), pack, condition, group)
}

/// Whether a row may meet a condition, by the different values of the columns that have few.
fn may_be_met(pack: &Opened<'_>, condition: &Condition) -> bool {
    match condition {
        Condition::All(all) => all.iter().all(|condition| may_be_met(pack, condition)),
        Condition::Any(any) => any.iter().any(|condition| may_be_met(pack, condition)),
        Condition::Related { .. } => true,
        Condition::Column { column, kind, test } => match pack.pack.column(*column) {
            Column::Same(value) => value_passes(value, *kind, test),
            Column::Names { names, beside: None, .. } => {
                value_passes(&Value::Null, *kind, test)
                    || names_that_pass(names, *kind, test).any(|is_met| is_met)
            }
            Column::Numbers { .. } | Column::Names { .. } | Column::Texts(_) => true,
        },
    }
}

/// Whether each of some texts passes a test.
fn names_that_pass(names: &[Name], kind: Kind, test: &Test) -> impl Iterator<Item = bool> {
    let wanted = match test {
        Test::Equal(Operand::Text(text)) if kind != Kind::List => Some(text),
        _ => None,
    };
    names.iter().map(move |name| match wanted {
        Some(wanted) => name == wanted,
        None => value_passes(&Value::Text(name.clone()), kind, test),
    })
}

fn retain(
    mut rows: Vec<u32>,
    pack: &Opened<'_>,
    condition: &Condition,
    group: &dyn Group,
) -> Result<Vec<u32>, PackError> {
    match condition {
        Condition::All(all) => {
            for condition in all {
                if rows.is_empty() {
                    break;
                }
                rows = retain(rows, pack, condition, group)?;
            }
            Ok(rows)
        }
        Condition::Any(any) => {
            let mut rest = rows;
            let mut met = Vec::new();
            for condition in any {
                if rest.is_empty() {
                    break;
                }
                let these = retain(rest.clone(), pack, condition, group)?;
                rest.retain(|row| these.binary_search(row).is_err());
                met.extend(these);
            }
            met.sort_unstable();
            Ok(met)
        }
        Condition::Column { column, kind, test } => {
            retain_column(&mut rows, pack, *column, *kind, test)?;
            Ok(rows)
        }
        Condition::Related { column, relation, exists } => {
            let beside;
            let values = match relation {
                Relation::Values(values) => &**values,
                Relation::Beside { entity, other, condition } => {
                    beside = group.values(entity, *other, condition)?;
                    &beside
                }
            };
            if values.is_empty() && *exists {
                return Ok(Vec::new());
            }
            try_retain(&mut rows, |row| {
                let value = pack.value(*column, row)?;
                Ok((value != Value::Null && values.contains(&value)) == *exists)
            })?;
            Ok(rows)
        }
    }
}

fn try_retain(
    rows: &mut Vec<u32>,
    mut keep: impl FnMut(usize) -> Result<bool, PackError>,
) -> Result<(), PackError> {
    let mut failure = None;
    rows.retain(|row| {
        failure.is_none()
            && keep(*row as usize).unwrap_or_else(|error| {
                failure = Some(error);
                false
            })
    });
    failure.map_or(Ok(()), Err)
}

fn retain_column(
    rows: &mut Vec<u32>,
    opened: &Opened<'_>,
    column: ColumnId,
    kind: Kind,
    test: &Test,
) -> Result<(), PackError> {
    let pack = opened.pack;
    let passes = |value: &Value| value_passes(value, kind, test);
    match pack.column(column) {
        Column::Same(_) | Column::Names { .. } => retain_values(rows, opened, column, passes)?,
        Column::Numbers { .. } => {
            rows.retain(|row| number_passes(pack.integer(column, *row as usize), test));
        }
        Column::Texts(texts) => {
            // The hash decides where it can, so that few texts are read.
            let wanted: Option<BTreeSet<u32>> = match test {
                _ if kind == Kind::List => None,
                Test::Equal(Operand::Text(text)) => Some([hash(text)].into()),
                Test::In(operands) => Some(operands.iter().filter_map(hash_of).collect()),
                _ => None,
            };
            let is_null = |row: usize| is_null(&pack.bytes, texts.nulls.as_ref(), row);
            let passes_null = OnceCell::new();
            try_retain(rows, |row| {
                if is_null(row) {
                    return Ok(*passes_null.get_or_init(|| passes(&Value::Null)));
                }
                if matches!(test, Test::Exists(_)) {
                    return Ok(passes(&Value::from("")));
                }
                if let Some(wanted) = &wanted {
                    let at = texts.hashes + row * 4;
                    if !wanted.contains(&(read_number(&pack.bytes[at..at + 4]) as u32)) {
                        return Ok(false);
                    }
                }
                opened.with_text(column, row, |text| passes(&Value::from(text)))
            })?;
        }
    }
    Ok(())
}

/// Keeps the rows whose text, by its number, passes.
fn retain_codes(
    rows: &mut Vec<u32>,
    pack: &PackedRows,
    (width, at): (usize, usize),
    is_met: &[bool],
) -> Result<(), PackError> {
    let mut is_known = true;
    rows.retain(|row| {
        let met = is_met.get(pack.code(width, at, *row as usize));
        is_known &= met.is_some();
        met.copied().unwrap_or(false)
    });
    if is_known { Ok(()) } else { Err(PackError::Damaged("a text has an unknown number")) }
}

/// Keeps the rows whose value in a column passes. Of a column with few different values, each is looked at once.
pub(crate) fn retain_values(
    rows: &mut Vec<u32>,
    opened: &Opened<'_>,
    column: ColumnId,
    passes: impl Fn(&Value) -> bool,
) -> Result<(), PackError> {
    match opened.pack.column(column) {
        Column::Same(value) => {
            if !passes(value) {
                rows.clear();
            }
            Ok(())
        }
        Column::Names { names, width, at, beside: None } => {
            let of_names = names.iter().map(|name| passes(&Value::Text(name.clone())));
            let is_met: Vec<bool> = std::iter::once(passes(&Value::Null)).chain(of_names).collect();
            retain_codes(rows, opened.pack, (*width, *at), &is_met)
        }
        Column::Numbers { .. } | Column::Names { .. } | Column::Texts(_) => {
            try_retain(rows, |row| Ok(passes(&opened.value(column, row)?)))
        }
    }
}

fn hash_of(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::Text(text) => Some(hash(text)),
        Operand::Integer(_) => None,
    }
}

fn number_passes(number: Option<i64>, test: &Test) -> bool {
    match (number, test) {
        (Some(number), Test::Equal(Operand::Integer(wanted))) => number == *wanted,
        (number, test) => test.is_met_by(number.map(Operand::Integer).as_ref()),
    }
}

/// A test on a list asks whether an element passes; one that wants something not to be, whether none is it.
fn value_passes(value: &Value, kind: Kind, test: &Test) -> bool {
    let operand = match value {
        Value::Null => None,
        Value::Integer(number) => Some(Operand::Integer(*number)),
        Value::Text(text) => Some(Operand::Text(text.clone())),
    };
    if kind != Kind::List || matches!(test, Test::Exists(_)) {
        return test.is_met_by(operand.as_ref());
    }
    let elements: Vec<String> =
        value.text().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let any = |test: &Test| {
        elements.iter().any(|text| test.is_met_by(Some(&Operand::Text(Name::from(text.as_str())))))
    };
    match test {
        Test::NotEqual(unwanted) => !any(&Test::Equal(unwanted.clone())),
        Test::NotIn(unwanted) => !any(&Test::In(unwanted.clone())),
        test => any(test),
    }
}
