//! The stream without threads: what is kept, spilled, read back, and what a crash leaves.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use protocol::Record;
use protocol::testing::variable;

use super::*;

const A: usize = 0;
const B: usize = 1;

fn options() -> StreamOptions {
    StreamOptions { flush_grace: Duration::ZERO, spill_segment_bytes: 400, ..StreamOptions::default() }
}

fn open(directory: &Path, options: StreamOptions, acknowledged: [u64; 2]) -> Stream {
    open_at(directory, options, acknowledged, 0)
}

/// A stream over a state that has applied up to the position `state`.
fn open_at(directory: &Path, options: StreamOptions, acknowledged: [u64; 2], state: u64) -> Stream {
    let beginning = |id: &str, acknowledged| Beginning { id: id.to_owned(), acknowledged, missing: None };
    let readers = vec![beginning("a", acknowledged[A]), beginning("b", acknowledged[B])];
    let kept = Kept {
        disabled: BTreeSet::new(),
        phase: Phase::Exporting,
        lock: tempfile::tempfile().unwrap(),
        floor: FloorFile::open(directory).unwrap(),
        state,
    };
    Stream::open(options, directory, readers, kept).unwrap()
}

/// The position of an exporter may be unknown; which records do not come again is known.
#[test]
fn an_exporter_begins_behind_the_records_that_do_not_come_again() {
    let directory = tempfile::tempdir().unwrap();
    let stream = open(directory.path(), options(), [0, 0]);
    stream.append(records([1, 2, 5]));
    for reader in [A, B] {
        assert_eq!(take(&stream, reader), [1, 2, 5]);
        stream.flushed(reader, 5, Flush::Usual);
    }
    stream.make_durable(7).unwrap();
    // The flush of this one is cut off.
    stream.append(records([9, 10]));
    assert_eq!(take(&stream, A), [9, 10]);
    stream.flushed(A, 10, Flush::Usual);
    stream.make_durable(11).unwrap();
    drop(stream);
    let begins = |state| {
        let stream = open_at(directory.path(), options(), [0, 0], state);
        [stream.begin(A), stream.begin(B)]
    };
    assert_eq!(begins(7), [5, 5], "5 is the last record of the state at 7");
    assert_eq!(begins(11), [5, 5], "9 and 10 are in the spill");
    let stream = open_at(directory.path(), options(), [0, 0], 11);
    assert_eq!(take(&stream, B), [9, 10]);
    for reader in [A, B] {
        take(&stream, reader);
        stream.flushed(reader, 10, Flush::Usual);
    }
    drop(stream);
    assert_eq!(begins(11), [10, 10], "the spill is removed");
    assert_eq!(begins(0), [0, 0], "of another state nothing is known");
}

fn records(positions: impl IntoIterator<Item = u64>) -> Vec<Record> {
    positions.into_iter().map(|position| variable(position, 8)).collect()
}

/// Takes everything there is.
fn take(stream: &Stream, reader: usize) -> Vec<u64> {
    let mut spill = SpillReader::default();
    let mut positions = Vec::new();
    while let Some(chunk) = stream.next(reader, &mut spill).unwrap() {
        positions.extend(chunk.records().iter().map(|record| record.position));
        stream.took(reader, &chunk);
    }
    positions
}

/// Nothing is to gather, and somebody who looks is served at once.
fn pace(now: Instant, flush_at: Option<Instant>) -> Pace {
    Pace { gather_until: now, flush_at, hasten_at: now }
}

fn files(directory: &Path) -> usize {
    let spilled = |path: &Path| path.extension().is_some_and(|extension| extension == "spill");
    std::fs::read_dir(directory).unwrap().filter(|entry| spilled(&entry.as_ref().unwrap().path())).count()
}

#[test]
fn records_are_kept_until_everybody_has_acknowledged_and_nothing_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let stream = open(directory.path(), options(), [0, 0]);
    stream.append(records([2, 3, 5]));
    stream.append(records([7]));
    assert_eq!(take(&stream, A), [2, 3, 5, 7]);
    stream.flushed(A, 7, Flush::Shown);
    assert!(stream.status().memory_bytes > 0);
    assert_eq!(stream.status().exporters[A].backlog_records, 0);
    assert_eq!(stream.status().exporters[B].backlog_records, 4);
    assert_eq!(take(&stream, B), [2, 3, 5, 7]);
    stream.flushed(B, 5, Flush::Shown);
    assert_eq!(stream.status().exporters[B].backlog_records, 1);
    stream.flushed(B, 7, Flush::Shown);
    stream.make_durable(7).unwrap();
    let status = stream.status();
    assert_eq!((status.memory_bytes, status.spill_bytes, status.acknowledged_position), (0, 0, 7));
    assert_eq!(files(directory.path()), 0);
}

#[test]
fn what_is_spilled_is_read_back_in_order_and_removed_when_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    // Nothing stays in memory.
    let stream = open(directory.path(), StreamOptions { memory_bytes: 0, ..options() }, [0, 0]);
    for position in 1..=20 {
        stream.append(records([position * 2]));
        stream.relieve().unwrap().unwrap();
    }
    assert_eq!(stream.status().memory_bytes, 0);
    assert!(files(directory.path()) > 3, "segments are rotated");
    let expected: Vec<u64> = (1..=20).map(|number| number * 2).collect();
    assert_eq!(take(&stream, A), expected);
    stream.flushed(A, 40, Flush::Shown);
    let mut spill = SpillReader::default();
    for position in &expected[..10] {
        let chunk = stream.next(B, &mut spill).unwrap().unwrap();
        assert_eq!(chunk.records()[0], variable(*position, 8));
        stream.took(B, &chunk);
    }
    let before = files(directory.path());
    stream.flushed(B, 20, Flush::Shown);
    assert_eq!(stream.status().exporters[B].backlog_records, 10);
    assert!((1..before).contains(&files(directory.path())), "acknowledged segments are removed");
    // Later records are in memory, and follow.
    stream.append(records([41]));
    assert_eq!(take(&stream, B), (11..=20).map(|number| number * 2).chain([41]).collect::<Vec<_>>());
    assert_eq!(take(&stream, A), [41]);
    stream.flushed(A, 41, Flush::Shown);
    stream.flushed(B, 41, Flush::Shown);
    assert_eq!(files(directory.path()), 0);
    assert_eq!(stream.status().spill_bytes, 0);
}

#[test]
fn large_records_are_spilled_in_several_frames() {
    let directory = tempfile::tempdir().unwrap();
    let stream = open(directory.path(), options(), [0, 0]);
    let many: Vec<Record> = (1..=40).map(|position| variable(position, 32 * 1024)).collect();
    stream.append(many.clone());
    stream.make_durable(40).unwrap();
    drop(stream);
    let stream = open(directory.path(), options(), [0, 0]);
    let mut spill = SpillReader::default();
    let mut found = Vec::new();
    let mut chunks = 0;
    while let Some(chunk) = stream.next(A, &mut spill).unwrap() {
        found.extend_from_slice(chunk.records());
        stream.took(A, &chunk);
        chunks += 1;
    }
    assert_eq!(found, many);
    assert!(chunks > 3, "a reader holds {chunks} frames' worth at once");
}

#[test]
fn a_slow_exporter_does_not_let_memory_grow() {
    let directory = tempfile::tempdir().unwrap();
    let limit = 20 * 1024;
    let options = StreamOptions { memory_bytes: limit, ..options() };
    let stream = open(directory.path(), options, [0, 0]);
    let one = crate::weight::weight(&variable(1, 8));
    for position in 1..=500 {
        stream.append(records([position]));
        assert_eq!(take(&stream, A), [position]);
        stream.flushed(A, position, Flush::Shown);
        if stream.status().memory_bytes > limit {
            stream.relieve().unwrap().unwrap();
            assert!(stream.status().memory_bytes <= limit / 2);
        }
        assert!(stream.status().memory_bytes <= limit + one);
    }
    assert_eq!(take(&stream, B), (1..=500).collect::<Vec<_>>());
}

#[test]
fn work_is_refused_when_the_spill_is_too_large() {
    let directory = tempfile::tempdir().unwrap();
    let options = StreamOptions { spill_max_bytes: 2000, spill_segment_bytes: 100, ..options() };
    let stream = open(directory.path(), options, [0, 0]);
    let mut position = 0;
    let mut append = || {
        position += 1;
        stream.append(records([position]));
        take(&stream, A);
        stream.flushed(A, position, Flush::Shown);
        stream.make_durable(position).unwrap();
        stream.overload()
    };
    assert_eq!(append(), None);
    let overload = (0..100).find_map(|_| append()).unwrap();
    assert!(!overload.everything);
    assert!(overload.reason.contains("exporter 'b'"), "{}", overload.reason);
    assert!((0..100).find_map(|_| append().filter(|overload| overload.everything)).is_some());
    take(&stream, B);
    stream.flushed(B, position, Flush::Shown);
    assert_eq!(stream.overload(), None);
}

#[test]
fn work_is_refused_when_memory_is_full_because_the_spill_cannot_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let spill = directory.path().join("spill");
    let options = StreamOptions { memory_bytes: 4 * crate::weight::weight(&variable(1, 8)), ..options() };
    let stream = open(&spill, options, [0, 0]);
    std::fs::remove_dir(&spill).unwrap();
    for position in 1..=9 {
        assert_eq!(stream.overload(), None);
        stream.append(records([position]));
    }
    assert!(stream.relieve().unwrap().is_err());
    assert!(stream.make_durable(9).is_err());
    assert!(stream.overload().is_some_and(|overload| !overload.everything));
    // The disk is back: nothing is lost.
    std::fs::create_dir(&spill).unwrap();
    stream.relieve().unwrap().unwrap();
    assert_eq!(stream.overload(), None);
    assert_eq!(take(&stream, A), (1..=9).collect::<Vec<_>>());
}

#[test]
fn a_torn_end_is_cut_off_wherever_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let options = StreamOptions { spill_segment_bytes: u64::MAX, ..options() };
    let stream = open(directory.path(), options.clone(), [0, 0]);
    for position in 1..=4 {
        stream.append(records([position]));
        stream.make_durable(position).unwrap();
    }
    drop(stream);
    let path = directory.path().join(format!("{:020}.spill", 1));
    let whole = std::fs::read(&path).unwrap();
    let mut lengths = BTreeSet::new();
    for length in 0..=whole.len() {
        for garbage in [&b""[..], &[0; 50], &[7; 50]] {
            if length < 8 && garbage.first() == Some(&7) {
                // Not what a crash leaves, but another kind of file.
                std::fs::write(&path, [&whole[..length], garbage].concat()).unwrap();
                assert!(matches!(spill::open(directory.path()), Err(SpillError::Damaged { .. })));
                continue;
            }
            std::fs::write(&path, [&whole[..length], garbage].concat()).unwrap();
            let stream = open(directory.path(), options.clone(), [0, 0]);
            let found = take(&stream, A);
            assert_eq!(found, (1..=found.len() as u64).collect::<Vec<_>>());
            // The log brings the rest again.
            stream.append(records(1..=6));
            assert_eq!(take(&stream, A), (found.len() as u64 + 1..=6).collect::<Vec<_>>());
            lengths.insert(found.len());
        }
    }
    assert_eq!(lengths, (0..=4).collect());
}

#[test]
fn what_a_replay_makes_again_is_kept_once() {
    let directory = tempfile::tempdir().unwrap();
    let stream = open(directory.path(), options(), [0, 0]);
    stream.append(records(1..=5));
    stream.make_durable(5).unwrap();
    drop(stream);
    let stream = open(directory.path(), options(), [0, 2]);
    stream.append(records(2..=5));
    assert_eq!(stream.status().memory_bytes, 0);
    stream.append(records(4..=8));
    assert_eq!(stream.status().exporters[A].backlog_records, 8);
    stream.make_durable(8).unwrap();
    drop(stream);
    let stream = open(directory.path(), options(), [0, 2]);
    assert_eq!(stream.status().exporters[A].backlog_records, 8);
    assert_eq!(take(&stream, A), (1..=8).collect::<Vec<_>>());
    assert_eq!(take(&stream, B), (3..=8).collect::<Vec<_>>());
    drop(stream);
    // Records that all exporters have acknowledged are not kept either.
    let stream = open(directory.path(), options(), [9, 10]);
    stream.append(records([8, 9]));
    assert_eq!((stream.status().memory_bytes, files(directory.path())), (0, 0));
}

#[test]
fn damage_in_the_middle_is_an_error_and_not_a_loss() {
    let directory = tempfile::tempdir().unwrap();
    let stream = open(directory.path(), StreamOptions { memory_bytes: 0, ..options() }, [0, 0]);
    stream.append(records(1..=5));
    stream.relieve().unwrap().unwrap();
    let path = directory.path().join(format!("{:020}.spill", 1));
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[100] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    let mut spill = SpillReader::default();
    assert!(matches!(stream.next(A, &mut spill), Err(SpillError::Damaged { .. })));
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(take(&stream, A), [1, 2, 3, 4, 5]);
}

#[test]
fn a_soft_pause_exports_and_keeps_a_hard_one_keeps() {
    let directory = tempfile::tempdir().unwrap();
    let stream = open(directory.path(), options(), [0, 0]);
    let now = Instant::now();
    stream.set_phase(Phase::SoftPaused);
    stream.append(records([1, 2]));
    assert_eq!(stream.signal(A, pace(now, None)), Signal::Take);
    assert_eq!(take(&stream, A), [1, 2]);
    assert_eq!(take(&stream, B), [1, 2]);
    stream.flushed(A, 2, Flush::Shown);
    stream.flushed(B, 2, Flush::Shown);
    assert_eq!(stream.status().acknowledged_position, 0);
    stream.make_durable(2).unwrap();
    assert_eq!(files(directory.path()), 1, "a backup finds what is not acknowledged");
    stream.set_phase(Phase::Exporting);
    assert_eq!(stream.status().acknowledged_position, 2);
    assert_eq!(files(directory.path()), 0);
    stream.append(records([3]));
    assert_eq!(take(&stream, A), [3]);
    stream.append(records([4]));
    stream.set_phase(Phase::Paused);
    let later = now + Duration::from_hours(1);
    assert_eq!(
        stream.signal(A, pace(now, Some(later))),
        Signal::Flush(Flush::Whole),
        "what was taken is flushed"
    );
    stream.stop(Stop::Flush);
    assert_eq!(stream.signal(A, pace(now, None)), Signal::Stop(Stop::Flush));
}

#[test]
fn somebody_who_looks_has_everything_taken_and_flushed_once() {
    let directory = tempfile::tempdir().unwrap();
    let stream = open(directory.path(), options(), [0, 0]);
    let now = Instant::now();
    let later = now + Duration::from_hours(1);
    let resting = Pace { gather_until: later, flush_at: None, hasten_at: now };
    let full = Pace { flush_at: Some(later), ..resting };
    stream.append(records([1, 2]));
    stream.append(records([3]));
    let hastened = stream.hasten(A);
    assert_eq!((hastened.position, hastened.is_off, hastened.is_failing), (3, false, false));
    assert_eq!(stream.signal(A, resting), Signal::Take);
    let mut spill = SpillReader::default();
    let chunk = stream.next(A, &mut spill).unwrap().unwrap();
    stream.took(A, &chunk);
    assert_eq!(stream.signal(A, full), Signal::Take, "the rest is taken before the flush");
    take(&stream, A);
    assert_eq!(stream.signal(A, full), Signal::Flush(Flush::Shown));
    // Handed on, and not durable yet.
    stream.flushed(A, 0, Flush::Shown);
    assert_eq!(stream.hasten(A).position, 3);
    let soon = Instant::now() + Duration::from_millis(1);
    assert_eq!(stream.signal(A, Pace { flush_at: Some(soon), ..full }), Signal::Flush(Flush::Usual));
    assert!(Instant::now() >= soon, "nothing is left to hasten");
    // A second one who looks waits for its turn.
    stream.append(records([4]));
    stream.hasten(A);
    assert_eq!(stream.signal(A, full), Signal::Take);
    take(&stream, A);
    let turn = Instant::now() + Duration::from_millis(5);
    assert_eq!(stream.signal(A, Pace { hasten_at: turn, ..full }), Signal::Flush(Flush::Shown));
    assert!(Instant::now() >= turn);
    stream.flushed(A, 4, Flush::Shown);
    // One that does not get on says so.
    stream.append(records([5]));
    assert!(stream.hasten(A).lag < Duration::from_mins(1));
    stream.set_failure(A, Some("away".to_owned()));
    assert!(stream.hasten(A).is_failing);
    stream.set_failure(A, None);
    stream.set_phase(Phase::Paused);
    assert!(stream.hasten(A).is_off);
    stream.set_phase(Phase::SoftPaused);
    assert!(!stream.hasten(A).is_off);
    stream.switch(A, false, None);
    assert!(stream.hasten(A).is_off);
}

#[test]
fn an_exporter_that_knows_more_or_fails_goes_on_where_it_says() {
    let directory = tempfile::tempdir().unwrap();
    let stream = open(directory.path(), options(), [0, 0]);
    stream.append(records(1..=6));
    stream.reopened(A, 4);
    assert_eq!(stream.status().exporters[A].acknowledged_position, 4);
    assert_eq!(take(&stream, A), [5, 6]);
    stream.reopened(A, 4);
    assert_eq!(take(&stream, A), [5, 6]);
    assert_eq!(stream.status().exporters[A].backlog_records, 2);
    stream.flushed(A, 6, Flush::Shown);
    assert_eq!(stream.status().exporters[A].backlog_records, 0);
}

/// One exporter whose target survives everything.
#[derive(Debug, Default, Clone)]
struct Target {
    durable: Vec<u64>,
    taken: Vec<u64>,
}

#[derive(Debug, Clone)]
enum Act {
    Append(u8),
    Export(usize, u8),
    Flush(usize),
    Relieve,
    /// Positions reach the state.
    Acknowledge,
    /// State reaches the disk.
    FlushState,
    /// Power fails, in the middle of the next spill with so many bytes of it written.
    Crash(Option<u16>),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (1..5u8).prop_map(Act::Append),
        4 => (0..2usize, 1..4u8).prop_map(|(reader, chunks)| Act::Export(reader, chunks)),
        2 => (0..2usize).prop_map(Act::Flush),
        2 => Just(Act::Relieve),
        2 => Just(Act::Acknowledge),
        2 => Just(Act::FlushState),
        1 => proptest::option::of(0..900u16).prop_map(Act::Crash),
    ];
    proptest::collection::vec(act, 1..60)
}

/// The world around a stream: what is committed, what state knows, what state on disk knows.
struct World {
    directory: tempfile::TempDir,
    stream: Stream,
    batches: Vec<Vec<u64>>,
    last: u64,
    acknowledged: [u64; 2],
    flushed_position: u64,
    flushed_acknowledged: [u64; 2],
    targets: [Target; 2],
}

impl World {
    fn options() -> StreamOptions {
        StreamOptions { memory_bytes: 2500, ..options() }
    }

    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            stream: open(directory.path(), Self::options(), [0, 0]),
            directory,
            batches: Vec::new(),
            last: 0,
            acknowledged: [0, 0],
            flushed_position: 0,
            flushed_acknowledged: [0, 0],
            targets: Default::default(),
        }
    }

    fn crash(&mut self, torn: Option<u16>) {
        if let Some(bytes) = torn {
            // As if a spill had begun: a new file, or the last one grown, with a part of a frame.
            let mut batch = Batch::new(vec![variable(self.last + 100, 8)]);
            batch.ordinal = u64::MAX / 2;
            let scratch = tempfile::tempdir().unwrap();
            let mut writer = SpillWriter::new(scratch.path(), u64::MAX);
            let segment = writer.write(&[Arc::new(batch)], 0).unwrap();
            let frame = std::fs::read(&segment.path).unwrap();
            let part = &frame[..usize::from(bytes).min(frame.len() - 1)];
            std::fs::write(self.directory.path().join(segment.path.file_name().unwrap()), part).unwrap();
        }
        for target in &mut self.targets {
            target.taken.clear();
        }
        self.acknowledged = self.flushed_acknowledged;
        self.stream = open(self.directory.path(), Self::options(), self.acknowledged);
        for (reader, target) in self.targets.iter().enumerate() {
            // One target knows how far it is, the other relies on the partition.
            if reader == A {
                let begin = self.stream.begin(reader);
                self.stream.reopened(reader, target.durable.last().map_or(begin, |last| begin.max(*last)));
            }
        }
        // The log is replayed.
        for batch in &self.batches {
            if batch[0] > self.flushed_position {
                self.stream.append(records(batch.iter().copied()));
            }
        }
    }

    fn export(&mut self, reader: usize, chunks: usize) {
        let mut spill = SpillReader::default();
        for _ in 0..chunks {
            let Some(chunk) = self.stream.next(reader, &mut spill).unwrap() else { break };
            self.targets[reader].taken.extend(chunk.records().iter().map(|record| record.position));
            self.stream.took(reader, &chunk);
        }
    }

    fn flush(&mut self, reader: usize) {
        let target = &mut self.targets[reader];
        target.durable.append(&mut target.taken);
        if let Some(&last) = target.durable.last() {
            self.stream.flushed(reader, last, Flush::Shown);
        }
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::Append(count) => {
                // Commands take positions too.
                let positions: Vec<u64> = (self.last + 2..).take(count.into()).collect();
                self.last = positions[positions.len() - 1];
                self.stream.append(records(positions.iter().copied()));
                self.batches.push(positions);
            }
            Act::Export(reader, chunks) => self.export(reader, chunks.into()),
            Act::Flush(reader) => self.flush(reader),
            Act::Relieve => {
                if self.stream.status().memory_bytes > Self::options().memory_bytes {
                    self.stream.relieve().unwrap().unwrap();
                }
            }
            Act::Acknowledge => {
                for (known, exporter) in self.acknowledged.iter_mut().zip(self.stream.status().exporters) {
                    *known = exporter.acknowledged_position.max(*known);
                }
            }
            Act::FlushState => {
                self.stream.make_durable(self.last).unwrap();
                self.flushed_position = self.last;
                self.flushed_acknowledged = self.acknowledged;
            }
            Act::Crash(torn) => self.crash(torn),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    /// After crashes at any point, no target misses a record; the one that knows its end never sees
    /// one twice; the other sees them again only in order, from a position it had.
    #[test]
    fn nothing_is_lost_in_a_crash(acts in acts()) {
        let mut world = World::new();
        for act in &acts {
            world.act(act);
        }
        world.crash(None);
        for reader in [A, B] {
            world.export(reader, usize::MAX);
            world.flush(reader);
        }
        let all: Vec<u64> = world.batches.concat();
        prop_assert_eq!(&world.targets[A].durable, &all);
        let seen = &world.targets[B].durable;
        prop_assert_eq!(seen.iter().copied().collect::<BTreeSet<_>>(), all.iter().copied().collect());
        let mut end = 0;
        for position in seen {
            let at = all.binary_search(position).unwrap();
            prop_assert!(at <= end, "{position} comes before others that were not seen");
            end = end.max(at + 1);
        }
        prop_assert_eq!(files(world.directory.path()), 0);
        let status = world.stream.status();
        prop_assert_eq!((status.memory_bytes, status.spill_bytes), (0, 0));
    }
}
