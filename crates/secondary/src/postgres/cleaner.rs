//! Removing rows: a connection of its own, each slice a transaction of its own.

use export::OwnRuntime;
use search::model::{ColumnId, Entity};
use search::{StoreError, Value};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _};

use super::bulk::groups;
use super::dialect::{self, Postgres};
use super::{PostgresOptions, own_runtime, within};
use crate::count::{counted, removed};
use crate::sql;
use crate::store::Cleaner;

/// Removes rows of the database.
pub struct PostgresCleaner {
    options: PostgresOptions,
    open: Option<(PgConnection, OwnRuntime)>,
}

impl PostgresCleaner {
    /// A cleaner that is not open yet.
    pub fn new(options: PostgresOptions) -> Self {
        Self { options, open: None }
    }
}

impl Cleaner for PostgresCleaner {
    fn open(&mut self) -> Result<(), StoreError> {
        self.open = None;
        let runtime = own_runtime()?;
        let connection = runtime.run(self.options.connect_to_change())?;
        self.open = Some((connection, runtime));
        Ok(())
    }

    fn remove(
        &mut self,
        entity: &'static Entity,
        column: ColumnId,
        values: &[Value],
        limit: u32,
    ) -> Result<u64, StoreError> {
        let Some((connection, runtime)) = &mut self.open else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        if values.is_empty() {
            return Ok(0);
        }
        let query = sql::remove(&Postgres, entity, column, values, limit, counted(entity));
        // Made of names of the model; what comes from outside is among the values.
        let statement = sqlx::query(AssertSqlSafe(query.text.as_str()));
        let statement = query.values.iter().fold(statement, dialect::bind);
        let removal = async {
            let mut transaction = connection.begin().await?;
            let rows = statement.fetch_all(&mut *transaction).await?;
            let count = rows.len() as u64;
            let rows = rows.iter().map(dialect::row).collect::<Result<_, _>>()?;
            let counts = removed(rows);
            for group in groups(&counts) {
                match group.bulk() {
                    Ok(bulk) => bulk.execute(&mut transaction).await?,
                    Err(error) => return Ok(Err(error)),
                }
            }
            transaction.commit().await?;
            Ok(Ok(count))
        };
        runtime.run(within(self.options.write_timeout, removal))?
    }

    /// The database does this by itself.
    fn reclaim(&mut self) -> Result<bool, StoreError> {
        Ok(false)
    }
}
