//! Snapshots: the last flush as a stream, and back.

#![allow(clippy::unwrap_used)]

use std::{path::Path, sync::Arc};

use proptest::prelude::*;
use state::{Options, StateError, Store};

state::tables! {
    struct Tables {
        rows: Table<u64, u64> = 1,
        texts: Table<(String, u8), Text> = 2,
    }
}

#[derive(Debug, Clone, PartialEq, minicbor::Encode, minicbor::Decode)]
struct Text(#[n(0)] String);
state::minicbor_value!(Text);

fn flush(tables: &mut Tables, index: u64) {
    let outcome = tables.freeze(index).unwrap().run().unwrap();
    tables.flushed(outcome).unwrap();
}

fn filled(rows: u64, text_len: usize) -> (Store, Tables) {
    let store = Store::in_memory(Options::default()).unwrap();
    let mut tables = Tables::open(&store).unwrap();
    for key in 0..rows {
        tables.rows.insert(key * 3, key);
    }
    tables.texts.insert(("long".to_owned(), 1), Text("x".repeat(text_len)));
    flush(&mut tables, 17);
    (store, tables)
}

fn bytes(store: &Store) -> Vec<u8> {
    let mut out = Vec::new();
    store.write_snapshot(&mut out).unwrap();
    out
}

fn restore(path: &Path, bytes: &[u8]) -> Result<u64, StateError> {
    Store::restore_snapshot(path, bytes, Options::default())
}

#[test]
fn a_snapshot_is_the_last_flush() {
    let (store, mut tables) = filled(50_000, 1 << 20);
    let hash = tables.state_hash().unwrap();
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.applied_index(), 17);

    // Neither what is written nor what is flushed meanwhile is part of it.
    tables.rows.put(0, 99);
    flush(&mut tables, 18);
    tables.rows.put(0, 100);
    let mut stream = Vec::new();
    snapshot.write(&mut stream).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.redb");
    assert_eq!(restore(&path, &stream).unwrap(), 17);
    let copy = Tables::open(&Store::open(&path, Options::default()).unwrap()).unwrap();
    assert_eq!(copy.applied_index(), 17);
    assert_eq!(copy.state_hash().unwrap(), hash);
    assert_eq!(copy.row_counts(), [("rows", 50_000), ("texts", 1)]);
    drop(copy);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

    assert!(matches!(restore(&path, &stream), Err(StateError::NotEmpty { .. })));
}

#[test]
fn a_snapshot_takes_the_place_of_older_state_or_leaves_it_alone() {
    let (source, tables) = filled(100, 10);
    let (stream, hash) = (bytes(&source), tables.state_hash().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.redb");
    let open = || Tables::open(&Store::open(&path, Options::default()).unwrap()).unwrap();
    let mut older = open();
    older.rows.insert(5, 5);
    flush(&mut older, 3);

    let cut = &stream[..stream.len() - 1];
    assert!(Store::replace_by_snapshot(&path, cut, Options::default()).is_err());
    drop(older);
    let older = open();
    assert_eq!(older.applied_index(), 3);
    assert_eq!(Store::replace_by_snapshot(&path, stream.as_slice(), Options::default()).unwrap(), 17);
    assert_eq!(older.rows.keys(.., 10).unwrap(), [5]);
    drop(older);
    assert_eq!(open().state_hash().unwrap(), hash);
}

#[test]
fn a_replacement_is_a_database_of_its_own_until_it_is_put() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.redb");
    let old = Store::open(&path, Options::default()).unwrap();
    let (store, _tables) = filled(20, 10);
    let stream = bytes(&store);
    let index = store.snapshot().unwrap().applied_index();
    assert_eq!(Store::check_snapshot(stream.as_slice()).unwrap(), index);
    let left = Store::prepare_replacement(&path, stream.as_slice(), Options::default()).unwrap();
    drop(left);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "one that is not put goes");

    let new = Store::prepare_replacement(&path, stream.as_slice(), Options::default()).unwrap();
    assert_eq!(new.applied_index(), index);
    let store = new.store().clone();
    let mut tables = Tables::open(&store).unwrap();
    new.put().unwrap();
    assert_eq!(old.snapshot().unwrap().applied_index(), 0, "who has the old one open sees no change");
    assert!(matches!(Store::open(&path, Options::default()), Err(StateError::AlreadyOpen { .. })));
    // Flushes go to the file at the path.
    flush(&mut tables, index + 1);
    drop((tables, store, old));
    let again = Store::open(&path, Options::default()).unwrap();
    assert_eq!(again.snapshot().unwrap().applied_index(), index + 1);
}

#[test]
fn an_empty_store_has_an_empty_snapshot() {
    let store = Store::in_memory(Options::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.redb");
    assert_eq!(restore(&path, &bytes(&store)).unwrap(), 0);
    let copy = Tables::open(&Store::open(&path, Options::default()).unwrap()).unwrap();
    assert!(copy.rows.is_empty().unwrap());
}

#[test]
fn a_snapshot_cut_anywhere_is_refused() {
    let stream = bytes(&filled(20, 10).0);
    for end in 0..stream.len() {
        let storage = Arc::new(redb::backends::InMemoryBackend::new());
        let error = Store::restore_into(storage, &stream[..end], Options::default()).unwrap_err();
        assert!(matches!(error, StateError::SnapshotInvalid(_)), "cut at {end}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.redb");
    assert!(restore(&path, &stream[..stream.len() - 1]).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    restore(&path, &stream).unwrap();
}

#[test]
fn a_stream_that_fails_is_not_called_invalid() {
    struct Failing;
    impl std::io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("connection lost"))
        }
    }
    impl std::io::Write for Failing {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let storage = Arc::new(redb::backends::InMemoryBackend::new());
    let error = Store::restore_into(storage, Failing, Options::default()).unwrap_err();
    assert!(matches!(error, StateError::SnapshotRead(_)), "{error}");
    let error = filled(20, 10).0.write_snapshot(Failing).unwrap_err();
    assert!(error.is_disk_full(), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_snapshot_is_refused(at in any::<prop::sample::Index>(), flip in 1u8..) {
        let mut stream = bytes(&filled(200, 300).0);
        let at = at.index(stream.len());
        stream[at] ^= flip;
        let storage = Arc::new(redb::backends::InMemoryBackend::new());
        let error = Store::restore_into(storage, stream.as_slice(), Options::default()).unwrap_err();
        prop_assert!(matches!(error, StateError::SnapshotInvalid(_)), "{}", error);
        let error = Store::check_snapshot(stream.as_slice()).unwrap_err();
        prop_assert!(matches!(error, StateError::SnapshotInvalid(_)), "{}", error);
    }

    #[test]
    fn anything_else_is_refused(stream: Vec<u8>) {
        let storage = Arc::new(redb::backends::InMemoryBackend::new());
        prop_assert!(Store::restore_into(storage, stream.as_slice(), Options::default()).is_err());
    }
}
