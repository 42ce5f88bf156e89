//! PostgreSQL as a store: the suite of all stores, and what only it has. The tests start a server of their own;
//! where there is none to start, this prints that they were not run. It has no harness, so that not having run
//! never counts as a passed test.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

#[path = "../stores/agents.rs"]
mod agents;
#[path = "../stores/candidates.rs"]
mod candidates;
#[path = "../stores/counts.rs"]
mod counts;
#[path = "../stores/durations.rs"]
mod durations;
mod guarded;
#[path = "../stores/indexes.rs"]
mod indexes;
#[allow(dead_code, reason = "the tests of another store use the rest")]
#[path = "../stores/model.rs"]
mod model;
mod open_tasks;
#[path = "../stores/relations.rs"]
mod relations;
#[path = "../stores/replays.rs"]
mod replays;
#[path = "../stores/retention.rs"]
mod retention;
mod schema;
#[path = "../../../../tests/stores/postgres/server.rs"]
mod server;
#[path = "../stores/steps.rs"]
mod steps;
#[path = "../stores/suite.rs"]
mod suite;
mod values;
#[path = "../stores/wait_states.rs"]
mod wait_states;
mod writing;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use search::{Reader, StoreError};
use secondary::{
    Cleaner, Loader, PostgresCleaner, PostgresLoader, PostgresOptions, PostgresReader, PostgresWriter, Writer,
};
use server::Server;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

type Test = (&'static str, fn(&Server));

const TESTS: &[Test] = &[
    ("suite", |server| suite::run(&Store::new(server, "suite"), 300)),
    ("relations_may_be_many", relations_may_be_many),
    ("few_open_tasks_are_found_by_an_index", open_tasks::few_open_tasks_are_found_by_an_index),
    ("slow_queries_end", values::slow_queries_end),
    ("texts_that_it_does_not_take", values::texts_that_it_does_not_take),
    ("values_are_never_sql", values::values_are_never_sql),
    ("models_are_found", values::models_are_found),
    ("many_start_at_once", schema::many_start_at_once),
    ("what_is_missing_is_added", schema::what_is_missing_is_added),
    ("later_and_foreign_schemas_are_refused", schema::later_and_foreign_schemas_are_refused),
    ("rights_to_write_are_enough", schema::rights_to_write_are_enough),
    ("names_of_schemas_may_be_odd", schema::names_of_schemas_may_be_odd),
    ("passwords_and_tls", guarded::passwords_and_tls),
    ("a_refused_row_is_named", writing::a_refused_row_is_named),
    ("two_writers_see_each_other", writing::two_writers_see_each_other),
    ("crashes_lose_nothing_and_repeat_nothing", writing::crashes_lose_nothing_and_repeat_nothing),
];

fn main() -> ExitCode {
    let Some(programs) = server::programs() else {
        println!(
            "postgres: not run, no PostgreSQL was found (set POSTGRES_BIN to the directory of initdb and pg_ctl)"
        );
        return ExitCode::SUCCESS;
    };
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    let server = Server::start(&programs);
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in TESTS.iter().filter(|(name, _)| is_wanted(name)) {
        let outcome = catch_unwind(AssertUnwindSafe(|| test(&server)));
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        if outcome.is_ok() { passed += 1 } else { failed += 1 }
    }
    println!("test result: {}. {passed} passed; {failed} failed", if failed == 0 { "ok" } else { "FAILED" });
    ExitCode::from(u8::from(failed > 0))
}

/// A store in a schema of its own.
pub(crate) struct Store(pub PostgresOptions);

impl Store {
    pub(crate) fn new(server: &Server, schema: &str) -> Self {
        Self(PostgresOptions { schema: schema.to_owned(), ..PostgresOptions::new(&server.url()) })
    }

    pub(crate) fn open(&self) -> Result<u64, StoreError> {
        suite::Store::writer(self).open()
    }
}

impl suite::Store for Store {
    fn writer(&self) -> Box<dyn Writer> {
        Box::new(PostgresWriter::new(self.0.clone(), 1))
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(PostgresReader::new(self.0.clone()))
    }

    fn cleaner(&self) -> Box<dyn Cleaner> {
        Box::new(PostgresCleaner::new(self.0.clone()))
    }

    fn loader(&self) -> Box<dyn Loader> {
        Box::new(PostgresLoader::new(self.0.clone()))
    }
}

fn relations_may_be_many(server: &Server) {
    let store = Store::new(server, "relations");
    store.open().unwrap();
    let numbers = format!("generate_series(1, {}) AS numbers(n)", relations::VARIABLES);
    sql(server, &format!("SET search_path TO relations; {}", relations::statements(&numbers)));
    relations::run(&store);
}

/// The connection of another client.
pub(crate) fn stranger(server: &Server) -> PgConnection {
    suite::block_on(PgConnection::connect(&server.url())).unwrap()
}

/// Does as somebody else.
pub(crate) fn sql(server: &Server, statements: &str) {
    suite::block_on(sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut stranger(server))).unwrap();
}

/// Asks for one number as somebody else.
pub(crate) fn number(server: &Server, query: &str) -> i64 {
    suite::block_on(sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(&mut stranger(server))).unwrap()
}
