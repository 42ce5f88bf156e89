//! SQL as PostgreSQL speaks it.

use std::borrow::Cow;

use search::Test;
use search::Value;
use search::model::{ColumnId, Entity, Kind};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query as Statement;
use sqlx::{Error, Postgres as Database, Row as _, TypeInfo as _, ValueRef as _};

use super::text;
use crate::sql::Dialect;

pub(crate) struct Postgres;

impl Dialect for Postgres {
    /// Texts are in the order of their bytes, as everywhere else, whatever language the database speaks.
    fn column_type(&self, kind: Kind) -> &'static str {
        if kind.is_integer() { "BIGINT" } else { "TEXT COLLATE \"C\"" }
    }

    fn placeholder(&self, number: usize, _: Kind, out: &mut String) {
        out.push('$');
        out.push_str(&number.to_string());
    }

    /// The backslash takes the meaning from what follows it in both notations.
    fn like(&self, pattern: &str) -> (&'static str, String, &'static str) {
        let mut like = String::with_capacity(pattern.len());
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            let literal = match character {
                '\\' => characters.next().unwrap_or('\\'),
                '*' => {
                    like.push('%');
                    continue;
                }
                '?' => {
                    like.push('_');
                    continue;
                }
                other => other,
            };
            if matches!(literal, '%' | '_' | '\\') {
                like.push('\\');
            }
            like.push(literal);
        }
        (" LIKE ", like, "")
    }

    fn larger(&self) -> &'static str {
        "GREATEST"
    }

    fn json_object(&self, members: &str) -> String {
        format!("CAST(json_build_object({members}) AS TEXT)")
    }

    fn moment(&self, column: &str) -> String {
        format!(
            "to_char(to_timestamp({column}/1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
        )
    }

    fn elements(&self) -> (&'static str, &'static str) {
        ("(SELECT value COLLATE \"C\" AS value FROM json_array_elements_text(CAST(", " AS json)))")
    }

    /// Asking an index and comparing are both faster than making a table of the list, and the database knows how
    /// many rows have an element.
    fn indexed_elements(&self) -> Option<(&'static str, &'static str)> {
        Some(("CAST(", " AS jsonb)"))
    }

    fn stored<'t>(&self, text: &'t str) -> Cow<'t, str> {
        text::storable(text)
    }

    fn test<'t>(&self, entity: &Entity, column: ColumnId, test: &'t Test) -> Cow<'t, Test> {
        text::test(entity, column, test)
    }
}

/// Adds the value of a placeholder.
pub(super) fn bind<'q>(
    statement: Statement<'q, Database, PgArguments>,
    value: &Value,
) -> Statement<'q, Database, PgArguments> {
    match value {
        Value::Null => statement.bind(None::<&str>),
        Value::Integer(number) => statement.bind(*number),
        Value::Text(name) => statement.bind(&*text::storable(name)),
    }
}

/// A row as PostgreSQL has it.
pub(super) fn row(row: &PgRow) -> Result<Vec<Value>, Error> {
    (0..row.len())
        .map(|at| {
            let raw = row.try_get_raw(at)?;
            if raw.is_null() {
                return Ok(Value::Null);
            }
            if raw.type_info().name() == "INT8" {
                return row.try_get(at).map(Value::Integer);
            }
            row.try_get::<&str, _>(at).map(Value::from)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_keep_their_meaning() {
        let like = |pattern: &str| Postgres.like(pattern).1;
        assert_eq!(like("a*b?"), "a%b_");
        assert_eq!(like(r"100%\*_\\"), r"100\%*\_\\");
        assert_eq!(like("end\\"), r"end\\");
    }
}
