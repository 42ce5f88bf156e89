//! Copies of the file that are made while it is written.

use std::sync::atomic::{AtomicBool, Ordering};

use search::model::process_instance as instance;
use secondary::{Batch, CopyError, RowId, SqliteOptions, SqliteReader, SqliteWriter, Writer};

use super::suite;

/// Rows of each position.
const ROWS: u64 = 50;

/// At most as many positions are written during a copy. So all of them have fewer rows than a search counts.
const WRITES_BESIDE_A_COPY: u64 = 30;

fn write(writer: &mut dyn Writer, position: u64) {
    let mut batch = Batch::default();
    for number in 0..ROWS {
        let change = batch.insert(&instance::ENTITY, RowId::Key(position * ROWS + number));
        change.set(instance::PROCESS_NAME, "x".repeat(300).as_str());
        if number.is_multiple_of(2) {
            change.set(instance::END, 5_i64);
        }
    }
    writer.write(&batch, position).unwrap();
}

#[test]
fn a_copy_has_all_up_to_its_position_and_nothing_of_later_ones() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.db"));
    let mut writer = SqliteWriter::new(options.clone(), 1);
    writer.open().unwrap();
    (1..=20).for_each(|position| write(&mut writer, position));
    let mut last = 20;
    for number in 0..5 {
        let target = directory.path().join(format!("copy-{number}.db"));
        let is_over = AtomicBool::new(false);
        let (copy, written) = std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let positions = last + 1..=last + WRITES_BESIDE_A_COPY;
                let written = positions.take_while(|&position| {
                    write(&mut writer, position);
                    !is_over.load(Ordering::Relaxed)
                });
                written.last().unwrap_or(last)
            });
            let copy = options.copy(&target).unwrap();
            is_over.store(true, Ordering::Relaxed);
            (copy, writing.join().unwrap())
        });
        // The one that saw the end of the copy was written, too.
        let written = (written + 1).min(last + WRITES_BESIDE_A_COPY);
        assert_eq!(std::fs::metadata(&target).unwrap().len(), copy.bytes);
        let [(1, position)] = copy.positions[..] else { panic!("{copy:?}") };
        assert!((last..=written).contains(&position), "{position}: not of the time of the copy");
        last = written;
        let reader = SqliteReader::new(SqliteOptions::new(&target));
        let found = suite::block_on(search::Reader::search(&reader, suite::everything())).unwrap();
        assert_eq!(found.total, position * ROWS);
        let copied = SqliteOptions::new(&target);
        assert_eq!(SqliteWriter::new(copied, 1).open().unwrap(), position, "the copy can be gone on with");
    }
}

#[test]
fn a_copy_of_a_file_at_rest_is_the_same_file() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.db"));
    let mut writer = SqliteWriter::new(options.clone(), 1);
    writer.open().unwrap();
    (1..=5).for_each(|position| write(&mut writer, position));
    // The last connection brings the write-ahead log to the file.
    drop(writer);
    let target = directory.path().join("b.db");
    options.copy(&target).unwrap();
    assert!(std::fs::read(&options.path).unwrap() == std::fs::read(&target).unwrap());
}

#[test]
fn a_file_that_is_there_is_not_overwritten_and_none_is_made_of_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.db"));
    let target = directory.path().join("b.db");
    let error = options.copy(&target).unwrap_err();
    assert!(matches!(error, CopyError::Source(_)), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing was made");
    SqliteWriter::new(options.clone(), 1).open().unwrap();
    std::fs::write(&target, "precious").unwrap();
    let error = options.copy(&target).unwrap_err();
    assert!(matches!(error, CopyError::Target { .. }), "{error}");
    assert_eq!(std::fs::read(&target).unwrap(), b"precious");
}
