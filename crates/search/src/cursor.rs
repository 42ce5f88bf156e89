//! Cursors: where a page ended, as text that clients hand back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use protocol::Name;
use serde_json::Value as Json;

use crate::model::{ColumnId, Entity, Kind, ORDER_CHARS};
use crate::query::{Row, Sort};
use crate::value::Value;

/// The longest text that is looked at.
const LENGTH_MAX: usize = 64 * 1024;

/// The cursor of a row. It is bound to the order of the search that found it.
pub fn encode(entity: &Entity, sort: &[Sort], row: &Row) -> String {
    let mut parts = vec![Json::from(fingerprint(entity, sort))];
    parts.extend(columns(sort).map(|column| match &row[column] {
        Value::Null => Json::Null,
        Value::Integer(number) => Json::from(*number),
        Value::Text(text) if entity.is_cut(column as ColumnId) => Json::from(beginning(text)),
        Value::Text(text) => Json::from(text.as_str()),
    }));
    BASE64.encode(Json::from(parts).to_string())
}

/// Reads a cursor; `None` if it is of another order, or no cursor at all.
pub fn decode(entity: &Entity, sort: &[Sort], cursor: &str) -> Option<Vec<Value>> {
    if cursor.len() > LENGTH_MAX {
        return None;
    }
    let bytes = BASE64.decode(cursor).ok()?;
    let Json::Array(parts) = serde_json::from_slice(&bytes).ok()? else { return None };
    let (first, values) = parts.split_first()?;
    if first.as_str()? != fingerprint(entity, sort) || values.len() != sort.len() + 1 {
        return None;
    }
    values
        .iter()
        .zip(columns(sort))
        .map(|(value, column)| value_of(value, entity.columns[column].kind))
        .collect()
}

fn value_of(value: &Json, kind: Kind) -> Option<Value> {
    match value {
        Json::Null => Some(Value::Null),
        Json::Number(number) if kind.is_integer() => number.as_i64().map(Value::Integer),
        Json::String(text) if !kind.is_integer() => Some(Value::Text(Name::from(text.as_str()))),
        _ => None,
    }
}

/// As much of a long text as orders look at.
fn beginning(text: &str) -> &str {
    text.char_indices().nth(ORDER_CHARS).map_or(text, |(end, _)| &text[..end])
}

/// The sort columns, then the identity.
fn columns(sort: &[Sort]) -> impl Iterator<Item = usize> {
    sort.iter().map(|sort| sort.column as usize).chain([0])
}

fn fingerprint(entity: &Entity, sort: &[Sort]) -> String {
    let mut text = entity.name.to_owned();
    for Sort { column, descending } in sort {
        text.push(if *descending { '-' } else { '+' });
        text.push_str(entity.columns[*column as usize].name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::process_instance as instance;

    const SORT: &[Sort] = &[
        Sort { column: instance::END, descending: true },
        Sort { column: instance::BUSINESS_ID, descending: false },
    ];

    fn row() -> Row {
        let mut row = vec![Value::Null; instance::ENTITY.columns.len()];
        row[0] = 7_i64.into();
        row[instance::BUSINESS_ID as usize] = "a\"b".into();
        row
    }

    #[test]
    fn a_cursor_comes_back() {
        let cursor = encode(&instance::ENTITY, SORT, &row());
        assert_eq!(
            decode(&instance::ENTITY, SORT, &cursor),
            Some(vec![Value::Null, "a\"b".into(), 7_i64.into()])
        );
    }

    #[test]
    fn cursors_from_elsewhere_are_refused() {
        let cursor = encode(&instance::ENTITY, SORT, &row());
        assert_eq!(decode(&instance::ENTITY, &SORT[..1], &cursor), None);
        assert_eq!(decode(&crate::model::job::ENTITY, SORT, &cursor), None);
        for text in ["", "?", "AAAA", &BASE64.encode("[]"), &BASE64.encode("{}"), &"A".repeat(LENGTH_MAX + 1)]
        {
            assert_eq!(decode(&instance::ENTITY, SORT, text), None, "{text}");
        }
        let forged = BASE64.encode(r#"["process_instance-endDate+businessId","x",{},true]"#);
        assert_eq!(decode(&instance::ENTITY, SORT, &forged), None);
    }
}
