//! Exporters at work, each on its thread: one that is slow, blocked, failing or panicking harms nobody else.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too, stop at the first surprise")]

mod shared;

use parking_lot::{Condvar, Mutex};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use export::{Assigned, ExportError, Exporter, Flush, Hub, HubError, Phase, StreamOptions};
use protocol::Record;
use protocol::testing::variable;

/// Nothing here takes that long; what does has hung.
const PATIENCE: Duration = Duration::from_secs(20);

fn records(positions: impl IntoIterator<Item = u64>) -> Vec<Record> {
    positions.into_iter().map(|position| variable(position, 1)).collect()
}

/// Behaviour of an exporter at its next call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Works,
    Fails,
    Panics,
    Blocks,
}

/// The target of an exporter, seen from the test.
struct Target {
    mood: Mutex<Mood>,
    changed: Condvar,
    opened: Mutex<Vec<u64>>,
    entered: AtomicBool,
}

impl Target {
    fn set(&self, mood: Mood) {
        *self.mood.lock() = mood;
        self.changed.notify_all();
    }

    fn is_entered(&self) -> bool {
        self.entered.load(Ordering::Acquire)
    }

    fn act(&self) -> Result<(), ExportError> {
        self.entered.store(true, Ordering::Release);
        let mut mood = self.mood.lock();
        self.changed.wait_while(&mut mood, |mood| *mood == Mood::Blocks);
        match *mood {
            Mood::Panics => panic!("as the test wants it"),
            Mood::Fails => Err(ExportError::Target("the target refuses".to_owned())),
            _ => Ok(()),
        }
    }
}

struct Probe {
    id: String,
    target: Arc<Target>,
    taken: Vec<u64>,
    last: u64,
    /// Positions in the order in which they became durable.
    durable: Sender<u64>,
    /// Whether it leaves what it took for a whole flush.
    is_lazy: bool,
    flushed: u64,
}

impl Exporter for Probe {
    fn id(&self) -> &str {
        &self.id
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.target.opened.lock().push(acknowledged);
        self.taken.clear();
        self.last = acknowledged;
        Ok(acknowledged)
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        for record in records {
            assert!(record.position > self.last, "{} after {}", record.position, self.last);
            self.last = record.position;
            self.taken.push(record.position);
        }
        self.target.act()
    }

    fn replay(&mut self, record: &Record) -> Result<(), ExportError> {
        self.target.act()?;
        let _ = self.durable.send(record.position);
        Ok(())
    }

    fn flush(&mut self, flush: Flush) -> Result<u64, ExportError> {
        self.target.act()?;
        if self.is_lazy && !flush.is_durable() {
            return Ok(self.flushed);
        }
        self.flushed = self.last;
        for position in self.taken.drain(..) {
            let _ = self.durable.send(position);
        }
        Ok(self.last)
    }
}

fn probe(id: &str, mood: Mood) -> (Box<dyn Exporter>, Arc<Target>, Receiver<u64>) {
    let (probe, target, received) = probe_that_is(id, mood, false);
    (Box::new(probe), target, received)
}

fn probe_that_is(id: &str, mood: Mood, is_lazy: bool) -> (Probe, Arc<Target>, Receiver<u64>) {
    let target = Arc::new(Target {
        mood: Mutex::new(mood),
        changed: Condvar::new(),
        opened: Mutex::default(),
        entered: AtomicBool::new(false),
    });
    let (durable, received) = channel();
    let id = id.to_owned();
    let probe =
        Probe { id, target: Arc::clone(&target), taken: vec![], last: 0, durable, is_lazy, flushed: 0 };
    (probe, target, received)
}

fn options() -> StreamOptions {
    let short = Duration::from_millis(1);
    StreamOptions {
        flush_interval: short,
        gather_interval: short,
        retry_min: short,
        retry_max: Duration::from_millis(5),
        ..StreamOptions::default()
    }
}

fn open(directory: &Path, options: StreamOptions, exporters: Vec<(Box<dyn Exporter>, u64)>) -> Hub {
    let assigned = exporters
        .into_iter()
        .map(|(exporter, acknowledged)| Assigned { exporter, acknowledged, is_shared: false })
        .collect();
    Hub::open(options, directory, 1, assigned, 0).unwrap()
}

fn receive(received: &Receiver<u64>, count: usize) -> Vec<u64> {
    (0..count).map(|_| received.recv_timeout(PATIENCE).expect("records are exported")).collect()
}

fn spilled(directory: &Path) -> bool {
    let is_spill = |path: &Path| path.extension().is_some_and(|extension| extension == "spill");
    std::fs::read_dir(directory).unwrap().any(|entry| is_spill(&entry.unwrap().path()))
}

#[test]
fn records_arrive_in_order_and_are_acknowledged_without_touching_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let (exporter, target, received) = probe("a", Mood::Works);
    let options = StreamOptions { flush_grace: PATIENCE, ..options() };
    let hub = open(directory.path(), options, vec![(exporter, 0)]);
    for batch in 0..100 {
        hub.append(records(batch * 10 + 1..batch * 10 + 8));
    }
    // Waits for the exporter, which keeps up.
    hub.make_durable(997).unwrap();
    assert!(!spilled(directory.path()));
    let expected: Vec<u64> = (0..100).flat_map(|batch| batch * 10 + 1..batch * 10 + 8).collect();
    assert_eq!(receive(&received, 700), expected);
    let status = hub.status();
    assert_eq!(status.acknowledged_position, 997);
    assert_eq!((status.exporters[0].backlog_records, status.exporters[0].backlog), (0, Duration::ZERO));
    assert_eq!(status.memory_bytes, 0);
    assert_eq!(*target.opened.lock(), [0]);
    assert!(hub.shutdown(PATIENCE));
}

#[test]
fn what_comes_after_a_rest_is_flushed_soon_and_what_follows_with_the_next_interval() {
    let directory = tempfile::tempdir().unwrap();
    let (exporter, _, received) = probe("a", Mood::Works);
    let options = StreamOptions { flush_interval: Duration::from_secs(3600), ..options() };
    let hub = open(directory.path(), options, vec![(exporter, 0)]);
    hub.append(records([1]));
    assert_eq!(receive(&received, 1), [1]);
    hub.append(records([2]));
    let begin = Instant::now();
    while hub.status().exporters[0].exported_position < 2 {
        assert!(begin.elapsed() < PATIENCE, "the record is not taken");
        std::thread::yield_now();
    }
    assert_eq!(hub.status().exporters[0].acknowledged_position, 1);
    // It does not wait for the interval at the end.
    assert!(hub.shutdown(PATIENCE));
    assert_eq!(receive(&received, 1), [2]);
}

#[test]
fn what_somebody_looks_for_is_flushed_long_before_the_interval() {
    let directory = tempfile::tempdir().unwrap();
    let (exporter, _, received) = probe("a", Mood::Works);
    let long = Duration::from_secs(3600);
    let options = StreamOptions { flush_interval: long, gather_interval: long, ..options() };
    let hub = open(directory.path(), options, vec![(exporter, 0)]);
    assert_eq!(hub.hasten("b"), None);
    for position in 1..=100 {
        hub.append(records([position]));
        assert_eq!(hub.hasten("a").expect("the exporter is there").position, position);
        assert_eq!(receive(&received, 1), [position]);
    }
    assert!(hub.shutdown(PATIENCE));
}

#[test]
fn what_is_left_for_later_becomes_durable_when_somebody_waits_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let (exporter, _, received) = probe_that_is("a", Mood::Works, true);
    let memory_bytes = 64 * 1024;
    let options = StreamOptions { flush_grace: PATIENCE, memory_bytes, ..options() };
    let hub = open(directory.path(), options, vec![(Box::new(exporter), 0)]);
    let status = || hub.status().exporters[0].clone();
    let until = |what: &str, is_so: &dyn Fn() -> bool| {
        let begin = Instant::now();
        while !is_so() {
            assert!(begin.elapsed() < PATIENCE, "{what}: {:?}", hub.status());
            std::thread::yield_now();
        }
    };
    hub.append(records(1..=5));
    until("it is taken", &|| status().exported_position == 5);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(status().acknowledged_position, 0, "some twenty usual flushes");
    assert_eq!(received.try_iter().count(), 0);
    // A flush of the state.
    hub.make_durable(5).unwrap();
    assert!(!spilled(directory.path()));
    assert_eq!(status().acknowledged_position, 5);
    // A pause.
    hub.append(records([6]));
    until("it is taken", &|| status().exported_position == 6);
    hub.set_phase(Phase::Paused).unwrap();
    until("what was taken is durable", &|| status().acknowledged_position == 6);
    hub.set_phase(Phase::Exporting).unwrap();
    // Memory.
    hub.append(records(7..=4000));
    until("it gives memory back", &|| status().acknowledged_position == 4000);
    // The end.
    hub.append(records([4001]));
    until("it is taken", &|| status().exported_position == 4001);
    assert!(hub.shutdown(PATIENCE));
    assert_eq!(receive(&received, 4001), (1..=4001).collect::<Vec<_>>());
}

#[test]
fn one_that_is_blocked_fails_or_panics_stops_nobody_and_catches_up() {
    for mood in [Mood::Blocks, Mood::Fails, Mood::Panics] {
        let directory = tempfile::tempdir().unwrap();
        let (good, _, from_good) = probe("good", Mood::Works);
        let (bad, target, from_bad) = probe("bad", mood);
        // Everything beyond a few records is spilled.
        let options = StreamOptions { memory_bytes: 4096, ..options() };
        let hub = open(directory.path(), options, vec![(bad, 0), (good, 0)]);
        for position in 1..=300 {
            hub.append(records([position]));
        }
        assert_eq!(receive(&from_good, 300), (1..=300).collect::<Vec<_>>());
        hub.make_durable(300).unwrap();
        assert!(spilled(directory.path()));
        let status = hub.status().exporters;
        assert_eq!(status[0].backlog_records, 300);
        assert_eq!(status[0].acknowledged_position, 0);
        assert!(from_bad.try_recv().is_err());
        target.set(Mood::Works);
        assert_eq!(receive(&from_bad, 300), (1..=300).collect::<Vec<_>>());
        hub.append(records([301]));
        assert_eq!(receive(&from_bad, 1), [301]);
        assert_eq!(receive(&from_good, 1), [301]);
        assert!(hub.shutdown(PATIENCE));
        let status = hub.status();
        assert_eq!((status.acknowledged_position, status.exporters[0].failure.as_deref()), (301, None));
        assert!(!spilled(directory.path()));
    }
}

#[test]
fn a_failure_is_shown_and_what_was_not_flushed_comes_again() {
    let directory = tempfile::tempdir().unwrap();
    let (exporter, target, received) = probe("a", Mood::Works);
    let hub = open(directory.path(), options(), vec![(exporter, 0)]);
    hub.append(records([1, 2]));
    receive(&received, 2);
    target.set(Mood::Fails);
    hub.append(records([3, 4]));
    // Two more attempts.
    while target.opened.lock().len() < 3 {
        std::thread::yield_now();
    }
    let status = hub.status().exporters.remove(0);
    assert_eq!(status.failure.as_deref(), Some("the target refuses"));
    target.set(Mood::Works);
    assert_eq!(receive(&received, 2), [3, 4]);
    assert!(target.opened.lock()[1..].iter().all(|acknowledged| *acknowledged == 2));
}

#[test]
fn a_blocked_exporter_does_not_block_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let (exporter, target, _received) = probe("a", Mood::Blocks);
    let hub = open(directory.path(), options(), vec![(exporter, 0)]);
    hub.append(records([1]));
    hub.make_durable(1).unwrap();
    while !target.is_entered() {
        std::thread::yield_now();
    }
    assert!(!hub.shutdown(Duration::ZERO));
    drop(hub);
    let reopen = || {
        let (exporter, _, received) = probe("a", Mood::Works);
        let assigned = vec![Assigned { exporter, acknowledged: 0, is_shared: false }];
        Hub::open(options(), directory.path(), 1, assigned, 0).map(|hub| (hub, received))
    };
    assert!(matches!(reopen(), Err(HubError::InUse(_))), "the one left behind might still write");
    target.set(Mood::Works);
    let (_hub, received) = loop {
        match reopen() {
            Ok(opened) => break opened,
            Err(error) => assert!(matches!(error, HubError::InUse(_)), "{error}"),
        }
        std::thread::yield_now();
    };
    assert_eq!(receive(&received, 1), [1]);
}

#[test]
fn a_pause_holds_over_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let (exporter, _, received) = probe("a", Mood::Works);
    let hub = open(directory.path(), options(), vec![(exporter, 0)]);
    hub.append(records([1]));
    receive(&received, 1);
    hub.set_phase(Phase::Paused).unwrap();
    hub.append(records([2, 3]));
    hub.make_durable(3).unwrap();
    assert!(hub.shutdown(PATIENCE));
    assert!(received.try_recv().is_err());
    drop(hub);
    let (exporter, target, received) = probe("a", Mood::Works);
    let hub = open(directory.path(), options(), vec![(exporter, 1)]);
    assert_eq!(hub.status().phase, Phase::Paused);
    while target.opened.lock().is_empty() {
        std::thread::yield_now();
    }
    assert!(received.try_recv().is_err());
    hub.set_phase(Phase::SoftPaused).unwrap();
    assert_eq!(receive(&received, 2), [2, 3]);
    assert_eq!(hub.status().acknowledged_position, 1);
    assert!(spilled(directory.path()));
    hub.set_phase(Phase::Exporting).unwrap();
    hub.append(records([4]));
    assert_eq!(receive(&received, 1), [4]);
    assert!(hub.shutdown(PATIENCE));
    assert_eq!(hub.status().acknowledged_position, 4);
}

#[test]
fn a_new_exporter_begins_with_what_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let (a, _, from_a) = probe("a", Mood::Works);
    let (slow, _, _from_slow) = probe("slow", Mood::Fails);
    let hub = open(directory.path(), options(), vec![(a, 0), (slow, 0)]);
    hub.append(records(1..=10));
    receive(&from_a, 10);
    hub.make_durable(10).unwrap();
    drop(hub);
    let (a, _, from_a) = probe("a", Mood::Works);
    let (new, _, from_new) = probe("new", Mood::Works);
    let hub = open(directory.path(), options(), vec![(a, 10), (new, 0)]);
    hub.append(records([12]));
    assert_eq!(receive(&from_new, 11), (1..=10).chain([12]).collect::<Vec<_>>());
    assert_eq!(receive(&from_a, 1), [12]);
}

#[test]
fn records_that_a_snapshot_has_are_skipped() {
    let directory = tempfile::tempdir().unwrap();
    let (exporter, target, received) = probe("a", Mood::Works);
    let hub = open(directory.path(), options(), vec![(exporter, 0)]);
    hub.append(records(1..=3));
    assert_eq!(receive(&received, 3), [1, 2, 3]);
    hub.skip_to(2).unwrap();
    assert_eq!(hub.last(), 3, "its records came already");
    hub.skip_to(10).unwrap();
    assert_eq!(hub.last(), 10);
    // The log is given again from where the state was, or from before it.
    hub.append(records(9..=12));
    assert_eq!(receive(&received, 2), [11, 12]);
    assert_eq!(*target.opened.lock(), [0, 10], "it begins again, to find out what it lacks");
    assert!(hub.shutdown(PATIENCE));
    assert_eq!(hub.status().acknowledged_position, 12);
}

#[test]
fn records_that_wait_are_dropped_when_a_snapshot_has_them() {
    let directory = tempfile::tempdir().unwrap();
    let (exporter, target, received) = probe("a", Mood::Fails);
    let hub = open(directory.path(), options(), vec![(exporter, 0)]);
    hub.append(records(1..=3));
    hub.make_durable(3).unwrap();
    assert!(spilled(directory.path()));
    hub.skip_to(10).unwrap();
    assert!(!spilled(directory.path()));
    target.set(Mood::Works);
    hub.append(records([12]));
    assert_eq!(receive(&received, 1), [12]);
}

#[test]
fn two_exporters_of_one_name_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let assigned = (0..2)
        .map(|_| Assigned { exporter: probe("a", Mood::Works).0, acknowledged: 0, is_shared: false })
        .collect();
    let refused = Hub::open(options(), directory.path(), 1, assigned, 0);
    assert!(matches!(refused, Err(HubError::DuplicateId(id)) if id == "a"));
}
