//! How much work reads do, counted in key comparisons and decoded keys.

#![allow(clippy::unwrap_used)]

use std::{cell::Cell, cmp::Ordering};

use state::{Options, StateError, Store, TableKey};

thread_local! {
    static WORK: Cell<u64> = const { Cell::new(0) };
    /// Keys that were made ready for the disk.
    static ENCODED: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    WORK.set(WORK.get() + 1);
}

fn work(task: impl FnOnce()) -> u64 {
    let before = WORK.get();
    task();
    WORK.get() - before
}

#[derive(Debug, Clone)]
struct Counted(u64);

impl Ord for Counted {
    fn cmp(&self, other: &Self) -> Ordering {
        count();
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Counted {}

impl TableKey for Counted {
    fn encode(&self, out: &mut Vec<u8>) {
        ENCODED.set(ENCODED.get() + 1);
        self.0.encode(out);
    }

    fn decode(input: &mut &[u8]) -> Result<Self, StateError> {
        count();
        u64::decode(input).map(Self)
    }
}

state::tables! {
    struct Tables {
        queue: Table<Counted, u64> = 1,
    }
}

/// Comparisons and decodings that one step of a queue may take on average, whatever its length.
const STEP_WORK_MAX: u64 = 400;
const ROWS: u64 = 20_000;

fn filled() -> Tables {
    let store = Store::in_memory(Options::default()).unwrap();
    let mut tables = Tables::open(&store).unwrap();
    for key in 0..ROWS {
        tables.queue.insert(Counted(key), key);
    }
    tables
}

fn flush(tables: &mut Tables, index: u64) {
    let outcome = tables.freeze(index).unwrap().run().unwrap();
    tables.flushed(outcome).unwrap();
}

fn consume_from_front(tables: &mut Tables, keys: std::ops::Range<u64>) {
    let steps = keys.end - keys.start;
    let work = work(|| {
        for expected in keys {
            tables.begin();
            let (key, _) = tables.queue.first(..).unwrap().unwrap();
            assert_eq!(key.0, expected);
            tables.queue.delete(&key);
            tables.commit();
        }
    });
    assert!(work / steps < STEP_WORK_MAX, "{} a step", work / steps);
}

#[test]
fn a_queue_on_disk_is_consumed_from_the_front_in_linear_time() {
    let mut tables = filled();
    flush(&mut tables, 1);
    consume_from_front(&mut tables, 0..ROWS - 10);
    let work = work(|| assert_eq!(tables.queue.len().unwrap(), 10));
    assert!(work > 0);
}

#[test]
fn a_queue_being_flushed_is_consumed_from_the_front_in_linear_time() {
    let mut tables = filled();
    let pending = tables.freeze(1).unwrap();
    consume_from_front(&mut tables, 0..ROWS / 2);
    let outcome = pending.run().unwrap();
    tables.flushed(outcome).unwrap();
    consume_from_front(&mut tables, ROWS / 2..ROWS - 10);
    // Tombstones over the disk, with another freeze on top of them.
    let pending = tables.freeze(2).unwrap();
    consume_from_front(&mut tables, ROWS - 10..ROWS - 5);
    let outcome = pending.run().unwrap();
    tables.flushed(outcome).unwrap();
    assert_eq!(tables.queue.first(..).unwrap().unwrap().0.0, ROWS - 5);
}

#[test]
fn a_stack_on_disk_is_consumed_from_the_back_in_linear_time() {
    let mut tables = filled();
    flush(&mut tables, 1);
    let work = work(|| {
        for expected in (10..ROWS).rev() {
            let (key, _) = tables.queue.last(..).unwrap().unwrap();
            assert_eq!(key.0, expected);
            tables.queue.delete(&key);
        }
    });
    assert!(work / ROWS < STEP_WORK_MAX, "{} a step", work / ROWS);
}

#[test]
fn rolled_back_deletes_do_not_make_the_front_slow() {
    let mut tables = filled();
    flush(&mut tables, 1);
    consume_from_front(&mut tables, 0..ROWS / 2);
    let work = work(|| {
        for _ in 0..1000 {
            tables.begin();
            let (key, _) = tables.queue.first(..).unwrap().unwrap();
            assert_eq!(key.0, ROWS / 2);
            tables.queue.delete(&key);
            tables.queue.first(..).unwrap().unwrap();
            tables.rollback();
        }
    });
    assert!(work / 1000 < 2 * STEP_WORK_MAX, "{} a step", work / 1000);
}

#[test]
fn a_short_scan_does_not_read_the_rest() {
    let mut tables = filled();
    flush(&mut tables, 1);
    let work = work(|| {
        assert_eq!(tables.queue.scan(Counted(100).., 5).unwrap().len(), 5);
        assert_eq!(tables.queue.keys(.., 5).unwrap().len(), 5);
        assert_eq!(tables.queue.first(Counted(500)..).unwrap().unwrap().0.0, 500);
    });
    assert!(work < 200, "{work}");
}

#[test]
fn keys_beyond_the_end_of_the_disk_are_not_looked_up_there() {
    let mut tables = filled();
    flush(&mut tables, 1);
    let work = work(|| {
        assert!(tables.queue.get(&Counted(ROWS)).unwrap().is_none());
        assert!(tables.queue.scan(Counted(ROWS).., 100).unwrap().is_empty());
        tables.queue.delete(&Counted(ROWS + 1));
    });
    assert!(work < 20, "{work}");
    assert_eq!(tables.overlay_bytes(), 0);
}

#[test]
fn a_count_for_metrics_looks_few_keys_up_and_is_about_right() {
    let mut tables = filled();
    flush(&mut tables, 1);
    // Half of them are there already; nobody has looked.
    for key in ROWS / 2..ROWS * 3 / 2 {
        tables.queue.put(Counted(key), key);
    }
    for key in (0..ROWS / 2).step_by(2) {
        tables.queue.delete(&Counted(key));
    }
    let before = ENCODED.get();
    let (_, counted) = tables.row_counts()[0];
    let looked_up = ENCODED.get() - before;
    assert!(looked_up < 2000, "{looked_up}");
    let exact = tables.exact_row_counts().unwrap()[0];
    assert_eq!(exact, ROWS * 3 / 2 - ROWS / 4);
    assert!(counted.abs_diff(exact) <= exact / 20, "{counted} for {exact}");
}
