//! Rows as the contract shows them.

use protocol::Name;
use search::model::{ColumnId, Entity, EntityId, Kind as ColumnKind, VALUE_CHARS_MAX, decision_instance};
use search::{Row, Value};

use super::super::contract::{Kind, Object, Schema};
use super::super::writer::{cut, write_flag, write_integer, write_key, write_text, write_time};

/// Properties that clients of 8.10 know by another name than its published contract, and so the columns.
const RENAMED: &[(&str, &str)] = &[("jobLeaseToken", "jobLease")];

/// Keys that are there as a number even if there is none: clients of 8.8 and 8.9 read them without a look for `null`.
const NUMBERS: &[(EntityId, ColumnId)] = &[
    (EntityId::DecisionInstance, decision_instance::DEFINITION_KEY),
    (EntityId::DecisionInstance, decision_instance::INSTANCE_KEY),
    (EntityId::DecisionInstance, decision_instance::ELEMENT_KEY),
];
/// The key of nothing, for such clients.
pub(super) const NO_KEY: i64 = -1;

/// Whether a key of nothing is shown as [`NO_KEY`].
pub(super) fn is_number(entity: &Entity, column: ColumnId) -> bool {
    NUMBERS.contains(&(entity.id, column))
}

/// The column that a property shows.
fn column(entity: &Entity, property: &str) -> Option<ColumnId> {
    let renamed = RENAMED.iter().find_map(|(name, column)| (*name == property).then_some(*column));
    entity.column(renamed.unwrap_or(property))
}

/// The columns that an object shows, one bit each.
pub(super) fn columns(entity: &Entity, shown: &Object) -> u64 {
    let shown = shown.properties.iter().filter_map(|property| column(entity, property.name));
    shown.fold(1, |columns, column| columns | 1 << column)
}

/// Writes a row with the properties of the contract, in its order.
pub(super) fn object(entity: &Entity, shown: &'static Object, row: &Row, is_cut: bool, out: &mut Vec<u8>) {
    out.push(b'{');
    for property in shown.properties {
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(property.name.as_bytes());
        out.extend_from_slice(b"\":");
        match column(entity, property.name) {
            Some(column) if is_cut && property.name == "value" => {
                let text = row[column as usize].text().map_or("", Name::as_str);
                write_text(cut(text, VALUE_CHARS_MAX).0, out);
            }
            // The row tells of its value, the answer of what it shows of it.
            Some(_) if !is_cut && property.name == "isTruncated" => write_flag(false, out),
            Some(column) => value(entity, column, row, property.schema, out),
            None => absent(property.schema, out),
        }
    }
    out.push(b'}');
}

fn value(entity: &Entity, column: ColumnId, row: &Row, schema: &'static Schema, out: &mut Vec<u8>) {
    match (&row[column as usize], entity.columns[column as usize].kind) {
        (Value::Null, _) if is_number(entity, column) => {
            out.push(b'"');
            write_integer(NO_KEY, out);
            out.push(b'"');
        }
        (Value::Null, _) => absent(schema, out),
        (Value::Integer(number), ColumnKind::Key) => write_key(number.cast_unsigned(), out),
        (Value::Integer(number), ColumnKind::Time) => write_time(*number, out),
        (Value::Integer(number), ColumnKind::Flag) => write_flag(*number > 0, out),
        (Value::Integer(number), _) => write_integer(*number, out),
        (Value::Text(text), ColumnKind::Json | ColumnKind::List) => out.extend_from_slice(text.as_bytes()),
        (Value::Text(text), _) => match &schema.kind {
            // The contract has no name for some.
            Kind::Enum(names) if !names.contains(&text.as_str()) => {
                write_text(if names.contains(&"UNKNOWN") { "UNKNOWN" } else { names[0] }, out);
            }
            _ => write_text(text, out),
        },
    }
}

/// Values for absent properties.
fn absent(schema: &'static Schema, out: &mut Vec<u8>) {
    if schema.nullable {
        return out.extend_from_slice(b"null");
    }
    match &schema.kind {
        Kind::Boolean => write_flag(false, out),
        Kind::Integer { min, .. } => write_integer((*min).max(0), out),
        Kind::Array(_) => out.extend_from_slice(b"[]"),
        Kind::Object(_) => out.extend_from_slice(b"{}"),
        Kind::Enum(names) => write_text(if names.contains(&"UNKNOWN") { "UNKNOWN" } else { names[0] }, out),
        Kind::Text(_) => write_text("", out),
        Kind::Any | Kind::Number | Kind::Choice(_) => out.extend_from_slice(b"null"),
    }
}
