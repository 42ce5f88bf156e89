//! Records that come twice, late, or while the node is away.

use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use opensearch::Method;
use search::model::{
    Kind, batch_operation as operation, element_duration as duration, history_deletion as deletion,
    process_instance as instance, variable,
};
use search::{Filter, StoreError, Value};
use secondary::PROCESS_INSTANCES;
use secondary::{Batch, Cleaner as _, OpensearchCleaner, Retention, RowId, Sweeper, Writer as _};
use serde_json::json;

use crate::Opensearch;
use crate::model::Dice;
use crate::node::Node;
use crate::suite::{Store as _, block_on, everything, search};

/// How long a node may take to come back, on a machine that has other things to do.
const BACK_TIMEOUT: Duration = Duration::from_secs(300);

/// Effect of a partition's record at a position: rows are shared by all partitions.
fn record(partition: u16, position: u64, batch: &mut Batch) {
    let row = (position * 7 + u64::from(partition)) % 5;
    let id = || RowId::Key(row);
    batch.insert(&operation::ENTITY, id()).add(operation::TOTAL, 1);
    if position.is_multiple_of(3) {
        batch.update(&operation::ENTITY, id()).add(operation::FAILED, position as i64);
    }
    batch
        .insert(&instance::ENTITY, RowId::Key(u64::from(partition) * 10 + row))
        .set(instance::START, position as i64);
    let id = RowId::Text(format!("{partition}-{row}").as_str().into());
    batch.insert(&duration::ENTITY, id).add(duration::COUNT, 1).add(duration::MAX, position as i64);
}

/// How many records there were by partition and row, and the last one.
fn peaks(store: &Opensearch) -> BTreeMap<String, (i64, i64)> {
    let found = block_on(store.reader().search(search(&duration::ENTITY, Filter::everything()))).unwrap();
    let number = |value: &Value| value.integer().unwrap_or(0);
    let rows = found.rows.iter();
    rows.map(|row| {
        let numbers = (number(&row[duration::COUNT as usize]), number(&row[duration::MAX as usize]));
        (row[0].text().unwrap().to_string(), numbers)
    })
    .collect()
}

fn counted(store: &Opensearch) -> BTreeMap<i64, (i64, i64)> {
    let found = block_on(store.reader().search(search(&operation::ENTITY, Filter::everything()))).unwrap();
    let number = |value: &Value| value.integer().unwrap_or(0);
    let rows = found.rows.iter();
    rows.map(|row| {
        (number(&row[0]), (number(&row[operation::TOTAL as usize]), number(&row[operation::FAILED as usize])))
    })
    .collect()
}

/// Attempts that fail at any place and come again with other borders, by two partitions at the same rows.
pub fn repeated_batches_count_once(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let mut dice = Dice::new(11);
    let mut stored = [0_u64; 2];
    let mut writers = [store.of_partition(1), store.of_partition(2)];
    for writer in &mut writers {
        assert_eq!(writer.open().unwrap(), 0);
    }
    for _ in 0..60 {
        let which = dice.below(2) as usize;
        let partition = which as u16 + 1;
        let from = stored[which];
        let to = from + 1 + dice.below(6);
        let fails = dice.below(5) < 3;
        // One that fails may have come to any place.
        let applied = if fails { from + dice.below(to - from + 1) } else { to };
        let mut batch = Batch::default();
        for position in from + 1..=applied {
            record(partition, position, &mut batch);
        }
        writers[which].write(&batch, to).unwrap();
        if fails {
            let path = format!("/shared-progress/_doc/{partition}");
            let known = store.ask(Method::GET, &path, None)["_source"]["epoch"].as_u64();
            let body = json!({ "position": from, "epoch": known });
            store.ask(Method::PUT, &path, Some(&body));
            assert_eq!(writers[which].open().unwrap(), from);
        } else {
            stored[which] = to;
        }
    }
    let mut wanted: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    let mut wanted_peaks = BTreeMap::new();
    for (which, stored) in stored.iter().enumerate() {
        // All is done once more, up to what was reached: what was ahead is overtaken.
        let (partition, to) = (which as u16 + 1, stored + 10);
        let mut batch = Batch::default();
        (stored + 1..=to).for_each(|position| record(partition, position, &mut batch));
        writers[which].write(&batch, to).unwrap();
        let mut all = Batch::default();
        (1..=to).for_each(|position| record(partition, position, &mut all));
        for change in all.changes().iter().filter(|change| change.entity == operation::ENTITY.id) {
            let sums = wanted.entry(change.id.value().integer().unwrap()).or_default();
            for (column, by) in &change.increments {
                *(if *column == operation::TOTAL { &mut sums.0 } else { &mut sums.1 }) += by;
            }
        }
        for change in all.changes().iter().filter(|change| change.entity == duration::ENTITY.id) {
            let numbers = (change.increments[0].1, change.increments[1].1);
            wanted_peaks.insert(change.id.value().text().unwrap().to_string(), numbers);
        }
    }
    assert_eq!(counted(&store), wanted);
    assert_eq!(peaks(&store), wanted_peaks);
}

pub fn what_arrives_late_changes_nothing(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let set = |state: &str, by: i64| {
        let mut batch = Batch::default();
        batch.insert(&instance::ENTITY, RowId::Key(1)).set(instance::STATE, state).add(instance::VERSION, by);
        batch
    };
    let mut late = store.writer();
    late.open().unwrap();
    let mut next = store.writer();
    next.open().unwrap();
    next.write(&set("COMPLETED", 5), 9).unwrap();
    let error = late.write(&set("ACTIVE", 3), 4).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    let row = block_on(store.reader().search(everything())).unwrap().rows.remove(0);
    assert_eq!(row[instance::STATE as usize], "COMPLETED".into());
    assert_eq!(row[instance::VERSION as usize], 5_i64.into());
    assert_eq!(block_on(store.reader().position(1)).unwrap(), 9);
    // It has noticed, and goes on from there once it is opened again.
    assert!(late.write(&set("ACTIVE", 3), 10).is_err());
    assert_eq!(late.open().unwrap(), 9);
    late.write(&set("TERMINATED", 1), 10).unwrap();
    assert!(next.write(&set("COMPLETED", 1), 11).is_err());
    let row = block_on(store.reader().search(everything())).unwrap().rows.remove(0);
    assert_eq!(
        (&row[instance::STATE as usize], &row[instance::VERSION as usize]),
        (&"TERMINATED".into(), &6_i64.into())
    );
}

pub fn what_was_deleted_does_not_come_back(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let found = || block_on(store.reader().search(everything())).unwrap().rows;
    let change = |work: &dyn Fn(&mut Batch)| {
        let mut batch = Batch::default();
        work(&mut batch);
        batch
    };
    let insertion = change(&|batch| {
        for key in [1, 2] {
            batch.insert(&instance::ENTITY, RowId::Key(key)).set(instance::STATE, "ACTIVE");
        }
        batch.update(&instance::ENTITY, RowId::Key(1)).set(instance::START, 3_i64).add(instance::VERSION, 3);
    });
    let deletion = change(&|batch| {
        for key in [1, 2] {
            batch.delete(&instance::ENTITY, RowId::Key(key));
        }
    });
    let mut late = store.writer();
    late.open().unwrap();
    // One of the rows is there when it is deleted, the other one comes only afterwards.
    let first = change(&|batch| _ = batch.insert(&instance::ENTITY, RowId::Key(1)).add(instance::VERSION, 5));
    late.write(&first, 1).unwrap();
    assert_eq!(found().len(), 1);
    let mut next = store.writer();
    next.open().unwrap();
    next.write(&deletion, 2).unwrap();
    assert!(late.write(&insertion, 2).is_err());
    store.ask(Method::POST, "/shared-process_instance/_refresh", None);
    assert!(found().is_empty(), "{:?}", found());

    // A change needs something to change; a row that begins again has nothing of the former one.
    let change =
        change(&|batch| _ = batch.update(&instance::ENTITY, RowId::Key(1)).set(instance::STATE, "X"));
    next.write(&change, 3).unwrap();
    assert!(found().is_empty(), "{:?}", found());
    next.write(&insertion, 4).unwrap();
    let rows = found();
    assert_eq!(rows.len(), 2);
    let of_first = rows.iter().find(|row| row[0] == 1_i64.into()).unwrap();
    assert_eq!(of_first[instance::VERSION as usize], 3_i64.into());
    assert_eq!(of_first[instance::STATE as usize], "ACTIVE".into());

    // The tombstone of the deletion is removed in the end.
    next.write(&deletion, 5).unwrap();
    let marks = || store.ask(Method::GET, "/shared-process_instance/_count", None)["count"].clone();
    assert_eq!(marks(), 2);
    let cleaner = || OpensearchCleaner::new(store.0.clone());
    for (mut cleaner, left) in [(cleaner(), 2), (cleaner().keeping_marks(Duration::ZERO), 0)] {
        // Of this very millisecond none is cleared away.
        std::thread::sleep(Duration::from_millis(2));
        cleaner.open().unwrap();
        assert!(!cleaner.reclaim().unwrap());
        store.ask(Method::POST, "/shared-process_instance/_refresh", None);
        assert_eq!(marks(), left);
    }
}

/// Rows of an instance, one of each kind that goes with it.
fn parts_of(key: u64, batch: &mut Batch) {
    for (number, (entity, column)) in PROCESS_INSTANCES.parts.iter().enumerate() {
        let id = key * 100 + number as u64;
        let id = match entity.columns[0].kind {
            Kind::Text => RowId::Text(id.to_string().as_str().into()),
            _ => RowId::Key(id),
        };
        batch.insert(entity, id).set(*column, key);
    }
}

/// Something of an instance that was deleted is sent once more, or arrives late: by the session that wrote it, or
/// by one before that.
pub fn what_belonged_to_a_deleted_instance_does_not_come_back(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let left = || {
        store.ask(Method::POST, "/shared-*/_refresh", None);
        let parts = PROCESS_INSTANCES.parts.iter();
        let found = parts.flat_map(|(entity, _)| {
            block_on(store.reader().search(search(entity, Filter::everything()))).unwrap().rows
        });
        found.map(|row| row[0].clone()).collect::<Vec<_>>()
    };
    let parts = PROCESS_INSTANCES.parts.len();
    let (mut first, mut second) = (Batch::default(), Batch::default());
    parts_of(1, &mut first);
    parts_of(2, &mut second);
    let (mut earliest, mut late) = (store.writer(), store.writer());
    earliest.open().unwrap();
    late.open().unwrap();
    late.write(&first, 1).unwrap();
    let mut next = store.writer();
    next.open().unwrap();
    next.write(&second, 2).unwrap();
    assert_eq!(left().len(), 2 * parts);
    let mut batch = Batch::default();
    for key in [1_u64, 2] {
        batch
            .insert(&deletion::ENTITY, RowId::Key(key))
            .set(deletion::TYPE, "PROCESS_INSTANCE")
            .set(deletion::RESOURCE_KEY, key);
    }
    next.write(&batch, 3).unwrap();
    let sweeper = Sweeper::new(Arc::from(store.reader()), store.cleaner(), Retention::default());
    assert_eq!(block_on(sweeper.sweep_deleted()).unwrap().rows, 2 * parts as u64);
    assert_eq!(left(), []);
    // The very batch that wrote it.
    assert!(late.write(&first, 1).is_err());
    assert_eq!(left(), []);
    // One with other borders that was not acknowledged, so that the session after it wrote the rows.
    assert!(earliest.write(&second, 9).is_err());
    assert_eq!(left(), []);
    // A later record makes a new row.
    next.write(&first, 4).unwrap();
    assert_eq!(left().len(), parts);

    // Rows without recent changes leave no tombstone.
    let count = || {
        store.ask(Method::POST, "/shared-*/_refresh", None);
        store.ask(Method::GET, "/shared-variable/_count", None)["count"].clone()
    };
    assert_eq!(count(), 2);
    std::thread::sleep(Duration::from_millis(2));
    let mut cleaner = OpensearchCleaner::new(store.0.clone()).keeping_marks(Duration::ZERO);
    cleaner.open().unwrap();
    assert_eq!(cleaner.remove(&variable::ENTITY, variable::INSTANCE_KEY, &[1_u64.into()], 10).unwrap(), 1);
    assert_eq!(count(), 1);
}

/// A deletion must find all rows of its instance, or later ones stay for ever.
pub fn a_request_to_delete_is_seen_last(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let mut batch = Batch::default();
    batch.insert(&deletion::ENTITY, RowId::Key(1)).set(deletion::TYPE, "PROCESS_INSTANCE");
    batch.insert(&instance::ENTITY, RowId::Key(2)).set(instance::START, "no moment");
    let mut writer = store.writer();
    writer.open().unwrap();
    let error = writer.write(&batch, 1).unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    let seen = || {
        store.ask(Method::POST, "/shared-*/_refresh", None);
        block_on(store.reader().search(search(&deletion::ENTITY, Filter::everything()))).unwrap().rows.len()
    };
    assert_eq!(seen(), 0);
    batch.update(&instance::ENTITY, RowId::Key(2)).set(instance::START, 1_i64);
    writer.write(&batch, 1).unwrap();
    assert_eq!(seen(), 1);
}

pub fn positions_are_those_of_what_can_be_found(node: &mut Node) {
    let store = Opensearch::emptied(node);
    let options = store.0.clone();
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let store = Opensearch(options);
        let mut writer = store.writer();
        writer.open().unwrap();
        sender.send(()).unwrap();
        for position in 1..=20 {
            let mut batch = Batch::default();
            batch.insert(&instance::ENTITY, RowId::Key(position)).set(instance::START, 1_i64);
            writer.write(&batch, position).unwrap();
        }
    });
    receiver.recv().unwrap();
    let reader = store.reader();
    loop {
        let position = block_on(reader.position(1)).unwrap();
        let found = block_on(reader.search(everything())).unwrap().total;
        assert!(found >= position, "{found} rows at position {position}");
        if position == 20 {
            break;
        }
    }
    thread.join().unwrap();
}

/// The node is killed in the midst of writing, twice, and comes back.
pub fn nothing_is_lost_when_the_node_dies(node: &mut Node) {
    const POSITIONS: u64 = 240;
    let mut options = Opensearch::emptied(node).0;
    options.client.request_timeout = Duration::from_secs(10);
    options.bulk.count = 3;
    let (sender, receiver) = mpsc::channel();
    let store = Opensearch(options.clone());
    let thread = std::thread::spawn(move || {
        let store = Opensearch(options);
        let mut writer = store.of_partition(1);
        let mut position = None;
        let mut failures = 0;
        let mut failing_since = Instant::now();
        while position != Some(POSITIONS) {
            let outcome = match position {
                None => writer.open(),
                Some(from) => {
                    let to = (from + 4).min(POSITIONS);
                    let mut batch = Batch::default();
                    (from + 1..=to).for_each(|position| record(1, position, &mut batch));
                    writer.write(&batch, to).map(|()| to)
                }
            };
            match outcome {
                Ok(reached) => {
                    position = Some(reached);
                    failing_since = Instant::now();
                    sender.send(reached).unwrap();
                }
                Err(error) => {
                    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
                    assert!(failing_since.elapsed() < BACK_TIMEOUT, "{error}");
                    failures += 1;
                    position = None;
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
        }
        failures
    });
    for until in [POSITIONS / 3, POSITIONS / 3 * 2] {
        while receiver.recv_timeout(BACK_TIMEOUT).unwrap() < until {}
        node.kill();
        node.resume();
    }
    let failures = thread.join().unwrap();
    assert!(failures > 0, "the node was not missed");
    let mut wanted = BTreeMap::new();
    let mut batch = Batch::default();
    (1..=POSITIONS).for_each(|position| record(1, position, &mut batch));
    for change in batch.changes().iter().filter(|change| change.entity == operation::ENTITY.id) {
        let sum = |column| change.increments.iter().find(|(at, _)| *at == column).map_or(0, |(_, by)| *by);
        wanted.insert(change.id.value().integer().unwrap(), (sum(operation::TOTAL), sum(operation::FAILED)));
    }
    assert_eq!(counted(&store), wanted);
    assert_eq!(block_on(store.reader().position(1)).unwrap(), POSITIONS);
}
