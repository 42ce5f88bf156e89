//! Writing: one transaction for each batch.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::time::Instant;

use export::Flush;
use protocol::PartitionId;
use rusqlite::{Connection, OptionalExtension as _};
use search::model::{ColumnId, Entity};
use search::{StoreError, Value};

use super::dialect::{Parameter, Sqlite};
use super::reader::rows;
use super::{SqliteOptions, failed, schema, set};
use crate::change::{Batch, Change, Columns, Operation, RowId, Shape};
use crate::sql::{exists, upsert};
use crate::store::Writer;

/// Rows that one statement inserts: finding its place in each table and index is what costs most, and is half done
/// when the last row went there.
const ROWS_MAX: usize = 32;

/// Writes the rows of one partition.
pub struct SqliteWriter {
    options: SqliteOptions,
    partition: PartitionId,
    connection: Option<Connection>,
    statements: Statements,
    /// When the last sync was, and whether something was written since.
    synced: Option<Instant>,
    is_unsynced: bool,
}

/// The text of statements, by the shape and number of their rows and what they share.
#[derive(Default)]
pub(super) struct Statements(HashMap<(Shape, usize, Columns), String>);

/// Statements whose texts are kept.
const STATEMENTS_MAX: usize = 4096;

impl Statements {
    /// Writes rows of the same shape with one statement.
    pub fn write(&mut self, connection: &Connection, rows: &[&Change]) -> Result<(), StoreError> {
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
                rows.iter().try_for_each(|row| self.write(connection, std::slice::from_ref(row)))
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

fn execute(connection: &Connection, text: &str, rows: &[&Change], shared: Columns) -> rusqlite::Result<()> {
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
    statement.raw_execute().map(|_| ())
}

impl SqliteWriter {
    /// A writer that is not open yet.
    pub fn new(options: SqliteOptions, partition: PartitionId) -> Self {
        let statements = Statements::default();
        Self { options, partition, connection: None, statements, synced: None, is_unsynced: false }
    }

    /// Makes durable what is in the write-ahead log; what went from there to its place is.
    fn sync_log(&mut self) -> Result<(), StoreError> {
        let path = self.options.log_path();
        // No lock is lost by closing it: those of the database are on its other files.
        match File::options().write(true).open(&path).and_then(|log| log.sync_data()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::Unavailable(format!("'{}': {error}", path.display())));
            }
            _ => {}
        }
        self.synced = Some(Instant::now());
        self.is_unsynced = false;
        Ok(())
    }
}

impl Writer for SqliteWriter {
    fn open(&mut self) -> Result<u64, StoreError> {
        self.connection = None;
        let mut connection = self.options.connect()?;
        // A commit reaches the file, the disk only with the next sync: what is lost with the power comes again.
        set(&connection, &[("synchronous", "NORMAL".to_owned())])?;
        schema::prepare(&mut connection)?;
        let position: Option<i64> = connection
            .query_row("SELECT position FROM progress WHERE partition=?1", [self.partition], |row| row.get(0))
            .optional()
            .map_err(failed)?;
        self.connection = Some(connection);
        self.sync_log()?;
        Ok(position.unwrap_or(0).cast_unsigned())
    }

    fn write(&mut self, batch: &Batch, position: u64) -> Result<(), StoreError> {
        let Some(connection) = &mut self.connection else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let transaction = connection.transaction().map_err(failed)?;
        for group in batch.groups() {
            let rows = match group[0].operation {
                Operation::Insert => ROWS_MAX,
                Operation::Update | Operation::Delete => 1,
            };
            for chunk in group.chunks(rows) {
                // The remainder goes one by one, so that a shape has at most two statements.
                for rows in chunk.chunks(if chunk.len() == rows { rows } else { 1 }) {
                    self.statements.write(&transaction, rows)?;
                }
            }
        }
        transaction
            .prepare_cached(
                "INSERT INTO progress VALUES (?1,?2) ON CONFLICT (partition) DO UPDATE SET position=excluded.position",
            )
            .and_then(|mut statement| statement.execute((self.partition, position.cast_signed())))
            .map_err(failed)?;
        self.is_unsynced = true;
        transaction.commit().map_err(failed)
    }

    fn sync(&mut self, flush: Flush) -> Result<bool, StoreError> {
        let is_due = self.synced.is_none_or(|synced| synced.elapsed() >= self.options.sync_interval);
        if self.is_unsynced && (is_due || flush == Flush::Whole) {
            self.sync_log()?;
        }
        Ok(!self.is_unsynced)
    }

    fn has(&mut self, entity: &'static Entity, id: &RowId) -> Result<bool, StoreError> {
        let Some(connection) = &self.connection else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        Ok(!rows(connection, &exists(&Sqlite, entity, id.value()))?.is_empty())
    }
}

/// Whether it is a row's own fault.
fn is_of_a_row(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as Code;
    matches!(error.sqlite_error_code(), Some(Code::ConstraintViolation | Code::TooBig | Code::TypeMismatch))
}
