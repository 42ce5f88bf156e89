//! Tables as programs see them.

#![allow(clippy::unwrap_used)]

use std::{ops::Bound, panic::AssertUnwindSafe, path::Path, sync::Arc};

use state::{Options, StateError, Store, TableValue};

#[derive(Debug, Clone, PartialEq, minicbor::Encode, minicbor::Decode)]
struct Job {
    #[n(0)]
    kind: String,
    #[n(1)]
    retries: u32,
}
state::minicbor_value!(Job, weight = |job| size_of::<Job>() + job.kind.len());

state::tables! {
    struct Tables {
        jobs: Table<u64, Job> = 7,
        by_kind: Table<(Arc<str>, u64), ()> = 3,
        counters: Table<(), i64> = 9,
    }
}

fn job(kind: &str, retries: u32) -> Job {
    Job { kind: kind.to_owned(), retries }
}

fn in_memory() -> (Store, Tables) {
    let store = Store::in_memory(Options::default()).unwrap();
    let tables = Tables::open(&store).unwrap();
    (store, tables)
}

fn flush(tables: &mut Tables, index: u64) {
    let outcome = tables.freeze(index).unwrap().run().unwrap();
    drop(tables.flushed(outcome).unwrap());
}

fn keys(tables: &Tables) -> Vec<u64> {
    tables.jobs.keys(.., usize::MAX).unwrap()
}

#[test]
fn rows_are_found_in_every_layer() {
    let (_store, mut tables) = in_memory();
    tables.jobs.insert(1, job("disk", 1));
    flush(&mut tables, 1);
    tables.jobs.insert(2, job("frozen", 2));
    let pending = tables.freeze(2).unwrap();
    tables.jobs.insert(3, job("active", 3));

    for (key, kind) in [(1, "disk"), (2, "frozen"), (3, "active")] {
        assert_eq!(tables.jobs.get(&key).unwrap().unwrap().kind, kind);
        assert!(tables.jobs.contains(&key).unwrap());
    }
    assert_eq!(keys(&tables), [1, 2, 3]);
    assert_eq!(tables.jobs.first(2..).unwrap().unwrap().0, 2);
    assert_eq!(tables.jobs.last(..3).unwrap().unwrap().0, 2);
    assert_eq!(tables.jobs.last(..).unwrap().unwrap().1.kind, "active");
    assert_eq!(tables.jobs.scan((Bound::Excluded(1), Bound::Unbounded), 1).unwrap()[0].0, 2);
    assert_eq!(tables.jobs.len().unwrap(), 3);

    tables.jobs.delete(&1);
    tables.jobs.delete(&2);
    assert_eq!(keys(&tables), [3]);
    let outcome = pending.run().unwrap();
    tables.flushed(outcome).unwrap();
    assert_eq!(keys(&tables), [3]);
    assert_eq!(tables.jobs.get(&2).unwrap(), None);
    assert_eq!(tables.row_counts(), [("jobs", 1), ("by_kind", 0), ("counters", 0)]);

    flush(&mut tables, 3);
    assert_eq!(tables.row_counts()[0], ("jobs", 1));
    tables.jobs.delete(&3);
    assert!(tables.jobs.is_empty().unwrap());
    flush(&mut tables, 4);
    assert!(tables.jobs.is_empty().unwrap());
    assert_eq!(tables.jobs.len().unwrap(), 0);
}

#[test]
fn empty_and_inverted_ranges_are_empty() {
    let (_store, mut tables) = in_memory();
    for round in 0..2 {
        tables.jobs.put(5, job("a", 0));
        #[allow(clippy::reversed_empty_ranges)]
        {
            assert!(tables.jobs.scan(9..1, 10).unwrap().is_empty());
            assert!(tables.jobs.keys(9..=8, 10).unwrap().is_empty());
        }
        assert!(tables.jobs.first(5..5).unwrap().is_none());
        assert!(tables.jobs.last((Bound::Excluded(5), Bound::Excluded(5))).unwrap().is_none());
        assert!(tables.jobs.scan(.., 0).unwrap().is_empty());
        assert!(tables.jobs.keys(.., 0).unwrap().is_empty());
        assert_eq!(tables.jobs.first(5..=5).unwrap().unwrap().0, 5);
        flush(&mut tables, round);
    }
}

#[test]
fn a_rolled_back_command_leaves_nothing() {
    let (_store, mut tables) = in_memory();
    tables.jobs.insert(1, job("on disk", 1));
    tables.jobs.insert(2, job("on disk", 2));
    flush(&mut tables, 1);
    tables.jobs.insert(10, job("in memory", 1));
    tables.jobs.delete(&2);
    let (hash, bytes) = (tables.state_hash().unwrap(), tables.overlay_bytes());

    tables.begin();
    tables.jobs.delete(&1);
    tables.jobs.insert(1, job("again", 1));
    tables.jobs.update(&1, |job| job.retries = 9).unwrap();
    tables.jobs.delete(&1);
    tables.jobs.delete(&10);
    tables.jobs.insert(10, job("again", 1));
    tables.jobs.put(10, job("and again", 1));
    tables.jobs.insert(2, job("back", 2));
    tables.jobs.insert(11, job("new", 1));
    tables.by_kind.insert(("new".into(), 11), ());
    tables.counters.put((), 4);
    assert_ne!(tables.state_hash().unwrap(), hash);
    tables.rollback();

    assert_eq!(tables.state_hash().unwrap(), hash);
    assert_eq!(tables.overlay_bytes(), bytes);
    assert_eq!(tables.jobs.get(&1).unwrap().unwrap().kind, "on disk");
    assert_eq!(keys(&tables), [1, 10]);
    assert_eq!(tables.row_counts(), [("jobs", 2), ("by_kind", 0), ("counters", 0)]);
}

#[test]
fn a_panic_inside_a_command_is_rolled_back_too() {
    let (_store, mut tables) = in_memory();
    tables.jobs.insert(1, job("a", 1));
    let (hash, bytes) = (tables.state_hash().unwrap(), tables.overlay_bytes());

    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| {
        tables.begin();
        tables.jobs.insert(2, job("b", 1));
        let _ = tables.jobs.update(&1, |job| {
            job.kind.push_str("half done");
            panic!("no further");
        });
    }));
    assert!(panic.is_err());
    tables.rollback();

    assert_eq!(tables.state_hash().unwrap(), hash);
    assert_eq!(tables.overlay_bytes(), bytes);
    tables.begin();
    tables.jobs.insert(2, job("b", 1));
    tables.commit();
    assert_eq!(keys(&tables), [1, 2]);
}

#[test]
fn updates_copy_what_somebody_still_holds() {
    let (_store, mut tables) = in_memory();
    tables.jobs.insert(1, job("a", 3));
    let before = tables.jobs.get(&1).unwrap().unwrap();
    assert!(tables.jobs.update(&1, |job| job.retries = 2).unwrap());
    assert_eq!(before.retries, 3);
    assert_eq!(tables.jobs.get(&1).unwrap().unwrap().retries, 2);
    assert!(!tables.jobs.update(&2, |_| ()).unwrap());

    flush(&mut tables, 1);
    assert!(tables.jobs.update(&1, |job| job.retries = 1).unwrap());
    assert_eq!(tables.jobs.get(&1).unwrap().unwrap().retries, 1);
    assert_eq!(tables.jobs.len().unwrap(), 1);
    flush(&mut tables, 2);
    assert_eq!(tables.jobs.get(&1).unwrap().unwrap().retries, 1);
}

#[test]
fn what_lives_and_dies_between_flushes_weighs_nothing() {
    let (_store, mut tables) = in_memory();
    tables.jobs.insert(1, job("stays", 1));
    flush(&mut tables, 1);
    tables.begin();
    tables.jobs.insert(2, job("a", 1));
    tables.by_kind.insert(("a".into(), 2), ());
    tables.commit();
    assert!(tables.overlay_bytes() > 100);
    tables.begin();
    tables.jobs.delete(&2);
    tables.by_kind.delete(&("a".into(), 2));
    tables.commit();
    assert_eq!(tables.overlay_bytes(), 0);
    tables.jobs.delete(&99);
    assert_eq!(tables.overlay_bytes(), 0, "a key beyond the end of the disk needs no tombstone");
}

#[test]
fn one_flush_at_a_time_and_never_backwards() {
    let (_store, mut tables) = in_memory();
    let first = tables.freeze(5).unwrap();
    assert!(tables.frozen());
    assert!(matches!(tables.freeze(6), Err(StateError::FlushPending)));
    let outcome = first.run().unwrap();
    assert_eq!(outcome.applied_index(), 5);
    assert_eq!(tables.applied_index(), 0);
    tables.flushed(outcome).unwrap();
    assert!(!tables.frozen());
    assert_eq!(tables.applied_index(), 5);
    assert!(tables.retry_flush().is_none());
    assert!(matches!(tables.freeze(4), Err(StateError::IndexWentBack { given: 4, flushed: 5 })));
    tables.begin();
    assert!(matches!(tables.freeze(6), Err(StateError::InsideCommand)));
    tables.commit();

    // A dropped flush is not lost.
    tables.jobs.insert(1, job("a", 1));
    drop(tables.freeze(6).unwrap());
    assert_eq!(keys(&tables), [1]);
    let outcome = tables.retry_flush().unwrap().run().unwrap();
    tables.flushed(outcome).unwrap();
    assert_eq!(keys(&tables), [1]);
}

#[test]
fn the_outcome_of_another_flush_is_refused() {
    let (_store, mut one) = in_memory();
    let (_other_store, mut other) = in_memory();
    let outcome = one.freeze(1).unwrap().run().unwrap();
    assert!(matches!(other.flushed(outcome), Err(StateError::NoSuchFlush(1))));
}

#[test]
fn the_file_remembers_the_last_flush_and_nothing_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.redb");
    let hash = {
        let store = Store::open(&path, Options::default()).unwrap();
        let mut tables = Tables::open(&store).unwrap();
        assert_eq!(tables.applied_index(), 0);
        tables.jobs.insert(1, job("kept", 1));
        tables.counters.put((), -3);
        tables.by_kind.insert(("kept\0".into(), 1), ());
        flush(&mut tables, 42);
        let hash = tables.state_hash().unwrap();
        tables.jobs.insert(2, job("lost", 1));
        assert!(matches!(Store::open(&path, Options::default()), Err(StateError::AlreadyOpen { .. })));
        hash
    };
    let store = Store::open(&path, Options::default()).unwrap();
    let tables = Tables::open(&store).unwrap();
    assert_eq!(tables.applied_index(), 42);
    assert_eq!(tables.state_hash().unwrap(), hash);
    assert_eq!(keys(&tables), [1]);
    assert_eq!(tables.counters.get(&()).unwrap().as_deref(), Some(&-3));
    assert_eq!(tables.by_kind.first(..).unwrap().unwrap().0.0.as_ref(), "kept\0");
    assert!(store.disk_bytes().unwrap() > 0);
    drop(tables);
    store.verify().unwrap();
}

#[test]
fn equal_content_has_equal_hashes_however_it_lies() {
    let (_store, mut flushed) = in_memory();
    let (_other_store, mut fresh) = in_memory();
    assert_eq!(flushed.state_hash().unwrap(), fresh.state_hash().unwrap());
    for key in 0..100 {
        flushed.jobs.insert(key, job("a", u32::try_from(key).unwrap()));
        flushed.by_kind.insert(("a".into(), key), ());
        if key % 30 == 0 {
            flush(&mut flushed, key);
        }
    }
    for key in (0..100).rev() {
        fresh.jobs.insert(key, job("a", u32::try_from(key).unwrap()));
        fresh.by_kind.insert(("a".into(), key), ());
    }
    assert_eq!(flushed.state_hash().unwrap(), fresh.state_hash().unwrap());
    let pending = fresh.freeze(1).unwrap();
    fresh.jobs.delete(&50);
    flushed.jobs.delete(&50);
    assert_eq!(flushed.state_hash().unwrap(), fresh.state_hash().unwrap());
    let outcome = pending.run().unwrap();
    fresh.flushed(outcome).unwrap();
    assert_eq!(flushed.state_hash().unwrap(), fresh.state_hash().unwrap());
    flushed.jobs.update(&7, |job| job.retries += 1).unwrap();
    assert_ne!(flushed.state_hash().unwrap(), fresh.state_hash().unwrap());
}

#[test]
fn clean_values_stay_within_their_bound() {
    let options = Options { clean_cache_bytes: 64 << 10, ..Options::default() };
    let store = Store::in_memory(options).unwrap();
    let mut tables = Tables::open(&store).unwrap();
    for key in 0..2000 {
        tables.jobs.insert(key, job("some kind of job", 1));
    }
    flush(&mut tables, 1);
    for key in 0..2000 {
        assert!(tables.jobs.get(&key).unwrap().is_some());
    }
    assert!(store.clean_cache_bytes() <= 64 << 10);
    assert!(store.clean_cache_bytes() > 16 << 10);
    let again = tables.jobs.get(&1999).unwrap().unwrap();
    assert!(Arc::ptr_eq(&again, &tables.jobs.get(&1999).unwrap().unwrap()), "read twice, decoded once");
}

#[test]
fn a_table_of_a_newer_version_is_not_ignored() {
    state::tables! {
        struct Newer {
            jobs: Table<u64, Job> = 7,
            notes: Table<u64, u32> = 8,
        }
    }
    let store = Store::in_memory(Options::default()).unwrap();
    let mut newer = Newer::open(&store).unwrap();
    newer.notes.insert(1, 1);
    let outcome = newer.freeze(1).unwrap().run().unwrap();
    newer.flushed(outcome).unwrap();
    assert!(matches!(Tables::open(&store), Err(StateError::AlreadyOpen { .. })));
    drop(newer);
    assert!(matches!(Tables::open(&store), Err(StateError::UnknownTable { number: 8, .. })));
}

#[test]
fn a_corrupt_value_is_an_error_with_its_place() {
    state::tables! {
        struct Numbers {
            jobs: Table<u64, u64> = 7,
        }
    }
    let store = Store::in_memory(Options::default()).unwrap();
    let mut numbers = Numbers::open(&store).unwrap();
    numbers.jobs.insert(0xabcd, 5);
    let outcome = numbers.freeze(1).unwrap().run().unwrap();
    numbers.flushed(outcome).unwrap();
    drop(numbers);

    let tables = Tables::open(&store).unwrap();
    // The clean value is of another type, the bytes are of another type: neither is taken for a job.
    let error = tables.jobs.get(&0xabcd).unwrap_err();
    assert!(matches!(error, StateError::Corrupt { table: "jobs", .. }), "{error}");
    assert!(error.to_string().contains("000000000000abcd"), "{error}");
    assert!(matches!(tables.jobs.scan(.., 1), Err(StateError::Corrupt { .. })));
    assert!(tables.state_hash().is_err());
    assert!(tables.jobs.contains(&0xabcd).unwrap());
}

#[test]
fn foreign_and_damaged_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| Store::open(path, Options::default());

    let text = folder.path().join("text");
    std::fs::write(&text, "not a database, but longer than any magic number is").unwrap();
    assert!(matches!(open(&text), Err(StateError::Foreign { .. })));

    let short = folder.path().join("short");
    std::fs::write(&short, "redb").unwrap();
    assert!(matches!(open(&short), Err(StateError::Foreign { .. })));

    assert!(matches!(open(&folder.path().join("no/such/folder")), Err(StateError::File { .. })));

    let path = folder.path().join("state.redb");
    drop(open(&path).unwrap());
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, StateError::Damaged { .. } | StateError::Database { .. }), "{error}");
    assert!(error.to_string().contains("state.redb"), "{error}");
}

#[test]
fn reading_and_writing_go_on_while_a_flush_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("state.redb"), Options::default()).unwrap();
    let mut tables = Tables::open(&store).unwrap();
    for key in 0..5000 {
        tables.jobs.insert(key, job("a", 0));
    }
    for round in 1..6u32 {
        let pending = tables.freeze(u64::from(round)).unwrap();
        let running = std::thread::spawn(move || pending.run());
        let mut passes = 0;
        while passes == 0 || !running.is_finished() {
            for key in 0..5000 {
                let value = tables.jobs.get(&key).unwrap().unwrap();
                assert_eq!(value.retries, if passes == 0 { round - 1 } else { round }, "row {key}");
                if passes == 0 {
                    tables.jobs.update(&key, |job| job.retries = round).unwrap();
                }
            }
            passes += 1;
        }
        let outcome = running.join().unwrap().unwrap();
        tables.flushed(outcome).unwrap();
        let retries = tables.jobs.scan(.., usize::MAX).unwrap().into_iter().map(|row| row.1.retries);
        assert!(retries.eq(std::iter::repeat_n(round, 5000)));
    }
}

#[test]
fn tables_may_be_read_from_other_threads() {
    fn check<T: Send + Sync>(_: &T) {}
    let (store, tables) = in_memory();
    check(&tables);
    check(&store);
    assert_eq!(job("a", 1).weight(), size_of::<Job>() + 1);
}
