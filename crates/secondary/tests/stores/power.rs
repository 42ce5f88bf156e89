//! The power goes: of what was written since the last sync, some blocks are on disk and others are not.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use export::Flush;
use search::Value;
use search::model::process_instance as instance;
use secondary::{Batch, Cleaner, RowId, SqliteCleaner, SqliteOptions, SqliteReader, SqliteWriter, Writer};

use super::model::Dice;
use super::suite;

/// Unit of a disk's writes.
const BLOCK: usize = 4096;
/// Positions; each writes so many rows, enough for some checkpoints.
const POSITIONS: u64 = 80;
const ROWS: u64 = 100;

/// The files of a database.
struct Files(PathBuf);

impl Files {
    fn log(&self) -> Vec<u8> {
        fs::read(self.0.with_extension("db-wal")).unwrap_or_default()
    }

    /// Changes with each checkpoint, which syncs the log as well.
    fn checkpointed(&self) -> (u64, std::time::SystemTime) {
        let metadata = fs::metadata(&self.0).unwrap();
        (metadata.len(), metadata.modified().unwrap())
    }
}

/// Blocks on disk: the first, which is synced when the log begins anew, and any of the others.
fn left(synced: &[u8], written: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut left = Vec::new();
    let odds = 1 + dice.below(3);
    for (at, block) in written.chunks(BLOCK).enumerate() {
        let old = synced.get(at * BLOCK..).unwrap_or_default();
        let old = &old[..old.len().min(block.len())];
        let got_there = at == 0 || old.len() == block.len() && old == block || dice.below(odds) == 0;
        left.extend_from_slice(if got_there { block } else { old });
        if !got_there && old.len() < block.len() {
            break;
        }
    }
    left
}

fn write(writer: &mut dyn Writer, position: u64) {
    let mut batch = Batch::default();
    for number in 0..ROWS {
        let key = number * POSITIONS + position;
        let change = batch.insert(&instance::ENTITY, RowId::Key(key));
        change.set(instance::PROCESS_NAME, Value::from(format!("{key}-").repeat(400).as_str()));
        // A third goes into packs, another one is packed later.
        if key.is_multiple_of(3) {
            change.set(instance::END, 5_i64);
        }
    }
    for number in 0..ROWS {
        let key = number * POSITIONS + position - 1;
        if position > 1 && key % 3 == 1 {
            batch.update(&instance::ENTITY, RowId::Key(key)).set(instance::END, 5_i64);
        }
    }
    writer.write(&batch, position).unwrap();
}

fn rows(path: &Path) -> u64 {
    let reader = SqliteReader::new(SqliteOptions::new(path));
    let mut search = suite::everything();
    search.limit = 1;
    search.count_up_to = u64::MAX >> 1;
    suite::block_on(search::Reader::search(&reader, search)).unwrap().total
}

#[test]
fn nothing_that_was_acknowledged_is_lost_with_the_power() {
    let directory = tempfile::tempdir().unwrap();
    let files = Files(directory.path().join("a.db"));
    let sync_interval = Duration::from_hours(1);
    let options = SqliteOptions { sync_interval, ..SqliteOptions::new(&files.0) };
    let mut writer = SqliteWriter::new(options.clone(), 1);
    assert_eq!(writer.open().unwrap(), 0);
    let mut dice = Dice::new(11);
    let (mut synced, mut acknowledged, mut checkpointed) = (files.log(), 0, files.checkpointed());
    let (mut lost, mut checkpoints, mut packed) = (0, 0, 0);
    let mut cleaner = SqliteCleaner::new(options.clone());
    cleaner.open().unwrap();
    for position in 1..=POSITIONS {
        write(&mut writer, position);
        let flush = if dice.below(4) == 0 { Flush::Whole } else { Flush::Usual };
        let is_durable = writer.sync(flush).unwrap();
        assert_eq!(is_durable, flush == Flush::Whole);
        if dice.below(3) == 0 {
            packed += cleaner.pack().unwrap().rows;
        }
        if files.checkpointed() != checkpointed {
            (synced, checkpointed) = (files.log(), files.checkpointed());
            checkpoints += 1;
        }
        if is_durable {
            (synced, acknowledged) = (files.log(), position);
        }
        if dice.below(4) == 0 {
            let after = Files(directory.path().join(format!("{position}.db")));
            fs::copy(&files.0, &after.0).unwrap();
            fs::write(after.0.with_extension("db-wal"), left(&synced, &files.log(), &mut dice)).unwrap();
            let options = SqliteOptions { path: after.0.clone(), ..options.clone() };
            let found = SqliteWriter::new(options, 1).open().unwrap();
            assert!((acknowledged..=position).contains(&found), "{found} of {acknowledged} to {position}");
            assert_eq!(rows(&after.0), found * ROWS, "all of what is there, and nothing else");
            lost += u64::from(found < position);
            fs::remove_file(&after.0).unwrap();
        }
    }
    assert!(packed > 100, "{packed} rows were packed");
    assert!(lost > 1 && checkpoints > 1, "{lost} times something was lost, {checkpoints} checkpoints");
}
