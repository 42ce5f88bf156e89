//! Writing: one transaction for each batch.

use std::collections::HashMap;

use protocol::PartitionId;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::dialect::Sqlite;
use super::{SqliteOptions, failed, schema};
use crate::change::{Batch, Change, Operation, Shape};
use crate::model::Entity;
use crate::sql::upsert;
use crate::store::{StoreError, Writer};
use crate::value::Value;

/// Writes the rows of one partition.
pub struct SqliteWriter {
    options: SqliteOptions,
    partition: PartitionId,
    connection: Option<Connection>,
    statements: HashMap<Shape, String>,
}

impl SqliteWriter {
    /// A writer that is not open yet.
    pub fn new(options: SqliteOptions, partition: PartitionId) -> Self {
        Self { options, partition, connection: None, statements: HashMap::new() }
    }
}

impl Writer for SqliteWriter {
    fn open(&mut self) -> Result<u64, StoreError> {
        self.connection = None;
        let mut connection = self.options.connect()?;
        schema::prepare(&mut connection)?;
        let position: Option<i64> = connection
            .query_row("SELECT position FROM progress WHERE partition=?1", [self.partition], |row| row.get(0))
            .optional()
            .map_err(failed)?;
        self.connection = Some(connection);
        Ok(position.unwrap_or(0).cast_unsigned())
    }

    fn write(&mut self, batch: &Batch, position: u64) -> Result<(), StoreError> {
        let Some(connection) = &mut self.connection else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let transaction = connection.transaction().map_err(failed)?;
        for change in batch.changes().iter().filter(|change| !change.is_void()) {
            let sql = self.statements.entry(change.shape()).or_insert_with(|| upsert(&Sqlite, change));
            let mut statement = transaction.prepare_cached(sql).map_err(failed)?;
            let id = change.id.value();
            let increments: Vec<_> = change.increments.iter().map(|(_, by)| Value::Integer(*by)).collect();
            let values = change.values.iter().map(|(_, value)| value).chain(&increments);
            let written = match change.operation {
                Operation::Delete => statement.execute([&id]),
                Operation::Insert => statement.execute(params_from_iter(std::iter::once(&id).chain(values))),
                Operation::Update => statement.execute(params_from_iter(values.chain([&id]))),
            };
            written.map_err(|error| refused(error, change))?;
        }
        transaction
            .prepare_cached(
                "INSERT INTO progress VALUES (?1,?2) ON CONFLICT (partition) DO UPDATE SET position=excluded.position",
            )
            .and_then(|mut statement| statement.execute((self.partition, position.cast_signed())))
            .map_err(failed)?;
        transaction.commit().map_err(failed)
    }
}

/// Whether it is the row's own fault.
fn refused(error: rusqlite::Error, change: &Change) -> StoreError {
    use rusqlite::ErrorCode as Code;
    match error.sqlite_error_code() {
        Some(Code::ConstraintViolation | Code::TooBig | Code::TypeMismatch) => StoreError::Refused {
            entity: Entity::of(change.entity).name,
            row: format!("{:?}", change.id),
            reason: error.to_string(),
        },
        _ => failed(error),
    }
}
