//! Answers that are given again until the file changes: people go back to lists that they have seen.

use parking_lot::Mutex;
use rusqlite::Connection;
use search::{Found, Question, Row, row_bytes};

use super::SqliteOptions;

/// Answers that are kept.
const KEPT_MAX: usize = 64;
/// Bytes of all that are kept, without their questions.
const BYTES_MAX: usize = 2 * 1024 * 1024;
/// Rows of an answer that is kept: longer ones are for programs, which do not ask the same again.
const ROWS_MAX: usize = 200;

/// Answers for one state of the file.
#[derive(Default)]
pub(super) struct Answers(Mutex<KeptAnswers>);

#[derive(Default)]
struct KeptAnswers {
    /// Sees each commit of the others, and makes none.
    watch: Option<Connection>,
    version: Option<i64>,
    /// The oldest first.
    kept: Vec<(Question, Found)>,
    bytes: usize,
}

/// The state of the file before a question was asked. An answer may be of a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version(Option<i64>);

impl Answers {
    /// The answer to a question if it was asked since the last change of the file; else its state now.
    pub(super) fn find(&self, options: &SqliteOptions, question: &Question) -> Result<Found, Version> {
        let mut state = self.0.lock();
        let version = state.look(options);
        if version.is_none() || version != state.version {
            state.version = version;
            state.kept.clear();
            state.bytes = 0;
        }
        let kept = state.kept.iter().find(|(asked, _)| asked == question);
        kept.map(|(_, found)| found.clone()).ok_or(Version(version))
    }

    /// Keeps an answer that was asked for in a state of the file, if that is still the last one that was seen.
    pub(super) fn keep(&self, version: Version, question: Question, found: &Found) {
        let mut state = self.0.lock();
        let bytes = bytes(&found.rows);
        if version.0.is_none()
            || version.0 != state.version
            || found.rows.len() > ROWS_MAX
            || bytes > BYTES_MAX
        {
            return;
        }
        while state.kept.len() == KEPT_MAX || state.bytes + bytes > BYTES_MAX {
            let (_, oldest) = state.kept.remove(0);
            state.bytes -= self::bytes(&oldest.rows);
        }
        state.bytes += bytes;
        state.kept.push((question, found.clone()));
    }
}

impl KeptAnswers {
    /// The data version of the file, which changes with each commit; none if the file can't be read.
    fn look(&mut self, options: &SqliteOptions) -> Option<i64> {
        if self.watch.is_none() {
            self.watch = options.connect_to_read().ok();
        }
        let version = self.watch.as_ref()?.prepare_cached("PRAGMA data_version");
        let version = version.and_then(|mut statement| statement.query_row([], |row| row.get(0)));
        if version.is_err() {
            self.watch = None;
        }
        version.ok()
    }
}

fn bytes(rows: &[Row]) -> usize {
    rows.iter().map(|row| row_bytes(row)).sum()
}

#[cfg(test)]
mod tests {
    use search::model::process_instance as instance;
    use search::{EntityRef, Filter, Position, Search};

    use super::*;

    fn question(limit: u32) -> Question {
        Question::Search(Search {
            entity: EntityRef(&instance::ENTITY),
            filter: Filter::All(vec![]),
            sort: vec![],
            position: Position::Offset(0),
            limit,
            count_up_to: 0,
            columns: u64::MAX,
            cut: None,
        })
    }

    fn found(rows: usize) -> Found {
        Found { rows: vec![vec![search::Value::Integer(7)]; rows], ..Found::default() }
    }

    #[test]
    fn an_answer_holds_until_the_file_changes() {
        let directory = tempfile::tempdir().expect("a directory");
        let options = SqliteOptions::new(&directory.path().join("a.sqlite"));
        let answers = Answers::default();
        assert_eq!(answers.find(&options, &question(1)), Err(Version(None)), "there is no file");
        let writer = options.connect().expect("a file");
        let write = |text: &str| writer.execute_batch(text).expect("a write");
        write("CREATE TABLE t (x)");
        let version = answers.find(&options, &question(1)).expect_err("nothing is kept");
        answers.keep(version, question(1), &found(3));
        assert_eq!(answers.find(&options, &question(1)), Ok(found(3)));
        assert!(answers.find(&options, &question(2)).is_err(), "another question");
        write("BEGIN; INSERT INTO t VALUES (1)");
        assert_eq!(answers.find(&options, &question(1)), Ok(found(3)), "nothing is committed");
        write("COMMIT");
        let next = answers.find(&options, &question(1)).expect_err("the file has changed");
        answers.keep(version, question(1), &found(3));
        assert_eq!(answers.find(&options, &question(1)), Err(next), "an answer of before is not kept");
    }

    #[test]
    fn answers_are_few_and_short() {
        let directory = tempfile::tempdir().expect("a directory");
        let options = SqliteOptions::new(&directory.path().join("a.sqlite"));
        options
            .connect()
            .and_then(|it| it.execute_batch("CREATE TABLE t (x)").map_err(super::super::error::failed))
            .expect("a file");
        let answers = Answers::default();
        let version = answers.find(&options, &question(0)).expect_err("nothing is kept");
        answers.keep(version, question(1000), &found(ROWS_MAX + 1));
        assert!(answers.find(&options, &question(1000)).is_err());
        for limit in 0..=KEPT_MAX as u32 {
            answers.keep(version, question(limit), &found(1));
        }
        assert!(answers.find(&options, &question(0)).is_err(), "the oldest has gone");
        assert_eq!(answers.find(&options, &question(KEPT_MAX as u32)), Ok(found(1)));
        let long = Found {
            rows: vec![vec![search::Value::Text("x".repeat(BYTES_MAX - 100).into())]],
            ..Found::default()
        };
        answers.keep(version, question(500), &long);
        let state = answers.0.lock();
        assert!(state.bytes <= BYTES_MAX && state.kept.len() < 5, "{} answers", state.kept.len());
        assert_eq!(state.bytes, state.kept.iter().map(|(_, found)| bytes(&found.rows)).sum::<usize>());
    }
}
