//! Disks that fail, fill up, or lose power: nothing is lost that was flushed, and nothing is torn.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::{Arc, atomic::Ordering};

use common::{Disk, Handle, Mood};
use state::{Options, StateError, Store};

state::tables! {
    struct Tables {
        rows: Table<u64, Vec200> = 1,
        index: Table<(u64, String), ()> = 2,
    }
}

#[derive(Debug, Clone, PartialEq, minicbor::Encode, minicbor::Decode)]
struct Vec200 {
    #[n(0)]
    #[cbor(with = "minicbor::bytes")]
    bytes: Vec<u8>,
}
state::minicbor_value!(Vec200, weight = |value| value.bytes.len());

fn value(seed: u64) -> Vec200 {
    Vec200 { bytes: seed.to_le_bytes().repeat(25) }
}

fn options() -> Options {
    // Small, so that reads do reach the disk.
    Options { page_cache_bytes: 64 << 10, clean_cache_bytes: 0 }
}

fn open(disk: &Arc<Disk>) -> Result<Tables, StateError> {
    Tables::open(&Store::with_backend(Arc::new(Handle(Arc::clone(disk))), options())?)
}

fn fill(tables: &mut Tables, keys: std::ops::Range<u64>) {
    for key in keys {
        tables.rows.put(key, value(key));
        tables.index.put((key % 7, key.to_string()), ());
    }
}

fn flush(tables: &mut Tables, index: u64) -> Result<(), StateError> {
    let flush = match tables.retry_flush() {
        Some(flush) => flush,
        None => tables.freeze(index)?,
    };
    let outcome = flush.run()?;
    tables.flushed(outcome).map(drop)
}

/// Every row is there, whichever layer it comes from.
fn check(tables: &Tables, keys: std::ops::Range<u64>) {
    for key in keys.clone() {
        assert_eq!(*tables.rows.get(&key).unwrap().unwrap(), value(key), "row {key}");
    }
    assert_eq!(tables.rows.keys(.., usize::MAX).unwrap(), keys.clone().collect::<Vec<_>>());
    assert_eq!(tables.index.scan(.., usize::MAX).unwrap().len() as u64, keys.end - keys.start);
    assert_eq!(tables.exact_row_counts().unwrap(), [keys.end - keys.start; 2]);
}

#[test]
fn a_flush_that_fails_at_any_write_loses_nothing_and_can_be_tried_again() {
    let mut writes_until_success = 0;
    loop {
        let disk = Arc::new(Disk::new(Vec::new()));
        let mut tables = open(&disk).unwrap();
        fill(&mut tables, 0..300);
        flush(&mut tables, 1).unwrap();
        fill(&mut tables, 300..600);

        disk.set(Mood::FailingAfter(writes_until_success));
        let result = flush(&mut tables, 2);
        disk.set(Mood::Healthy);
        if result.is_ok() {
            break;
        }
        assert!(tables.frozen());
        check(&tables, 0..600);
        fill(&mut tables, 600..700);
        check(&tables, 0..700);

        // A crash now finds the first flush, or the second if only its very last sync failed.
        let crashed = open(&Arc::new(Disk::new(disk.copy()))).unwrap();
        match crashed.applied_index() {
            1 => check(&crashed, 0..300),
            2 => check(&crashed, 0..600),
            index => panic!("the disk is at index {index}"),
        }

        flush(&mut tables, 2).unwrap();
        check(&tables, 0..700);
        let crashed = open(&Arc::new(Disk::new(disk.synced()))).unwrap();
        assert_eq!(crashed.applied_index(), 2);
        check(&crashed, 0..600);
        flush(&mut tables, 3).unwrap();
        check(&tables, 0..700);
        writes_until_success += 1;
    }
    assert!(writes_until_success > 20, "only {writes_until_success} places to fail at");
}

#[test]
fn a_full_disk_is_called_full_and_recovers() {
    let disk = Arc::new(Disk::new(Vec::new()));
    let mut tables = open(&disk).unwrap();
    fill(&mut tables, 0..1000);
    flush(&mut tables, 1).unwrap();
    disk.set(Mood::FullAt(disk.copy().len() as u64));
    fill(&mut tables, 1000..20_000);
    for _ in 0..3 {
        let error = flush(&mut tables, 2).unwrap_err();
        assert!(error.is_disk_full(), "{error}");
        assert!(tables.frozen());
        // Rows of the first flush are read from the same disk.
        assert_eq!(*tables.rows.get(&500).unwrap().unwrap(), value(500));
    }
    check(&tables, 0..20_000);
    disk.set(Mood::Healthy);
    flush(&mut tables, 2).unwrap();
    check(&tables, 0..20_000);
    assert_eq!(open(&Arc::new(Disk::new(disk.copy()))).unwrap().applied_index(), 2);
}

#[test]
fn reads_work_again_once_a_dead_disk_is_back() {
    let disk = Arc::new(Disk::new(Vec::new()));
    let mut tables = open(&disk).unwrap();
    fill(&mut tables, 0..5000);
    flush(&mut tables, 1).unwrap();
    fill(&mut tables, 5000..5010);

    disk.set(Mood::Dead);
    let failed = (0..5000).filter(|key| tables.rows.get(key).is_err()).count();
    assert!(failed > 4000, "{failed} reads failed");
    assert!(tables.rows.scan(.., usize::MAX).is_err());
    let error = tables.rows.get(&2500).unwrap_err();
    assert!(error.to_string().contains("dead"), "{error}");
    assert_eq!(*tables.rows.get(&5005).unwrap().unwrap(), value(5005), "memory needs no disk");
    assert!(flush(&mut tables, 2).is_err());

    disk.set(Mood::Healthy);
    check(&tables, 0..5010);
    flush(&mut tables, 2).unwrap();
    check(&tables, 0..5010);
}

#[test]
fn a_scan_goes_on_after_the_database_was_reopened_under_it() {
    let disk = Arc::new(Disk::new(Vec::new()));
    let mut tables = open(&disk).unwrap();
    fill(&mut tables, 0..5000);
    flush(&mut tables, 1).unwrap();
    let (mut seen, mut failed) = (Vec::new(), false);
    tables
        .rows
        .visit(.., |key, _| {
            seen.push(*key);
            if *key == 1000 && !failed {
                // Another table's read meets the dead disk and latches the database.
                failed = true;
                disk.set(Mood::Dead);
                assert!(tables.index.scan(.., usize::MAX).is_err());
                disk.set(Mood::Healthy);
            }
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen, (0..5000).collect::<Vec<_>>());
}

#[test]
fn a_power_failure_at_any_write_leaves_one_flush_or_the_other() {
    let disk = Arc::new(Disk::new(Vec::new()));
    let mut tables = open(&disk).unwrap();
    fill(&mut tables, 0..300);
    flush(&mut tables, 1).unwrap();
    let first = disk.copy();
    for writes in 0.. {
        let disk = Arc::new(Disk::new(first.clone()));
        let mut tables = open(&disk).unwrap();
        fill(&mut tables, 300..500);
        for key in 0..100 {
            tables.rows.delete(&key);
            tables.index.delete(&(key % 7, key.to_string()));
        }
        disk.set(Mood::FailingAfter(writes));
        let done = flush(&mut tables, 2).is_ok();
        for bytes in [disk.copy(), disk.synced()] {
            let crashed = open(&Arc::new(Disk::new(bytes))).unwrap();
            match crashed.applied_index() {
                1 if !done => check(&crashed, 0..300),
                2 => check(&crashed, 100..500),
                index => panic!("the disk is at index {index} after {writes} writes"),
            }
        }
        if done {
            break;
        }
    }
}

#[test]
fn nothing_is_written_between_flushes() {
    let disk = Arc::new(Disk::new(Vec::new()));
    let mut tables = open(&disk).unwrap();
    fill(&mut tables, 0..300);
    flush(&mut tables, 1).unwrap();
    let (before, writes) = (disk.copy(), disk.writes.load(Ordering::Relaxed));
    fill(&mut tables, 300..900);
    tables.rows.delete(&5);
    drop(tables.freeze(2).unwrap());
    assert!(tables.rows.scan(.., usize::MAX).unwrap().len() == 899);
    assert_eq!(disk.writes.load(Ordering::Relaxed), writes);
    assert!(disk.copy() == before);
}

#[test]
fn flipped_bytes_are_errors_or_harmless_never_panics() {
    let disk = Arc::new(Disk::new(Vec::new()));
    let mut tables = open(&disk).unwrap();
    fill(&mut tables, 0..400);
    flush(&mut tables, 1).unwrap();
    drop(tables);
    let whole = disk.copy();
    let mut refused = 0;
    // A stride that is prime to the page size meets every part of a page.
    for offset in (0..whole.len()).step_by(1009) {
        let mut bytes = whole.clone();
        bytes[offset] ^= 0x55;
        let read_all = || -> Result<(), StateError> {
            let tables = open(&Arc::new(Disk::new(bytes.clone())))?;
            for (key, row) in tables.rows.scan(.., usize::MAX)? {
                assert_eq!(*row, value(key), "a changed row passed for a good one");
            }
            for (key, text) in tables.index.keys(.., usize::MAX)? {
                assert_eq!(text.parse::<u64>().unwrap() % 7, key, "a changed key passed for a good one");
            }
            for key in 0..400 {
                if let Some(row) = tables.rows.get(&key)? {
                    assert_eq!(*row, value(key));
                }
            }
            Ok(())
        };
        refused += usize::from(read_all().is_err());
    }
    assert!(refused > 0);
}

#[test]
fn verifying_finds_a_changed_page() {
    let disk = Arc::new(Disk::new(Vec::new()));
    let mut tables = open(&disk).unwrap();
    fill(&mut tables, 0..400);
    flush(&mut tables, 1).unwrap();
    drop(tables);
    let verify =
        |bytes| Store::with_backend(Arc::new(Handle(Arc::new(Disk::new(bytes)))), options())?.verify();
    let mut bytes = disk.copy();
    verify(bytes.clone()).unwrap();
    // Somewhere inside a row.
    let row = bytes.windows(8).position(|part| part == 123u64.to_le_bytes()).unwrap();
    bytes[row] ^= 1;
    let error = verify(bytes).unwrap_err();
    assert!(matches!(error, StateError::Damaged { .. }), "{error}");
}
