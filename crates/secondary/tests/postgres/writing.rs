//! Batches whole or not at all, once each, whatever happens to the server.

use parking_lot::{Condvar, Mutex};
use std::time::Duration;

use search::StoreError;
use search::model::process_instance as instance;
use secondary::{Batch, RowId};

use super::server::Server;
use super::suite::{self, Store as _, block_on};
use super::{Store, number};

pub fn a_refused_row_is_named(server: &Server) {
    let store = Store::new(server, "refused");
    let mut writer = store.writer();
    assert_eq!(writer.open().unwrap(), 0);
    let mut batch = Batch::default();
    for key in 0..100 {
        batch
            .insert(&instance::ENTITY, RowId::Key(key))
            .add(instance::VERSION, i64::from(key == 37) * i64::MAX);
    }
    writer.write(&batch, 5).unwrap();
    let mut batch = Batch::default();
    for key in 0..100 {
        batch.update(&instance::ENTITY, RowId::Key(key)).add(instance::VERSION, 1);
    }
    let error = writer.write(&batch, 6).unwrap_err();
    let StoreError::Refused { entity, row, reason } = error else { panic!("{error}") };
    assert_eq!((entity, row.as_str()), ("process_instance", "Key(37)"));
    assert!(reason.contains("out of range"), "{reason}");
    // Nothing of the batch is there.
    assert_eq!(writer.open().unwrap(), 5);
    let sum = "SELECT SUM(\"processDefinitionVersion\")::BIGINT FROM refused.process_instance";
    assert_eq!(number(server, sum), i64::MAX);
}

pub fn two_writers_see_each_other(server: &Server) {
    let store = Store::new(server, "two");
    let (mut one, mut other) = (store.writer(), store.writer());
    assert_eq!((one.open().unwrap(), other.open().unwrap()), (0, 0));
    let mut batch = Batch::default();
    batch.insert(&instance::ENTITY, RowId::Key(1)).add(instance::HAS_INCIDENT, 1);
    one.write(&batch, 7).unwrap();
    let error = other.write(&batch, 7).unwrap_err();
    assert!(matches!(&error, StoreError::Unavailable(reason) if reason.contains("somebody else")), "{error}");
    assert_eq!(other.open().unwrap(), 7);
    assert_eq!(number(server, "SELECT SUM(\"hasIncident\")::BIGINT FROM two.process_instance"), 1);
}

/// Batches to write, and the key of the row that counts them.
const BATCHES: u64 = 1200;
const COUNTER: u64 = 1_000_000;

pub fn crashes_lose_nothing_and_repeat_nothing(server: &Server) {
    let store = Store::new(server, "crashes");
    let reader = store.reader();
    let done = Done::default();
    let failures = std::thread::scope(|scope| {
        let writing = scope.spawn(|| write_all(&store, &done));
        for round in 1..=3 {
            done.wait_for(round * BATCHES / 8);
            block_on(reader.search(suite::everything())).unwrap();
            // The writer goes on meanwhile, so that something is under way.
            server.crash();
            server.resume();
            // Connections that the crash took are replaced unnoticed.
            block_on(reader.search(suite::everything())).unwrap();
        }
        writing.join().unwrap()
    });
    assert!(failures >= 3, "{failures} failures");
    let counted = format!(
        "SELECT \"hasIncident\" FROM crashes.process_instance WHERE \"processInstanceKey\"={COUNTER}"
    );
    assert_eq!(number(server, &counted), BATCHES as i64);
    assert_eq!(number(server, "SELECT COUNT(*) FROM crashes.process_instance"), BATCHES as i64 + 1);
    assert_eq!(block_on(reader.position(1)).unwrap(), BATCHES);
}

/// How many batches are acknowledged.
#[derive(Default)]
struct Done(Mutex<u64>, Condvar);

impl Done {
    fn set(&self, count: u64) {
        *self.0.lock() = count;
        self.1.notify_all();
    }

    fn wait_for(&self, count: u64) {
        let patience = Duration::from_secs(60);
        let mut done = self.0.lock();
        self.1.wait_while_for(&mut done, |done| *done < count, patience);
        assert!(*done >= count, "the writer does not get to {count}");
    }
}

/// Writes batch after batch, as an exporter does: after a failure it opens, and goes on where the store is. Returns how
/// often a batch failed.
fn write_all(store: &Store, done: &Done) -> u64 {
    let mut failures = 0;
    let mut acknowledged = 0;
    'open: loop {
        let mut writer = store.writer();
        let Ok(mut position) = writer.open() else {
            std::thread::yield_now();
            continue;
        };
        // Acknowledged rows exist; failed ones may.
        assert!(
            position == acknowledged || position == acknowledged + 1,
            "at {position} after {acknowledged}"
        );
        while position < BATCHES {
            let mut batch = Batch::default();
            batch.insert(&instance::ENTITY, RowId::Key(position + 1));
            batch.insert(&instance::ENTITY, RowId::Key(COUNTER)).add(instance::HAS_INCIDENT, 1);
            if writer.write(&batch, position + 1).is_err() {
                failures += 1;
                acknowledged = position;
                continue 'open;
            }
            position += 1;
            done.set(position);
        }
        return failures;
    }
}
