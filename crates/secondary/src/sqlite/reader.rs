//! Reading: a few connections that see what was committed, beside the writer.

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use protocol::PartitionId;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};
use tokio::sync::Semaphore;

use super::dialect::{Sqlite, value};
use super::{SqliteOptions, failed};
use crate::query::{Found, Position, Row, Search, Statistics};
use crate::sql::{self, Query};
use crate::store::{Reader, StoreError};

/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

/// Answers queries.
pub struct SqliteReader(Arc<Shared>);

struct Shared {
    options: SqliteOptions,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl SqliteReader {
    /// A reader; the file may not exist yet.
    pub fn new(options: SqliteOptions) -> Self {
        let permits = Semaphore::new(options.readers);
        Self(Arc::new(Shared { options, idle: Mutex::new(Vec::new()), permits }))
    }

    /// Runs a query on a thread that may block. It ends when its time is over.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.0);
        let timeout = shared.options.query_timeout;
        let permit = tokio::time::timeout(timeout, self.0.permits.acquire()).await;
        let _permit = permit
            .map_err(|_| StoreError::too_busy(timeout))?
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let outcome = tokio::task::spawn_blocking(move || {
            let idle = shared.idle.lock().pop();
            let mut connection = idle.map_or_else(|| shared.options.connect_to_read(), Ok)?;
            let deadline = Instant::now() + shared.options.query_timeout;
            connection.progress_handler(STEPS, Some(move || Instant::now() > deadline)).map_err(failed)?;
            let result = work(&connection);
            connection.progress_handler(0, None::<fn() -> bool>).map_err(failed)?;
            shared.idle.lock().push(connection);
            result
        });
        outcome.await.map_err(|error| StoreError::Unavailable(error.to_string()))?
    }
}

impl Reader for SqliteReader {
    fn search(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        Box::pin(self.run(move |connection| {
            let mut found =
                Found { rows: rows(connection, &sql::search(&Sqlite, &search))?, ..Found::default() };
            if matches!(search.position, Position::Before(_)) {
                found.rows.reverse();
            }
            if search.count_up_to > 0 {
                let counted = rows(connection, &sql::count(&Sqlite, &search))?;
                let count = counted.first().and_then(|row| row[0].integer()).unwrap_or(0).cast_unsigned();
                (found.total, found.has_more) = (count.min(search.count_up_to), count > search.count_up_to);
            }
            Ok(found)
        }))
    }

    fn statistics(&self, statistics: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        Box::pin(self.run(move |connection| rows(connection, &sql::statistics(&Sqlite, &statistics))))
    }

    fn position(&self, partition: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.run(move |connection| {
            let position: Option<i64> = connection
                .query_row("SELECT position FROM progress WHERE partition=?1", [partition], |row| row.get(0))
                .optional()
                .map_err(failed)?;
            Ok(position.unwrap_or(0).cast_unsigned())
        }))
    }
}

fn rows(connection: &Connection, query: &Query<'_>) -> Result<Vec<Row>, StoreError> {
    let mut statement = connection.prepare_cached(&query.text).map_err(failed)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(&query.values)).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        found.push(
            (0..columns).map(|at| row.get_ref(at).map(value).map_err(failed)).collect::<Result<_, _>>()?,
        );
    }
    Ok(found)
}
