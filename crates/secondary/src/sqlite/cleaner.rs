//! Removing rows: a connection of its own, each slice a transaction of its own.

use rusqlite::Connection;
use search::model::{ColumnId, Entity};
use search::{StoreError, Value};

use super::dialect::Sqlite;
use super::reader::rows;
use super::writer::Statements;
use super::{SqliteOptions, failed};
use crate::count::{counted, removed};
use crate::sql;
use crate::store::Cleaner;

/// Free pages that are kept, because new rows take them soon.
const FREE_PAGES_KEPT: i64 = 64;
/// Pages that are given back at once.
const FREE_PAGES_SLICE: i64 = 512;

/// Removes rows of the file.
pub struct SqliteCleaner {
    options: SqliteOptions,
    connection: Option<Connection>,
}

impl SqliteCleaner {
    /// A cleaner that is not open yet.
    pub fn new(options: SqliteOptions) -> Self {
        Self { options, connection: None }
    }

    fn connection(&self) -> Result<&Connection, StoreError> {
        self.connection.as_ref().ok_or_else(|| StoreError::Unavailable("the store is not open".to_owned()))
    }
}

impl Cleaner for SqliteCleaner {
    fn open(&mut self) -> Result<(), StoreError> {
        self.connection = None;
        self.connection = Some(self.options.connect()?);
        Ok(())
    }

    fn remove(
        &mut self,
        entity: &'static Entity,
        column: ColumnId,
        values: &[Value],
        limit: u32,
    ) -> Result<u64, StoreError> {
        if values.is_empty() {
            return Ok(0);
        }
        let query = sql::remove(&Sqlite, entity, column, values, limit, counted(entity));
        let transaction = self.connection()?.unchecked_transaction().map_err(failed)?;
        let rows = rows(&transaction, &query)?;
        let count = rows.len() as u64;
        let mut statements = Statements::default();
        for change in removed(rows).changes() {
            statements.write(&transaction, &[change])?;
        }
        transaction.commit().map_err(failed)?;
        Ok(count)
    }

    fn reclaim(&mut self) -> Result<bool, StoreError> {
        let connection = self.connection()?;
        let pragma = |name: &str| -> Result<i64, StoreError> {
            connection.pragma_query_value(None, name, |row| row.get(0)).map_err(failed)
        };
        // Files of older releases cannot shrink; their free pages are used again.
        let spare = pragma("freelist_count")? - FREE_PAGES_KEPT;
        if spare <= 0 || pragma("auto_vacuum")? != 2 {
            return Ok(false);
        }
        let mut statement = connection
            .prepare(&format!("PRAGMA incremental_vacuum({})", spare.min(FREE_PAGES_SLICE)))
            .map_err(failed)?;
        // Each row is a page that goes.
        let mut rows = statement.query([]).map_err(failed)?;
        while rows.next().map_err(failed)?.is_some() {}
        Ok(spare > FREE_PAGES_SLICE)
    }
}
