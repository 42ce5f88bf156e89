//! Reading: a few connections, made when they are needed.

use std::time::Duration;

use futures::TryStreamExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use protocol::PartitionId;
use search::{Found, Position, Reader, Row, Search, Statistics, StoreError, Value};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Error};
use tokio::sync::Semaphore;

use super::dialect::{self, Postgres};
use super::{PostgresOptions, asked, failed, is_lost};
use crate::sql;
use crate::store::PageBytes;

/// How much later than the database itself a query is given up here.
const GRACE: Duration = Duration::from_millis(500);

/// Values of one query, which the protocol counts with 16 bits.
const VALUES_MAX: usize = u16::MAX as usize;

/// Answers queries.
pub struct PostgresReader {
    options: PostgresOptions,
    idle: Mutex<Vec<PgConnection>>,
    permits: Semaphore,
}

/// A query with its values.
struct Question {
    text: String,
    values: Vec<Value>,
}

impl From<sql::Query<'_>> for Question {
    fn from(query: sql::Query<'_>) -> Self {
        Self { text: query.text, values: query.values }
    }
}

impl PostgresReader {
    /// A reader; the database may not be there yet.
    pub fn new(options: PostgresOptions) -> Self {
        let permits = Semaphore::new(options.readers);
        Self { options, idle: Mutex::new(Vec::new()), permits }
    }

    async fn ask_one(&self, question: Question) -> Result<Vec<Row>, StoreError> {
        Ok(self.ask(vec![question]).await?.pop().unwrap_or_default())
    }

    /// Asks, on one connection, one after the other. A connection that is not waited for to the end is closed.
    async fn ask(&self, questions: Vec<Question>) -> Result<Vec<Vec<Row>>, StoreError> {
        // Else the library takes the connection for broken.
        if let Some(much) =
            questions.iter().map(|question| question.values.len()).find(|&many| many > VALUES_MAX)
        {
            return Err(StoreError::Query(format!("{much} values for one query, more than {VALUES_MAX}")));
        }
        let timeout = self.options.query_timeout;
        let permit = tokio::time::timeout(timeout, self.permits.acquire()).await;
        let _permit = permit
            .map_err(|_| StoreError::too_busy(timeout))?
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let limit = if timeout.is_zero() { timeout } else { timeout + GRACE };
        loop {
            let idle = self.idle.lock().pop();
            let was_idle = idle.is_some();
            let mut connection = match idle {
                Some(connection) => connection,
                // A query is not late because connecting may take longer.
                None => tokio::time::timeout(limit, self.options.connect(timeout))
                    .await
                    .map_err(|_| StoreError::too_slow())??,
            };
            let answer = tokio::time::timeout(limit, answer(&mut connection, &questions)).await;
            return match answer {
                Err(_) => Err(StoreError::too_slow()),
                Ok(Err(error)) if is_lost(&error) => {
                    // The server was started anew since, so the others are lost, too.
                    self.idle.lock().clear();
                    if was_idle {
                        continue;
                    }
                    Err(failed(error))
                }
                // The rest of the page ends with the connection.
                Ok(Ok(Err(error))) => Err(error),
                Ok(Ok(answer)) => {
                    self.idle.lock().push(connection);
                    answer
                }
                Ok(Err(error)) => {
                    self.idle.lock().push(connection);
                    Err(asked(error))
                }
            };
        }
    }
}

/// The rows of each question, or why there are too many bytes of them. The connection has the rest of them, then.
async fn answer(
    connection: &mut PgConnection,
    questions: &[Question],
) -> Result<Result<Vec<Vec<Row>>, StoreError>, Error> {
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions {
        // Made of names of the model; what comes from outside is among the values.
        let statement = sqlx::query(AssertSqlSafe(question.text.as_str()));
        let mut rows = question.values.iter().fold(statement, dialect::bind).fetch(&mut *connection);
        let (mut found, mut bytes) = (Vec::new(), PageBytes::new());
        while let Some(row) = rows.try_next().await? {
            let row = dialect::row(&row)?;
            if let Err(error) = bytes.add(&row) {
                return Ok(Err(error));
            }
            found.push(row);
        }
        answers.push(found);
    }
    Ok(Ok(answers))
}

impl Reader for PostgresReader {
    fn search(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        Box::pin(async move {
            let looked = sql::selective(&search.filter).into_iter();
            let looked: Vec<Question> =
                looked.map(|related| sql::others(&Postgres, related, sql::FEW).into()).collect();
            let few = if looked.is_empty() { Vec::new() } else { self.ask(looked).await? };
            let search = sql::with_few(search, few);
            let rows = self.ask_one(sql::search(&Postgres, &search).into()).await?;
            let mut found = Found { rows, ..Found::default() };
            if matches!(search.position, Position::Before(_)) {
                found.rows.reverse();
            }
            if search.count_up_to > 0 {
                let count = match sql::total_of_page(&search, found.rows.len()) {
                    Some(count) => count,
                    None => sql::count_of(&self.ask_one(sql::count(&Postgres, &search).into()).await?),
                };
                (found.total, found.has_more) = (count.min(search.count_up_to), count > search.count_up_to);
            }
            Ok(found)
        })
    }

    fn statistics(&self, statistics: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        let question = sql::statistics(&Postgres, &statistics).into();
        Box::pin(async move { self.ask_one(question).await })
    }

    fn position(&self, partition: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>> {
        let question = Question {
            text: "SELECT position FROM progress WHERE partition=$1".to_owned(),
            values: vec![Value::from(u32::from(partition))],
        };
        Box::pin(async move {
            let rows = self.ask_one(question).await?;
            let position = rows.first().and_then(|row| row[0].integer());
            Ok(position.unwrap_or(0).cast_unsigned())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Far longer than the test needs, shorter than connecting may take.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_search_does_not_wait_as_long_as_connecting_may_take() {
        // Connections wait to be accepted, so the server is there and says nothing.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://baton@{}/baton", silent.local_addr().unwrap());
        let options = PostgresOptions {
            query_timeout: Duration::from_millis(10),
            connect_timeout: Duration::MAX,
            ..PostgresOptions::new(&url)
        };
        let reader = PostgresReader::new(options);
        let asked = tokio::time::timeout(PATIENCE, reader.position(protocol::FIRST_PARTITION)).await;
        let error = asked.expect("an answer comes").unwrap_err();
        assert!(matches!(error, StoreError::TooSlow(_)), "{error}");
    }
}
