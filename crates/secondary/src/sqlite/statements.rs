//! Statements that write rows.

use std::collections::HashMap;

use rusqlite::Connection;
use search::model::{ColumnId, Entity};
use search::{StoreError, Value};

use super::dialect::{Parameter, Sqlite};
use super::error::failed;
use crate::change::{Change, Columns, Operation, Shape};
use crate::sql::upsert;

/// Statements whose texts are kept.
const STATEMENTS_MAX: usize = 4096;

/// The text of statements, by the shape and number of their rows and what they share.
#[derive(Default)]
pub(super) struct Statements(HashMap<(Shape, usize, Columns), String>);

impl Statements {
    /// Writes rows of the same shape with one statement. Returns how many are different now.
    pub fn write(&mut self, connection: &Connection, rows: &[&Change]) -> Result<usize, StoreError> {
        let first = rows[0];
        // The database takes a copy of each text that it is given; most rows of a process have the same ones.
        let shared = if rows.len() > 1 { Columns::shared(rows) } else { Columns::default() };
        if self.0.len() >= STATEMENTS_MAX {
            self.0.clear();
        }
        let text = self.0.entry((first.shape(), rows.len(), shared));
        let text = text.or_insert_with(|| upsert(&Sqlite, first, rows.len(), shared));
        match execute(connection, text, rows, shared) {
            Err(error) if rows.len() > 1 && is_of_a_row(&error) => {
                // Nothing of the statement has happened; which row it was, they tell one by one.
                let mut changed = 0;
                for row in rows {
                    changed += self.write(connection, std::slice::from_ref(row))?;
                }
                Ok(changed)
            }
            Err(error) if is_of_a_row(&error) => Err(StoreError::Refused {
                entity: Entity::of(first.entity).name,
                row: format!("{:?}", first.id),
                reason: error.to_string(),
            }),
            other => other.map_err(failed),
        }
    }
}

fn execute(
    connection: &Connection,
    text: &str,
    rows: &[&Change],
    shared: Columns,
) -> rusqlite::Result<usize> {
    let mut statement = connection.prepare_cached(text)?;
    let mut next = 0;
    let mut bind = |value: &Value| {
        next += 1;
        statement.raw_bind_parameter(next, Parameter(value))
    };
    let is_shared = |column: ColumnId| shared.place(column).is_some();
    for (_, value) in rows[0].values.iter().filter(|(column, _)| is_shared(*column)) {
        bind(value)?;
    }
    for row in rows {
        let is_update = row.operation == Operation::Update;
        if !is_update {
            bind(&row.id.value())?;
        }
        for (_, value) in row.values.iter().filter(|(column, _)| !is_shared(*column)) {
            bind(value)?;
        }
        for (_, by) in &row.increments {
            bind(&Value::Integer(*by))?;
        }
        if is_update {
            bind(&row.id.value())?;
        }
    }
    statement.raw_execute()
}

/// Whether it is a row's own fault.
fn is_of_a_row(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as Code;
    matches!(error.sqlite_error_code(), Some(Code::ConstraintViolation | Code::TooBig | Code::TypeMismatch))
}
