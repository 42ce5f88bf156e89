//! Records that a target refuses are parked; exporters that are switched off hold nothing back.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too, stop at the first surprise")]

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use export::{Assigned, ChangeError, ExportError, Exporter, ExporterStatus, Flush, Hub, StreamOptions};
use protocol::testing::record;
use protocol::{Document, Intent, Name, PurgeRecord, Record, SignalRecord};

/// Nothing here takes that long; what does has hung.
const PATIENCE: Duration = Duration::from_secs(20);
const PARK_AFTER: u32 = 3;

/// The system behind an exporter.
#[derive(Default)]
struct Target {
    /// Positions that it does not take.
    refused: BTreeSet<u64>,
    is_away: bool,
    /// Positions that it has, as they came.
    stored: Vec<u64>,
    /// How often something was refused.
    refusals: u32,
    opened: u32,
}

struct Picky {
    id: &'static str,
    target: Arc<Mutex<Target>>,
    taken: Vec<u64>,
    durable: u64,
}

impl Picky {
    fn store(&self, position: u64) -> Result<(), ExportError> {
        let mut target = self.target.lock();
        if target.is_away {
            return Err(ExportError::Target("away".to_owned()));
        }
        if target.refused.contains(&position) {
            target.refusals += 1;
            return Err(ExportError::Record { position, reason: "not that one".to_owned() });
        }
        // A repeated record changes nothing.
        if !target.stored.contains(&position) {
            target.stored.push(position);
        }
        Ok(())
    }
}

impl Exporter for Picky {
    fn id(&self) -> &str {
        self.id
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.target.lock().opened += 1;
        self.taken.clear();
        self.durable = acknowledged;
        Ok(acknowledged)
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        self.taken.extend(records.iter().map(|record| record.position));
        Ok(())
    }

    fn replay(&mut self, record: &Record) -> Result<(), ExportError> {
        assert!(self.taken.is_empty(), "what came in order is flushed");
        self.store(record.position)
    }

    fn flush(&mut self, _: Flush) -> Result<u64, ExportError> {
        for position in std::mem::take(&mut self.taken) {
            self.store(position)?;
            self.durable = position;
        }
        Ok(self.durable)
    }
}

fn records(positions: impl IntoIterator<Item = u64>) -> Vec<Record> {
    let signal = || SignalRecord {
        signal_name: Name::from("s"),
        variables: Document::default(),
        tenant_id: Name::default_tenant(),
    };
    let record = |position| Record { key: position, ..record(position, Intent::Broadcasted, signal()) };
    positions.into_iter().map(record).collect()
}

fn target(refused: impl IntoIterator<Item = u64>) -> Arc<Mutex<Target>> {
    Arc::new(Mutex::new(Target { refused: refused.into_iter().collect(), ..Target::default() }))
}

fn open(directory: &Path, exporters: &[(&'static str, &Arc<Mutex<Target>>, u64)]) -> Hub {
    let short = Duration::from_millis(1);
    let options = StreamOptions {
        flush_interval: short,
        gather_interval: short,
        retry_min: short,
        retry_max: short,
        park_after: PARK_AFTER,
        ..StreamOptions::default()
    };
    let assigned = |&(id, target, acknowledged): &(&'static str, &Arc<Mutex<Target>>, u64)| Assigned {
        exporter: Box::new(Picky { id, target: Arc::clone(target), taken: vec![], durable: 0 }),
        is_shared: false,
        acknowledged,
    };
    Hub::open(options, directory, 1, exporters.iter().map(assigned).collect(), 0).unwrap()
}

#[track_caller]
fn until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < PATIENCE, "it does not come to it");
        std::thread::yield_now();
    }
}

fn status(hub: &Hub, number: usize) -> ExporterStatus {
    hub.status().exporters.remove(number)
}

fn parked(hub: &Hub) -> Vec<u64> {
    hub.parked("a").unwrap().iter().map(|one| one.record.position).collect()
}

#[test]
fn what_is_refused_again_and_again_is_parked_and_the_rest_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let target = target([4, 10]);
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records(1..=10));
    // The last one, too: nothing that comes later tells that it is passed over.
    until(|| hub.status().acknowledged_position == 10);
    until(|| status(&hub, 0).failure.is_none());
    let expected: Vec<u64> = (1..=9).filter(|position| *position != 4).collect();
    assert_eq!(target.lock().stored, expected);
    assert_eq!(target.lock().refusals, 2 * PARK_AFTER);
    assert_eq!(parked(&hub), [4, 10]);
    assert_eq!((hub.parked_count("a"), status(&hub, 0).backlog_records), (2, 0));
    let first = &hub.parked("a").unwrap()[0];
    assert_eq!((&*first.reason, &first.record), ("not that one", &records([4])[0]));
}

#[test]
fn a_crash_before_the_acknowledgement_does_not_unpark() {
    let directory = tempfile::tempdir().unwrap();
    let target = target([4]);
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records(1..=10));
    until(|| hub.status().acknowledged_position == 10);
    drop(hub);
    // The partition knows nothing of it, and the records come again.
    target.lock().stored.clear();
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records(1..=12));
    until(|| hub.status().acknowledged_position == 12);
    assert_eq!(target.lock().stored, (1..=12).filter(|position| *position != 4).collect::<Vec<_>>());
    assert_eq!(target.lock().refusals, PARK_AFTER, "it is not tried again");
    assert_eq!(parked(&hub), [4]);
}

#[test]
fn replaying_puts_in_what_is_taken_now() {
    let directory = tempfile::tempdir().unwrap();
    let target = target([2, 3, 5]);
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records(1..=6));
    until(|| hub.status().acknowledged_position == 6);
    target.lock().refused = BTreeSet::from([3]);
    let replayed = hub.replay("a", PATIENCE).unwrap();
    assert_eq!(
        (replayed.replayed, replayed.refused, replayed.reason.as_deref()),
        (2, 1, Some("not that one"))
    );
    assert_eq!(target.lock().stored, [1, 4, 6, 2, 5]);
    assert_eq!(parked(&hub), [3]);
    target.lock().refused.clear();
    drop(hub);
    let hub = open(directory.path(), &[("a", &target, 6)]);
    assert_eq!(hub.replay("a", PATIENCE).unwrap().replayed, 1);
    assert_eq!(parked(&hub), Vec::<u64>::new());
    hub.append(records([7]));
    until(|| hub.status().acknowledged_position == 7);
    assert_eq!(target.lock().stored, [1, 4, 6, 2, 5, 3, 7]);
    assert!(matches!(hub.replay("b", PATIENCE), Err(ChangeError::Unknown(id)) if id == "b"));
}

/// Records of which one is a purge.
fn records_with_purge(positions: impl IntoIterator<Item = u64>, purge: u64) -> Vec<Record> {
    let change = |one: Record| match one.position {
        position if position == purge => record(position, Intent::Purged, PurgeRecord { change_id: 1 }),
        _ => one,
    };
    records(positions).into_iter().map(change).collect()
}

#[test]
fn a_purge_voids_what_was_parked_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let target = target([2, 6]);
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records_with_purge(1..=8, 4));
    until(|| hub.status().acknowledged_position == 8);
    assert_eq!(parked(&hub), [6], "the record before the purge does not come back");
    target.lock().refused.clear();
    assert_eq!(hub.replay("a", PATIENCE).unwrap().replayed, 1);
    assert_eq!(target.lock().stored, [1, 3, 4, 5, 7, 8, 6]);
}

#[test]
fn what_a_purge_voids_does_not_come_back_to_an_exporter_that_begins_again_behind_it() {
    let directory = tempfile::tempdir().unwrap();
    let target = target([2]);
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records(1..=3));
    until(|| hub.status().acknowledged_position == 3);
    assert_eq!(parked(&hub), [2]);
    // The target has the purge, but the exporter does not come to know it.
    target.lock().is_away = true;
    hub.append(records_with_purge(4..=8, 4));
    until(|| parked(&hub).is_empty());
    drop(hub);
    *target.lock() = Target { stored: (4..=8).collect(), ..Target::default() };
    let hub = open(directory.path(), &[("a", &target, 8)]);
    assert_eq!(hub.replay("a", PATIENCE).unwrap().replayed, 0);
    assert_eq!(target.lock().stored, (4..=8).collect::<Vec<_>>());
}

#[test]
fn records_that_were_replayed_come_again_behind_a_purge_that_does() {
    let directory = tempfile::tempdir().unwrap();
    let target = target([6]);
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records_with_purge(1..=8, 4));
    until(|| hub.status().acknowledged_position == 8);
    target.lock().refused.clear();
    assert_eq!(hub.replay("a", PATIENCE).unwrap().replayed, 1);
    // The acknowledgement is lost, the purge comes again and empties the target.
    target.lock().stored.clear();
    drop(hub);
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records_with_purge(1..=8, 4));
    until(|| hub.status().acknowledged_position == 8);
    assert_eq!(target.lock().stored, (1..=8).collect::<Vec<_>>());
}

#[test]
fn records_that_the_exporter_has_not_reached_are_not_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let target = target([6]);
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records(1..=8));
    until(|| hub.status().acknowledged_position == 8);
    drop(hub);
    target.lock().stored.clear();
    target.lock().refused.clear();
    // The records come again, up to some of them.
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records(1..=3));
    until(|| hub.status().acknowledged_position == 3);
    let replayed = hub.replay("a", PATIENCE).unwrap();
    assert_eq!((replayed.replayed, replayed.refused), (0, 1));
    assert_eq!(replayed.reason.as_deref(), Some("records before it are not exported yet"));
    hub.append(records(4..=8));
    until(|| hub.status().acknowledged_position == 8);
    assert_eq!(hub.replay("a", PATIENCE).unwrap().replayed, 1);
    assert_eq!(target.lock().stored, [1, 2, 3, 4, 5, 7, 8, 6]);
}

#[test]
fn what_is_kept_of_an_exporter_that_is_gone_can_be_forgotten() {
    for is_open in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let (gone, left) = (target([4]), target([5]));
        let hub = open(directory.path(), &[("a", &gone, 0), ("b", &left, 0)]);
        hub.append(records(1..=6));
        until(|| hub.status().acknowledged_position == 6);
        hub.set_enabled("a", false, None).unwrap();
        drop(hub);
        if is_open {
            open(directory.path(), &[("b", &left, 6)]).forget("a").unwrap();
        } else {
            Hub::forget_in(directory.path(), "a").unwrap();
        }
        let hub = open(directory.path(), &[("a", &gone, 0), ("b", &left, 6)]);
        assert!(status(&hub, 0).enabled, "open: {is_open}");
        assert_eq!((hub.parked_count("a"), hub.parked_count("b")), (0, 1), "open: {is_open}");
        assert_eq!(hub.parked("b").unwrap()[0].record.position, 5);
    }
    let empty = tempfile::tempdir().unwrap();
    Hub::forget_in(&empty.path().join("none"), "a").unwrap();
}

#[test]
fn nothing_is_parked_while_the_target_is_away() {
    let directory = tempfile::tempdir().unwrap();
    let target = target([]);
    target.lock().is_away = true;
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records(1..=5));
    until(|| target.lock().opened > 4 * PARK_AFTER);
    assert_eq!(status(&hub, 0).failure.as_deref(), Some("away"));
    target.lock().is_away = false;
    until(|| hub.status().acknowledged_position == 5);
    assert_eq!(parked(&hub), Vec::<u64>::new());
    assert_eq!(target.lock().stored, [1, 2, 3, 4, 5]);
}

#[test]
fn a_target_that_refuses_everything_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let target = target(1..=40);
    let hub = open(directory.path(), &[("a", &target, 0)]);
    hub.append(records(1..=40));
    until(|| target.lock().refusals > 30 * PARK_AFTER);
    assert_eq!(parked(&hub), (1..=16).collect::<Vec<_>>());
    target.lock().refused.clear();
    until(|| hub.status().acknowledged_position == 40);
    assert_eq!(target.lock().stored, (17..=40).collect::<Vec<_>>());
}

#[test]
fn one_that_is_switched_off_holds_nothing_back_and_begins_anew() {
    let directory = tempfile::tempdir().unwrap();
    let (a, b) = (target([]), target([]));
    let hub = open(directory.path(), &[("a", &a, 0), ("b", &b, 0)]);
    hub.append(records([1, 2]));
    until(|| hub.status().acknowledged_position == 2);
    hub.set_enabled("b", false, None).unwrap();
    hub.append(records([3, 4]));
    until(|| hub.status().acknowledged_position == 4);
    assert_eq!(hub.status().memory_bytes, 0);
    assert_eq!((status(&hub, 1).enabled, status(&hub, 1).backlog_records), (false, 0));
    assert!(matches!(hub.replay("b", PATIENCE), Err(ChangeError::Disabled(_))));
    drop(hub);

    let hub = open(directory.path(), &[("a", &a, 4), ("b", &b, 2)]);
    assert!(!status(&hub, 1).enabled);
    hub.append(records([5]));
    hub.make_durable(5).unwrap();
    until(|| hub.status().acknowledged_position == 5);
    hub.set_enabled("b", true, None).unwrap();
    hub.append(records([6]));
    until(|| hub.status().acknowledged_position == 6);
    assert_eq!(a.lock().stored, [1, 2, 3, 4, 5, 6]);
    assert_eq!(b.lock().stored, [1, 2, 6]);
    assert!(matches!(hub.set_enabled("c", true, None), Err(ChangeError::Unknown(_))));
}

#[test]
fn one_can_begin_where_another_is_and_all_can_be_off() {
    let directory = tempfile::tempdir().unwrap();
    let (a, b) = (target([]), target([]));
    let hub = open(directory.path(), &[("a", &a, 0), ("b", &b, 0)]);
    hub.set_enabled("a", false, None).unwrap();
    hub.set_enabled("b", false, None).unwrap();
    hub.append(records([1]));
    hub.make_durable(1).unwrap();
    assert_eq!((hub.status().memory_bytes, hub.overload()), (0, None));
    hub.set_enabled("a", true, None).unwrap();
    a.lock().is_away = true;
    hub.append(records([2, 3]));
    hub.set_enabled("b", true, Some("a")).unwrap();
    until(|| b.lock().stored == [2, 3]);
    a.lock().is_away = false;
    until(|| hub.status().acknowledged_position == 3);
    assert_eq!(a.lock().stored, [2, 3]);
}
