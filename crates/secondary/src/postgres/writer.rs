//! Writing: one transaction for each batch, one statement for all rows that change alike.

use std::time::Duration;

use export::OwnRuntime;
use protocol::{Key, PartitionId};
use search::model::{ColumnId, ENTITIES, Entity};
use search::{Gap, StoreError, Value};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Error};

use super::bulk::{Group, groups, refused};
use super::dialect::{self, Postgres};
use super::{PostgresOptions, code, failed, late, own_runtime, schema, within};
use crate::change::{Batch, RowId};
use crate::sql;
use crate::store::{Numbers, Writer};

/// How often a transaction is repeated that the database ended in favour of another one.
const ATTEMPTS_MAX: u32 = 5;

/// Writes the rows of one partition.
pub struct PostgresWriter {
    options: PostgresOptions,
    partition: PartitionId,
    open: Option<Open>,
}

struct Open {
    connection: PgConnection,
    /// The position that is stored.
    position: u64,
    runtime: OwnRuntime,
}

/// Why a transaction failed.
enum Failure {
    Store(StoreError),
    /// A statement failed with a group of rows.
    Rows(usize, Error),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl PostgresWriter {
    /// A writer that is not open yet.
    pub fn new(options: PostgresOptions, partition: PartitionId) -> Self {
        Self { options, partition, open: None }
    }

    async fn connect(&self) -> Result<(PgConnection, u64), StoreError> {
        let timeout = self.options.write_timeout;
        let mut connection = self.options.connect_to_change().await?;
        schema::prepare(&mut connection, &self.options).await?;
        let partition = i64::from(self.partition);
        let begin = sqlx::query("INSERT INTO progress VALUES ($1,0) ON CONFLICT (partition) DO NOTHING");
        within(timeout, begin.bind(partition).execute(&mut connection)).await?;
        let position = sqlx::query_scalar::<_, i64>("SELECT position FROM progress WHERE partition=$1");
        let position = within(timeout, position.bind(partition).fetch_one(&mut connection)).await?;
        Ok((connection, position.cast_unsigned()))
    }
}

impl Writer for PostgresWriter {
    fn open(&mut self) -> Result<u64, StoreError> {
        self.open = None;
        let runtime = own_runtime()?;
        let (connection, position) = runtime.run(self.connect())?;
        self.open = Some(Open { connection, position, runtime });
        Ok(position)
    }

    fn write(&mut self, batch: &Batch, position: u64) -> Result<(), StoreError> {
        // After a failure it is not known what became of the transaction; opening tells.
        let Some(mut open) = self.open.take() else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let groups = groups(batch);
        let written = open.runtime.run(write(
            &mut open.connection,
            &groups,
            (self.partition, open.position, position),
            self.options.write_timeout,
        ));
        written?;
        open.position = position;
        self.open = Some(open);
        Ok(())
    }

    fn gaps(&mut self) -> Result<Vec<Gap>, StoreError> {
        let Some(mut open) = self.open.take() else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let sql = "SELECT lower, upper, accepted FROM progress_gap WHERE partition=$1 ORDER BY lower";
        let rows = sqlx::query_as::<_, (i64, i64, bool)>(sql).bind(i64::from(self.partition));
        let rows = rows.fetch_all(&mut open.connection);
        let rows = open.runtime.run(within(self.options.write_timeout, rows))?;
        self.open = Some(open);
        let gap = |(after, upto, is_accepted): (i64, i64, bool)| Gap {
            after: after.cast_unsigned(),
            upto: upto.cast_unsigned(),
            is_accepted,
        };
        Ok(rows.into_iter().map(gap).collect())
    }

    fn note_gaps(&mut self, gaps: &[Gap]) -> Result<(), StoreError> {
        let Some(mut open) = self.open.take() else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let sql = "INSERT INTO progress_gap VALUES ($1,$2,$3,$4) ON CONFLICT (partition, lower) DO UPDATE SET \
                   upper=excluded.upper, accepted=excluded.accepted";
        for gap in gaps {
            let statement = sqlx::query(sql).bind(i64::from(self.partition)).bind(gap.after.cast_signed());
            let statement = statement.bind(gap.upto.cast_signed()).bind(gap.is_accepted);
            let written = statement.execute(&mut open.connection);
            open.runtime.run(within(self.options.write_timeout, written))?;
        }
        self.open = Some(open);
        Ok(())
    }

    fn clear(&mut self, position: u64) -> Result<(), StoreError> {
        let Some(mut open) = self.open.take() else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let step = (self.partition, open.position, position);
        open.runtime.run(clear(&mut open.connection, step, self.options.write_timeout))?;
        open.position = position;
        self.open = Some(open);
        Ok(())
    }

    fn numbers(
        &mut self,
        entity: &'static Entity,
        columns: &[ColumnId],
        keys: &[Key],
    ) -> Result<Numbers, StoreError> {
        let Some(mut open) = self.open.take() else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        // Made of names of the model; what comes from outside is among the values.
        let statement = sqlx::query(AssertSqlSafe(sql::numbers(&Postgres, entity, columns, "=ANY($1)")));
        let keys: Vec<_> = keys.iter().map(|key| key.cast_signed()).collect();
        let rows = statement.bind(keys).fetch_all(&mut open.connection);
        let rows = open.runtime.run(within(self.options.write_timeout, rows))?;
        self.open = Some(open);
        let numbers = rows.iter().map(|row| {
            let numbers = dialect::row(row)?;
            let mut numbers = numbers.iter().map(Value::integer);
            let key = numbers.next().flatten().unwrap_or_default().cast_unsigned();
            Ok((key, numbers.collect()))
        });
        numbers.collect::<Result<_, Error>>().map_err(failed)
    }

    fn has(&mut self, entity: &'static Entity, id: &RowId) -> Result<bool, StoreError> {
        let Some(mut open) = self.open.take() else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let query = sql::exists(&Postgres, entity, id.value());
        // Made of names of the model; what comes from outside is among the values.
        let statement = sqlx::query(AssertSqlSafe(query.text.as_str()));
        let row = query.values.iter().fold(statement, dialect::bind).fetch_optional(&mut open.connection);
        let row = open.runtime.run(within(self.options.write_timeout, row))?;
        self.open = Some(open);
        Ok(row.is_some())
    }
}

/// Writes all groups and moves the position of a partition.
async fn write(
    connection: &mut PgConnection,
    groups: &[Group<'_>],
    step: (PartitionId, u64, u64),
    timeout: Duration,
) -> Result<(), StoreError> {
    let mut attempts = 1;
    loop {
        match transaction(connection, groups, step, timeout).await {
            Ok(()) => return Ok(()),
            Err(Failure::Store(error)) => return Err(error),
            // 40: others went through the same rows the other way round.
            Err(Failure::Rows(_, error)) if code(&error).starts_with("40") && attempts < ATTEMPTS_MAX => {
                attempts += 1;
            }
            Err(Failure::Rows(at, error)) if is_of_a_row(&error) => {
                return Err(culprit(connection, &groups[at], error, timeout).await?);
            }
            Err(Failure::Rows(_, error)) => return Err(failed(error)),
        }
    }
}

async fn transaction(
    connection: &mut PgConnection,
    groups: &[Group<'_>],
    step: (PartitionId, u64, u64),
    timeout: Duration,
) -> Result<(), Failure> {
    let mut transaction = within(timeout, connection.begin()).await?;
    advance(&mut transaction, step, timeout).await?;
    for (at, group) in groups.iter().enumerate() {
        if let Err(error) = execute(&mut transaction, group, timeout).await? {
            within(timeout, transaction.rollback()).await?;
            return Err(Failure::Rows(at, error));
        }
    }
    Ok(within(timeout, transaction.commit()).await?)
}

/// Moves the position of a partition. Two that write the same one see each other here, before they add to anything.
async fn advance(
    connection: &mut PgConnection,
    (partition, from, to): (PartitionId, u64, u64),
    timeout: Duration,
) -> Result<(), StoreError> {
    let step = sqlx::query("UPDATE progress SET position=$3 WHERE partition=$1 AND position=$2")
        .bind(i64::from(partition))
        .bind(from.cast_signed())
        .bind(to.cast_signed());
    if within(timeout, step.execute(connection)).await?.rows_affected() == 1 {
        return Ok(());
    }
    Err(StoreError::Unavailable(format!("partition {partition} is written by somebody else, too")))
}

/// Removes all rows and moves the position of a partition.
async fn clear(
    connection: &mut PgConnection,
    step: (PartitionId, u64, u64),
    timeout: Duration,
) -> Result<(), StoreError> {
    let mut transaction = within(timeout, connection.begin()).await?;
    advance(&mut transaction, step, timeout).await?;
    let tables: Vec<_> = ENTITIES.iter().map(|entity| format!("\"{}\"", entity.name)).collect();
    // Made of names of the model.
    let truncate = sqlx::query(AssertSqlSafe(format!("TRUNCATE {}", tables.join(", "))));
    within(timeout, truncate.execute(&mut *transaction)).await?;
    let gaps = sqlx::query("DELETE FROM progress_gap WHERE partition=$1").bind(i64::from(step.0));
    within(timeout, gaps.execute(&mut *transaction)).await?;
    within(timeout, transaction.commit()).await
}

/// Writes a group; the inner error is the database's answer.
async fn execute(
    connection: &mut PgConnection,
    group: &Group<'_>,
    timeout: Duration,
) -> Result<Result<(), Error>, StoreError> {
    let bulk = group.bulk()?;
    tokio::time::timeout(timeout, bulk.execute(connection)).await.map_err(|_| late(timeout))
}

/// Whether it would fail again, as long as the row is what it is.
fn is_of_a_row(error: &Error) -> bool {
    // 22: values, 23: constraints, 54: limits.
    let code = code(error);
    ["22", "23", "54"].iter().any(|class| code.starts_with(class)) || matches!(error, Error::Encode(_))
}

/// Finds the first row that the database refuses, and says so.
async fn culprit(
    connection: &mut PgConnection,
    group: &Group<'_>,
    mut error: Error,
    timeout: Duration,
) -> Result<StoreError, StoreError> {
    let mut rows = &group.0[..];
    while rows.len() > 1 {
        let (first, second) = rows.split_at(rows.len() / 2);
        let mut transaction = within(timeout, connection.begin()).await?;
        let tried = execute(&mut transaction, &Group(first.to_vec()), timeout).await?;
        within(timeout, transaction.rollback()).await?;
        match tried {
            Err(reason) => (rows, error) = (first, reason),
            Ok(()) => rows = second,
        }
    }
    Ok(refused(rows[0], error.to_string()))
}
