//! SQL as SQLite speaks it.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};
use search::Value;
use search::model::Kind;

use crate::sql::Dialect;

pub(crate) struct Sqlite;

impl Dialect for Sqlite {
    fn column_type(&self, kind: Kind) -> &'static str {
        if kind.is_integer() { "INTEGER" } else { "TEXT" }
    }

    fn placeholder(&self, number: usize, _: Kind, out: &mut String) {
        out.push('?');
        out.push_str(&number.to_string());
    }

    /// `GLOB` minds the case and can use an index, unlike `LIKE`.
    fn like(&self, pattern: &str) -> (&'static str, String, &'static str) {
        let mut glob = String::with_capacity(pattern.len());
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            let literal = match character {
                '\\' => characters.next().unwrap_or('\\'),
                '*' | '?' => {
                    glob.push(character);
                    continue;
                }
                other => other,
            };
            if matches!(literal, '*' | '?' | '[') {
                glob.push('[');
                glob.push(literal);
                glob.push(']');
            } else {
                glob.push(literal);
            }
        }
        (" GLOB ", glob, "")
    }

    fn larger(&self) -> &'static str {
        "MAX"
    }

    fn json_object(&self, members: &str) -> String {
        format!("json_object({members})")
    }

    fn moment(&self, column: &str) -> String {
        format!("strftime('%Y-%m-%dT%H:%M:%fZ', {column}/1000.0, 'unixepoch')")
    }

    fn elements(&self) -> (&'static str, &'static str) {
        ("json_each(", ")")
    }
}

/// A value as a parameter of a statement.
pub(super) struct Parameter<'a>(pub(super) &'a Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// A value as SQLite has it.
pub(super) fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Integer(number as i64),
        ValueRef::Text(text) => Value::from(&*String::from_utf8_lossy(text)),
    }
}
