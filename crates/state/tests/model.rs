//! Random histories against a plain map: whatever the layers do, the rows are those of the map.

#![allow(clippy::unwrap_used)]

mod common;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

use common::{Disk, Handle, Mood};
use proptest::prelude::*;
use state::{Flush, Options, Store};

state::tables! {
    struct Tables {
        rows: Table<(u8, u8), u64> = 1,
        names: Table<String, u32> = 2,
    }
}

type Key = (u8, u8);

#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    rows: BTreeMap<Key, u64>,
    names: BTreeMap<String, u32>,
}

#[derive(Debug, Clone)]
enum Step {
    Insert(Key, u64),
    Put(Key, u64),
    Update(Key, u64),
    Delete(Key),
    DeleteRun(Key, u8),
    PutName(String),
    DeleteName(String),
    Begin,
    Commit,
    Rollback,
    Freeze,
    RunFlush,
    FailFlush(u64),
    Reopen,
    Check(Bound<Key>, Bound<Key>, usize),
}

fn key() -> impl Strategy<Value = Key> {
    (0u8..4, 0u8..40)
}

fn bound() -> impl Strategy<Value = Bound<Key>> {
    prop_oneof![key().prop_map(Bound::Included), key().prop_map(Bound::Excluded), Just(Bound::Unbounded)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (key(), any::<u64>()).prop_map(|(key, value)| Step::Insert(key, value)),
        6 => (key(), any::<u64>()).prop_map(|(key, value)| Step::Put(key, value)),
        4 => (key(), any::<u64>()).prop_map(|(key, value)| Step::Update(key, value)),
        8 => key().prop_map(Step::Delete),
        2 => (key(), 0u8..40).prop_map(|(key, length)| Step::DeleteRun(key, length)),
        2 => "[ab\u{0}]{0,3}".prop_map(Step::PutName),
        2 => "[ab\u{0}]{0,3}".prop_map(Step::DeleteName),
        6 => Just(Step::Begin),
        5 => Just(Step::Commit),
        3 => Just(Step::Rollback),
        3 => Just(Step::Freeze),
        3 => Just(Step::RunFlush),
        1 => (0u64..12).prop_map(Step::FailFlush),
        1 => Just(Step::Reopen),
        8 => (bound(), bound(), 1usize..8).prop_map(|(start, end, limit)| Step::Check(start, end, limit)),
    ]
}

struct World {
    disk: Arc<Disk>,
    tables: Tables,
    model: Model,
    /// While a command is being applied: the rows before it.
    before: Option<Model>,
    /// Rows that the running flush will have written.
    frozen: Option<Model>,
    flushed: Model,
    index: u64,
    clean_cache_bytes: u64,
}

fn open(disk: &Arc<Disk>, clean_cache_bytes: u64) -> Tables {
    let options = Options { page_cache_bytes: 64 << 10, clean_cache_bytes };
    Tables::open(&Store::with_backend(Arc::new(Handle(Arc::clone(disk))), options).unwrap()).unwrap()
}

impl World {
    fn new(clean_cache_bytes: u64) -> Self {
        let disk = Arc::new(Disk::new(Vec::new()));
        let tables = open(&disk, clean_cache_bytes);
        let model = Model::default();
        let flushed = Model::default();
        Self { disk, tables, model, before: None, frozen: None, flushed, index: 0, clean_cache_bytes }
    }

    fn end_command(&mut self, keep: bool) {
        let Some(before) = self.before.take() else { return };
        if keep {
            self.tables.commit();
        } else {
            self.tables.rollback();
            self.model = before;
        }
    }

    fn run(&mut self, flush: Option<Flush>) {
        let Some(flush) = flush else { return };
        let outcome = flush.run().unwrap();
        self.tables.flushed(outcome).unwrap();
        self.flushed = self.frozen.take().unwrap();
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Insert(key, value) => {
                if self.model.rows.insert(key, value).is_none() {
                    self.tables.rows.insert(key, value);
                } else {
                    self.tables.rows.put(key, value);
                }
            }
            Step::Put(key, value) => {
                self.model.rows.insert(key, value);
                self.tables.rows.put(key, value);
            }
            Step::Update(key, value) => {
                let found = self.tables.rows.update(&key, |row| *row ^= value).unwrap();
                assert_eq!(found, self.model.rows.get_mut(&key).map(|row| *row ^= value).is_some());
            }
            Step::Delete(key) => {
                self.model.rows.remove(&key);
                self.tables.rows.delete(&key);
            }
            Step::DeleteRun(key, length) => {
                for next in key.1..key.1.saturating_add(length) {
                    self.model.rows.remove(&(key.0, next));
                    self.tables.rows.delete(&(key.0, next));
                }
                self.check((Bound::Included(key), Bound::Unbounded), 2);
            }
            Step::PutName(name) => {
                self.model.names.insert(name.clone(), 1);
                self.tables.names.put(name, 1);
            }
            Step::DeleteName(name) => {
                self.model.names.remove(&name);
                self.tables.names.delete(&name);
            }
            Step::Begin => {
                if self.before.is_none() {
                    self.before = Some(self.model.clone());
                    self.tables.begin();
                }
            }
            Step::Commit => self.end_command(true),
            Step::Rollback => self.end_command(false),
            Step::Freeze => {
                if self.before.is_none() && self.frozen.is_none() {
                    self.index += 1;
                    drop(self.tables.freeze(self.index).unwrap());
                    self.frozen = Some(self.model.clone());
                }
            }
            Step::RunFlush => {
                if self.before.is_none() {
                    self.run(self.tables.retry_flush());
                }
            }
            Step::FailFlush(writes) => {
                if let Some(flush) = self.tables.retry_flush() {
                    self.disk.set(Mood::FailingAfter(writes));
                    if let Ok(outcome) = flush.run() {
                        // Not told to the tables: as if the answer had been lost.
                        assert_eq!(outcome.applied_index(), self.index);
                    }
                    self.disk.set(Mood::Healthy);
                }
            }
            Step::Reopen => self.reopen(),
            Step::Check(start, end, limit) => self.check((start, end), limit),
        }
    }

    fn reopen(&mut self) {
        let applied = self.tables.applied_index();
        // Rows after a crash at this moment.
        self.disk = Arc::new(Disk::new(self.disk.copy()));
        self.tables = open(&self.disk, self.clean_cache_bytes);
        self.before = None;
        let frozen = self.frozen.take();
        if self.tables.applied_index() > applied {
            // A flush whose outcome was not known had reached the disk.
            self.flushed = frozen.unwrap();
        }
        self.model = self.flushed.clone();
        self.check_all();
    }

    fn check(&self, range: (Bound<Key>, Bound<Key>), limit: usize) {
        let inverted = match range {
            (Bound::Included(start), Bound::Included(end)) => start > end,
            (
                Bound::Excluded(start) | Bound::Included(start),
                Bound::Excluded(end) | Bound::Included(end),
            ) => start >= end,
            _ => false,
        };
        let expected: Vec<(Key, u64)> = if inverted {
            Vec::new()
        } else {
            self.model.rows.range(range).map(|(key, value)| (*key, *value)).collect()
        };
        let rows = &self.tables.rows;
        let plain = |row: (Key, Arc<u64>)| (row.0, *row.1);
        let head: Vec<_> = expected.iter().copied().take(limit).collect();
        assert_eq!(rows.scan(range, limit).unwrap().into_iter().map(plain).collect::<Vec<_>>(), head);
        assert_eq!(rows.keys(range, limit).unwrap(), head.iter().map(|row| row.0).collect::<Vec<_>>());
        assert_eq!(rows.first(range).unwrap().map(plain), expected.first().copied());
        assert_eq!(rows.last(range).unwrap().map(plain), expected.last().copied());
    }

    fn check_all(&self) {
        self.check((Bound::Unbounded, Bound::Unbounded), usize::MAX);
        for key in (0..4).flat_map(|one| (0..40).map(move |two| (one, two))) {
            let expected = self.model.rows.get(&key);
            assert_eq!(self.tables.rows.get(&key).unwrap().as_deref(), expected, "{key:?}");
            assert_eq!(self.tables.rows.contains(&key).unwrap(), expected.is_some(), "{key:?}");
        }
        let names: BTreeSet<_> = self.tables.names.keys(.., usize::MAX).unwrap().into_iter().collect();
        assert_eq!(names, self.model.names.keys().cloned().collect());
        assert_eq!(self.tables.rows.is_empty().unwrap(), self.model.rows.is_empty());
        let counts = [("rows", self.model.rows.len() as u64), ("names", self.model.names.len() as u64)];
        assert_eq!(self.tables.row_counts(), counts);

        let store = Store::in_memory(Options::default()).unwrap();
        let mut fresh = Tables::open(&store).unwrap();
        for (key, value) in &self.model.rows {
            fresh.rows.insert(*key, *value);
        }
        for (name, value) in &self.model.names {
            fresh.names.insert(name.clone(), *value);
        }
        assert_eq!(self.tables.state_hash().unwrap(), fresh.state_hash().unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn tables_are_maps(
        steps in prop::collection::vec(step(), 0..300),
        clean_cache_bytes in prop_oneof![Just(0u64), Just(4096), Just(1 << 20)],
    ) {
        let mut world = World::new(clean_cache_bytes);
        for step in steps {
            world.step(step);
        }
        world.check_all();
        world.end_command(false);
        world.check_all();
        if world.frozen.is_some() {
            world.run(world.tables.retry_flush());
        }
        world.check_all();
        world.step(Step::Freeze);
        world.run(world.tables.retry_flush());
        world.check_all();
        prop_assert_eq!(world.tables.overlay_bytes(), 0);
        world.reopen();
    }
}
