//! One suite for every store: what is written is found, by every test, in every order, page by page.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod agents;
mod candidates;
mod copying;
mod counts;
mod durations;
mod indexes;
mod model;
mod packing;
mod power;
mod relations;
mod replays;
mod retention;
mod steps;
mod suite;
mod wait_states;

use std::path::Path;

use search::Reader;
use secondary::{
    Cleaner, Loader, SqliteCleaner, SqliteLoader, SqliteOptions, SqliteReader, SqliteWriter, Writer,
};
use suite::Store;

/// Random searches.
const ROUNDS: u32 = 300;

struct Sqlite(SqliteOptions);

impl Sqlite {
    fn in_directory(directory: &Path) -> Self {
        Self(SqliteOptions::new(&directory.join("secondary.sqlite")))
    }
}

impl Store for Sqlite {
    fn writer(&self) -> Box<dyn Writer> {
        Box::new(SqliteWriter::new(self.0.clone(), 1))
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(SqliteReader::new(self.0.clone()))
    }

    fn cleaner(&self) -> Box<dyn Cleaner> {
        Box::new(SqliteCleaner::new(self.0.clone()))
    }

    fn loader(&self) -> Box<dyn Loader> {
        Box::new(SqliteLoader::new(self.0.clone()))
    }
}

#[test]
fn sqlite() {
    let directory = tempfile::tempdir().unwrap();
    suite::run(&Sqlite::in_directory(directory.path()), ROUNDS);
}

#[test]
fn a_query_that_takes_too_long_is_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Sqlite::in_directory(directory.path());
    suite::fill(&mut *store.writer(), &model::rows(2_000, 7));
    store.0.query_timeout = std::time::Duration::ZERO;
    let error = suite::block_on(store.reader().search(suite::everything())).unwrap_err();
    assert!(matches!(error, search::StoreError::TooSlow(_)), "{error}");
}

#[test]
fn relations_may_be_many() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sqlite::in_directory(directory.path());
    store.writer().open().unwrap();
    let numbers = format!(
        "(WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {}) SELECT n FROM numbers)",
        relations::VARIABLES
    );
    let connection = rusqlite::Connection::open(&store.0.path).unwrap();
    connection.execute_batch(&relations::statements(&numbers)).unwrap();
    relations::run(&store);
}

#[test]
fn searches_do_not_wait_for_who_writes() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sqlite::in_directory(directory.path());
    suite::fill(&mut *store.writer(), &model::rows(10, 7));
    let other = rusqlite::Connection::open(&store.0.path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Each on a connection of its own.
    for _ in 0..2 {
        let found = suite::block_on(store.reader().search(suite::everything())).unwrap();
        assert_eq!(found.rows.len(), 10);
    }
    other.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn room_of_rows_that_are_gone_is_given_back() {
    const ROWS: u64 = 20_000;
    let directory = tempfile::tempdir().unwrap();
    let store = Sqlite::in_directory(directory.path());
    let mut rows = model::rows(ROWS, 7);
    let mut dice = model::Dice::new(3);
    for row in &mut rows {
        row[model::END] = 5_i64.into();
        let text = [(); 8].map(|()| format!("{:016x}", dice.below(u64::MAX))).concat();
        row[search::model::process_instance::BUSINESS_ID as usize] = text.as_str().into();
    }
    suite::fill(&mut *store.writer(), &rows);
    let path = directory.path().join("secondary.sqlite");
    let size = || std::fs::metadata(&path).unwrap().len();
    let full = size();
    let swept = retention::sweep(&store, retention::keep_nothing());
    assert_eq!(swept, secondary::Swept { things: ROWS, rows: ROWS });
    // The write-ahead log reaches the file at the end.
    assert_eq!(store.writer().open().unwrap(), 1);
    assert!(size() < full / 4 * 3, "{} of {full} bytes", size());
}

#[test]
fn a_page_of_many_small_rows_is_whole_and_one_of_many_large_ones_is_refused() {
    const LARGE: usize = 1 << 20;
    let directory = tempfile::tempdir().unwrap();
    let store = Sqlite::in_directory(directory.path());
    let mut rows = model::rows(10_000, 7);
    suite::fill(&mut *store.writer(), &rows);
    let page = || suite::block_on(store.reader().search(suite::everything()));
    assert_eq!(page().unwrap().rows.len(), 10_000);
    let large = search::PAGE_BYTES_MAX / LARGE;
    for row in &mut rows[..large] {
        row[search::model::process_instance::TAGS as usize] =
            format!("[\"{}\"]", "x".repeat(LARGE)).as_str().into();
    }
    rows.truncate(large);
    suite::fill(&mut *store.writer(), &rows);
    let error = page().unwrap_err();
    assert!(matches!(error, search::StoreError::PageTooLarge(_)), "{error}");
    assert!(error.to_string().contains("page.limit") && error.to_string().contains("67108864"), "{error}");
}
