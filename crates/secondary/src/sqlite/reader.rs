//! Reading: a few connections that see what was committed, beside the writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use protocol::PartitionId;
use rusqlite::Connection;
use search::{Found, Question, Reader, Row, Search, Statistics, StoreError};
use tokio::sync::Semaphore;

use super::answers::Answers;
use super::error::failed;
use super::packs::{PackCache, Packs};
use super::{SqliteOptions, packed_search, progress};

/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

/// Answers queries.
pub struct SqliteReader(Arc<ReaderState>);

struct ReaderState {
    options: SqliteOptions,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    packs: PackCache,
    answers: Answers,
}

/// Tells the thread that works on a query when nobody waits for it any more.
#[derive(Default)]
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl SqliteReader {
    /// A reader; the file may not exist yet.
    pub fn new(options: SqliteOptions) -> Self {
        let permits = Arc::new(Semaphore::new(options.readers));
        let packs = PackCache::new(options.cache_bytes);
        Self(Arc::new(ReaderState {
            options,
            idle: Mutex::new(Vec::new()),
            permits,
            packs,
            answers: Answers::default(),
        }))
    }

    /// Runs a query on a thread that may block. It ends when its time is over, or when whoever asked has gone.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(Packs<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.0);
        let timeout = shared.options.query_timeout;
        let permit = tokio::time::timeout(timeout, Arc::clone(&shared.permits).acquire_owned()).await;
        let permit = permit
            .map_err(|_| StoreError::too_busy(timeout))?
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let waiting = Waiting::default();
        let has_gone = Arc::clone(&waiting.0);
        let outcome = tokio::task::spawn_blocking(move || {
            // As long as the thread works, whether or not anybody waits.
            let _permit = permit;
            let content = shared.options.content.read();
            shared.packs.expect(*content);
            let idle = shared.idle.lock().pop();
            let mut connection = idle.map_or_else(|| shared.options.connect_to_read(), Ok)?;
            let deadline = Instant::now() + shared.options.query_timeout;
            let is_over = move || has_gone.load(Ordering::Relaxed) || Instant::now() > deadline;
            connection.progress_handler(STEPS, Some(is_over)).map_err(failed)?;
            // Tables and packs as of one moment: rows move from the ones to the others.
            let moment = connection.unchecked_transaction().map_err(failed)?;
            let result = work(Packs { connection: &connection, cache: &shared.packs });
            moment.finish().map_err(failed)?;
            connection.progress_handler(0, None::<fn() -> bool>).map_err(failed)?;
            shared.idle.lock().push(connection);
            result
        });
        outcome.await.map_err(|error| StoreError::Unavailable(error.to_string()))?
    }

    /// Answers a question, without a query if the file has not changed since the same was asked.
    async fn answer(&self, question: Question) -> Result<Found, StoreError> {
        let shared = Arc::clone(&self.0);
        // The version is read before the query, which may see a later one: then the answer is not found again.
        let ask = move |packs: Packs<'_>| {
            let version = match shared.answers.find(&shared.options, &question) {
                Ok(found) => return Ok(found),
                Err(version) => version,
            };
            let found = match question.clone() {
                Question::Search(search) => packed_search::search(packs, search)?,
                Question::Statistics(statistics) => {
                    Found { rows: packed_search::statistics(packs, statistics)?, ..Found::default() }
                }
            };
            shared.answers.keep(version, question, &found);
            Ok(found)
        };
        self.run(ask).await
    }
}

impl Reader for SqliteReader {
    fn search(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        Box::pin(self.answer(Question::Search(search)))
    }

    fn statistics(&self, statistics: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        Box::pin(async move { Ok(self.answer(Question::Statistics(statistics)).await?.rows) })
    }

    fn position(&self, partition: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.run(move |packs| progress::read(packs.connection, partition).map_err(failed)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use protocol::Name;
    use rusqlite::params_from_iter;
    use search::{Operand, Test};

    use super::*;
    use crate::sql;
    use crate::sqlite::dialect::{Parameter, Sqlite};
    use crate::sqlite::schema;
    use search::model::{
        ColumnId, Entity, element_instance as element, job, process_instance as instance,
        sequence_flow as flow, variable,
    };
    use search::{EntityRef, Filter, Position, Sort};

    fn text(column: ColumnId, value: &str) -> Filter {
        Filter::Column(column, Test::Equal(Operand::Text(Name::from(value))))
    }

    fn key(column: ColumnId) -> Filter {
        Filter::Column(column, Test::Equal(Operand::Integer(7)))
    }

    /// How SQLite goes about a search.
    fn plan(connection: &Connection, entity: &'static Entity, filters: Vec<Filter>, by: ColumnId) -> String {
        let search = Search {
            entity: EntityRef(entity),
            filter: Filter::All(filters),
            sort: vec![Sort { column: by, descending: true }],
            position: Position::Offset(0),
            limit: 50,
            count_up_to: 0,
            columns: u64::MAX,
            cut: None,
        };
        let query = sql::search(&Sqlite, &search);
        let mut statement =
            connection.prepare(&format!("EXPLAIN QUERY PLAN {}", query.text)).expect("a plan");
        let rows = statement
            .query_map(params_from_iter(query.values.iter().map(Parameter)), |row| row.get::<_, String>(3));
        rows.expect("rows").collect::<Result<Vec<_>, _>>().expect("texts").join("; ")
    }

    #[tokio::test]
    async fn a_query_ends_when_nobody_waits_for_it_and_counts_until_then() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("a.sqlite");
        Connection::open(&file).and_then(|it| it.execute_batch("CREATE TABLE t (x)")).expect("a file");
        let patience = Duration::from_secs(60);
        let options = SqliteOptions { readers: 1, query_timeout: patience, ..SqliteOptions::new(&file) };
        let reader = SqliteReader::new(options);
        let (to_thread, from_test) = mpsc::channel();
        let (to_test, from_thread) = mpsc::channel();
        let work = reader.run(move |packs| {
            let connection = packs.connection;
            let endless =
                "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c";
            let counted = connection.query_row(endless, [], |row| row.get::<_, i64>(0)).map_err(failed);
            to_test.send(counted).ok();
            from_test.recv_timeout(patience).ok();
            Ok(())
        });
        assert!(tokio::time::timeout(Duration::from_millis(100), work).await.is_err(), "it has an end");
        let ended = from_thread.recv_timeout(patience / 2).expect("it goes on");
        assert!(matches!(ended, Err(StoreError::TooSlow(_))), "{ended:?}");
        assert_eq!(reader.0.permits.available_permits(), 0, "its thread is still at work");
        to_thread.send(()).expect("the thread");
        let next = tokio::time::timeout(patience, reader.run(|_| Ok(7))).await;
        assert_eq!(next.expect("a place").expect("an answer"), 7);
    }

    #[test]
    fn what_people_ask_is_served_by_an_index() {
        let mut connection = Connection::open_in_memory().expect("memory");
        schema::prepare(&mut connection).expect("tables");
        let active = || text(instance::STATE, "ACTIVE");
        let completed = || text(instance::STATE, "COMPLETED");
        let process = || text(instance::PROCESS_ID, "p");
        let has_incident = Filter::Column(instance::HAS_INCIDENT, Test::Greater(Operand::Integer(0)));
        let cases: [(&str, &'static Entity, Vec<Filter>, ColumnId); 16] = [
            ("process_instance_startDate", &instance::ENTITY, vec![], instance::START),
            (
                "process_instance_state_startDate_unusual (state=?)",
                &instance::ENTITY,
                vec![active()],
                instance::START,
            ),
            (
                "process_instance_processDefinitionId_state_startDate_unusual (processDefinitionId=? AND state=?)",
                &instance::ENTITY,
                vec![process(), active()],
                instance::START,
            ),
            (
                "process_instance_processDefinitionId_startDate (processDefinitionId=?)",
                &instance::ENTITY,
                vec![process(), completed()],
                instance::START,
            ),
            (
                "process_instance_state_startDate_above (state=?)",
                &instance::ENTITY,
                vec![active(), has_incident],
                instance::START,
            ),
            (
                "element_instance_processDefinitionKey_state_elementId_elementInstanceKey_hasIncident_unusual \
                 (processDefinitionKey=? AND state=? AND elementId=?)",
                &element::ENTITY,
                vec![
                    key(element::DEFINITION_KEY),
                    text(element::ELEMENT_ID, "e"),
                    text(element::STATE, "ACTIVE"),
                ],
                element::KEY,
            ),
            (
                "element_instance_processDefinitionKey_elementId (processDefinitionKey=? AND elementId=?)",
                &element::ENTITY,
                vec![
                    key(element::DEFINITION_KEY),
                    text(element::ELEMENT_ID, "e"),
                    text(element::STATE, "COMPLETED"),
                ],
                element::KEY,
            ),
            ("process_instance_endDate", &instance::ENTITY, vec![completed()], instance::END),
            (
                "process_instance_parentProcessInstanceKey_set",
                &instance::ENTITY,
                vec![key(instance::PARENT_INSTANCE_KEY)],
                instance::START,
            ),
            (
                "process_instance_rootProcessInstanceKey_set",
                &instance::ENTITY,
                vec![
                    key(instance::ROOT_INSTANCE_KEY),
                    Filter::Column(instance::PARENT_INSTANCE_KEY, Test::Exists(true)),
                ],
                instance::KEY,
            ),
            (
                "process_instance_businessId_set",
                &instance::ENTITY,
                vec![text(instance::BUSINESS_ID, "b")],
                instance::START,
            ),
            (
                "element_instance_elementInstanceScopeKey_apart",
                &element::ENTITY,
                vec![key(element::SCOPE_KEY)],
                element::START,
            ),
            (
                "PRIMARY KEY (sequenceFlowId>? AND sequenceFlowId<?)",
                &flow::ENTITY,
                vec![key(flow::INSTANCE_KEY)],
                flow::ID,
            ),
            (
                "variable_name_value_cut (name=? AND <expr>=?)",
                &variable::ENTITY,
                vec![text(variable::NAME, "n"), text(variable::VALUE, "v")],
                variable::KEY,
            ),
            ("variable_scopeKey_apart", &variable::ENTITY, vec![key(variable::SCOPE_KEY)], variable::NAME),
            (
                "job_type_state_creationTime_unusual (type=? AND state=?)",
                &job::ENTITY,
                vec![text(job::TYPE, "t"), text(job::STATE, "FAILED")],
                job::CREATED,
            ),
        ];
        for (index, entity, filters, by) in cases {
            let plan = plan(&connection, entity, filters, by);
            assert!(plan.contains(index), "{index}: {plan}");
        }
    }
}
