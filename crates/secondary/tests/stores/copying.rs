//! Copies of the file that are made while it is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use export::{Copies, Exporter as _, NoCopy};
use search::model::process_instance as instance;
use search::{Filling, Gap, Progress, StoreState};
use secondary::{
    Batch, CopyError, Projection, RowId, SqliteLoader, SqliteOptions, SqliteReader, SqliteWriter,
    StoreExporter, Writer,
};

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

#[test]
fn a_copy_takes_the_place_of_a_store_while_others_read_it() {
    let directory = tempfile::tempdir().unwrap();
    let behind = SqliteOptions::new(&directory.path().join("behind.db"));
    let ahead = SqliteOptions::new(&directory.path().join("ahead.db"));
    let copy = directory.path().join("copy.db");
    let mut writer = SqliteWriter::new(behind.clone(), 1);
    writer.open().unwrap();
    (1..=3).for_each(|position| write(&mut writer, position));
    let mut other = SqliteWriter::new(ahead.clone(), 1);
    other.open().unwrap();
    (1..=20).for_each(|position| write(&mut other, position));
    ahead.copy(&copy).unwrap();
    let reader = SqliteReader::new(behind);
    let total = || suite::block_on(search::Reader::search(&reader, suite::everything())).unwrap().total;
    assert_eq!(total(), 3 * ROWS);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut totals = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                totals.push(total());
            }
            totals
        });
        writer.replace(&copy).unwrap();
        is_over.store(true, Ordering::Relaxed);
        let totals = reading.join().unwrap();
        assert!(
            totals.iter().all(|total| [3 * ROWS, 20 * ROWS].contains(total)),
            "{totals:?}: nothing in between"
        );
    });
    assert_eq!(total(), 20 * ROWS);
    assert_eq!(writer.open().unwrap(), 20);
    write(&mut writer, 21);
    assert_eq!(total(), 21 * ROWS);
}

#[test]
fn a_file_that_is_no_store_takes_no_place() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.db"));
    let mut writer = SqliteWriter::new(options, 1);
    writer.open().unwrap();
    (1..=3).for_each(|position| write(&mut writer, position));
    let other = directory.path().join("other");
    std::fs::write(&other, "not a database, but as long as one could be ".repeat(1000)).unwrap();
    writer.replace(&other).unwrap_err();
    writer.replace(&directory.path().join("absent")).unwrap_err();
    assert_eq!(writer.open().unwrap(), 3, "it goes on with what it has");
}

#[test]
fn an_exporter_that_lacks_records_begins_with_the_store_of_another_replica() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("behind.db"));
    let ahead = SqliteOptions::new(&directory.path().join("ahead.db"));
    let mut other = SqliteWriter::new(ahead.clone(), 1);
    other.open().unwrap();
    (1..=20).for_each(|position| write(&mut other, position));
    let copies = Arc::new(Copies::new(|_| unreachable!("nobody asks this one")));
    let file = directory.path().join("copy.db");
    let fetched = Arc::new(AtomicU64::new(0));
    let (count, received) = (Arc::clone(&fetched), file.clone());
    copies.fetch_with(move |at_least| match at_least[&1] {
        0..=23 => {
            count.fetch_add(1, Ordering::Relaxed);
            ahead.copy(&received).map_err(|error| NoCopy::now(error.to_string()))?;
            Ok(received.clone())
        }
        _ => Err(NoCopy::now("its store goes up to 20")),
    });
    let begun = || {
        let writer = Box::new(SqliteWriter::new(options.clone(), 1));
        let projection = Projection::new(Box::new(SqliteLoader::new(options.clone())));
        StoreExporter::new(1, writer, projection, Arc::default()).with_copies(Some(Arc::clone(&copies)))
    };
    let error = begun().open(30).unwrap_err().to_string();
    assert!(
        error.contains("records after 0 up to 30") && error.contains("its store goes up to 20"),
        "{error}"
    );
    // Positions 21 to 23 are of commands without records.
    assert_eq!(begun().open(23).unwrap(), 23);
    assert!(!file.exists(), "what was received does not stay");
    assert_eq!(begun().open(23).unwrap(), 23);
    assert_eq!(begun().open(7).unwrap(), 23, "a store may be ahead of what was noted");
    assert_eq!(fetched.load(Ordering::Relaxed), 1);
    let reader = SqliteReader::new(options.clone());
    let found = suite::block_on(search::Reader::search(&reader, suite::everything())).unwrap();
    assert_eq!(found.total, 20 * ROWS);
}

#[test]
fn exporters_of_other_partitions_open_a_copy_that_takes_the_place_of_their_store() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("behind.db"));
    let ahead = SqliteOptions::new(&directory.path().join("ahead.db"));
    let copy = directory.path().join("copy.db");
    let writers = |options: &SqliteOptions| {
        [1, 2].map(|partition| {
            let mut writer = SqliteWriter::new(options.clone(), partition);
            writer.open().unwrap();
            writer
        })
    };
    let [mut first, mut second] = writers(&options);
    write(&mut second, 3);
    let [mut first_ahead, mut second_ahead] = writers(&ahead);
    write(&mut first_ahead, 20);
    write(&mut second_ahead, 30);
    let found = ahead.copy(&copy).unwrap();
    assert_eq!(found.positions, [(1, 20), (2, 30)]);
    first.replace(&copy).unwrap();
    assert_eq!(first.open().unwrap(), 20);
    let refused = second.write(&Batch::default(), 4).unwrap_err().to_string();
    assert!(refused.contains("took the place"), "{refused}");
    assert_eq!(second.open().unwrap(), 30, "it goes on with what the copy has");
    write(&mut second, 31);
    assert_eq!(first.open().unwrap(), 20);
}

/// A store with rows up to a position, and an exporter of it.
fn exporter(options: &SqliteOptions, progress: &Arc<Progress>, copies: Option<Arc<Copies>>) -> StoreExporter {
    let writer = Box::new(SqliteWriter::new(options.clone(), 1));
    let projection = Projection::new(Box::new(SqliteLoader::new(options.clone())));
    StoreExporter::new(1, writer, projection, Arc::clone(progress)).with_copies(copies)
}

#[test]
fn what_is_missing_for_good_is_told_until_somebody_accepts_it() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.db"));
    let gap = |is_accepted| vec![Gap { after: 0, upto: 30, is_accepted }];
    let opened = || {
        let progress = Arc::new(Progress::default());
        let position = exporter(&options, &progress, None).open(30).unwrap();
        assert_eq!((position, progress.wholeness.state()), (30, StoreState::Whole));
        progress
    };
    assert_eq!(opened().wholeness.gaps(), gap(false));
    let progress = opened();
    assert_eq!(progress.wholeness.gaps(), gap(false), "a restart tells it, too");
    let copy = directory.path().join("copy.db");
    options.copy(&copy).unwrap();
    let copied = Arc::new(Progress::default());
    exporter(&SqliteOptions::new(&copy), &copied, None).open(0).unwrap();
    assert_eq!(copied.wholeness.gaps(), gap(false), "whoever has a copy knows it");
    assert!(progress.wholeness.is_incomplete());
    progress.wholeness.begin(Filling::default());
    exporter(&options, &progress, None).open(30).unwrap();
    assert_eq!(progress.wholeness.gaps(), gap(true));
    assert_eq!(opened().wholeness.gaps(), gap(true), "it was accepted for good");
}

#[test]
fn a_copy_that_nobody_has_is_lost_until_somebody_begins_anew() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(&directory.path().join("a.db"));
    let mut writer = SqliteWriter::new(options.clone(), 1);
    writer.open().unwrap();
    (1..=3).for_each(|position| write(&mut writer, position));
    drop(writer);
    let copies = Arc::new(Copies::new(|_| unreachable!("nobody asks this one")));
    let is_final = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_final);
    copies.fetch_with(move |_| {
        Err(NoCopy { reason: "gone".to_owned(), is_final: told.load(Ordering::Relaxed) })
    });
    let progress = Arc::new(Progress::default());
    let open = || exporter(&options, &progress, Some(Arc::clone(&copies))).open(9);
    open().unwrap_err();
    assert!(matches!(progress.wholeness.state(), StoreState::UnderWay(_)), "another broker may come");
    is_final.store(true, Ordering::Relaxed);
    let error = open().unwrap_err().to_string();
    assert!(error.contains("baton history begin"), "{error}");
    assert!(matches!(progress.wholeness.state(), StoreState::Lost(_)));
    progress.wholeness.begin(Filling::default());
    assert_eq!(open().unwrap(), 9);
    assert_eq!(progress.wholeness.gaps(), [Gap { after: 3, upto: 9, is_accepted: true }]);
    let reader = SqliteReader::new(options.clone());
    let found = suite::block_on(search::Reader::search(&reader, suite::everything())).unwrap();
    assert_eq!(found.total, 3 * ROWS, "what there was stays");
}
