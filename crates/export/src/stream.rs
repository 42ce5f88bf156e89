//! The records that some exporter still needs: the latest in memory, older ones in the spill.
//!
//! The partition's thread appends, exporters' threads take and acknowledge, the overflow thread and the flusher spill.
//! The lock on what is in memory is never held while a file is touched; the lock on the writer of the spill is always
//! taken first.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use protocol::Record;

use crate::batch::{Batch, Chunk, now_ms};
use crate::exporter::Flush;
use crate::floor::FloorFile;
use crate::inner::HubState;
use crate::missing::Missing;
use crate::options::StreamOptions;
use crate::parking::{ParkedFile, ParkedRecords};
use crate::phase::Phase;
use crate::reader::{Reader, Replayed};
use crate::spill::{self, Segment, SpillError, SpillReader, SpillWriter};
use crate::status::{Hastened, Overload, Status};
use crate::stop::Stop;

/// New work is refused when memory holds this many times what it should.
const MEMORY_FACTOR: usize = 2;

/// Next work of an exporter's thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Take,
    Flush(Flush),
    /// The parked records are to be replayed.
    Replay,
    /// It was switched off, or off and on again.
    Switched,
    Stop(Stop),
}

/// When an exporter's thread is to do what can wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Until then records are left to gather.
    pub gather_until: Instant,
    /// Time of the next flush; `None`: nothing waits for a flush.
    pub flush_at: Option<Instant>,
    /// Not before then is a flush hastened for somebody who looks.
    pub hasten_at: Instant,
}

/// The files that outlive the stream beside the spill.
pub(crate) struct Kept {
    /// Exporters that are switched off: they take nothing.
    pub disabled: BTreeSet<String>,
    pub phase: Phase,
    pub lock: File,
    pub floor: FloorFile,
    /// Position of the state that the partition begins with.
    pub state: u64,
}

/// How an exporter begins.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub id: String,
    /// Position up to which it has acknowledged.
    pub acknowledged: u64,
    /// If its target is that of all replicas: the records that may be missing here.
    pub missing: Option<Missing>,
}

#[derive(Debug)]
pub(crate) struct Stream {
    pub options: StreamOptions,
    inner: Mutex<HubState>,
    writer: Mutex<SpillWriter>,
    /// Records that were parked here.
    pub own_parked: ParkedFile,
    /// Records that were parked for all replicas.
    pub shared_parked: OnceLock<Box<dyn ParkedRecords>>,
    /// The right to the directory, as long as any thread is at work.
    lock: Mutex<Option<File>>,
    /// Position up to which records do not come again.
    floor: Mutex<FloorFile>,
    /// 0 nothing is refused, 1 new work, 2 everything. Readable without the lock.
    overload: AtomicU8,
    /// The way to the records of other replicas.
    pub fetch: OnceLock<FetchRecords>,
    /// Exporters wait here for something to do.
    work: Condvar,
    /// The flusher waits here for acknowledgements, and who stops for the end of threads.
    progress: Condvar,
    /// The overflow thread waits here for memory to be full.
    overflow: Condvar,
}

impl Stream {
    /// Opens the spill.
    pub fn open(
        options: StreamOptions,
        directory: &Path,
        readers: Vec<Beginning>,
        kept: Kept,
    ) -> Result<Self, SpillError> {
        let Kept { disabled, phase, lock, floor, state } = kept;
        let segments = spill::open(directory)?;
        let lowest = floor.of(state, !segments.is_empty());
        let last = segments.back().map_or(0, |segment| segment.last);
        let next_ordinal = segments.back().map_or(0, |segment| segment.ordinal + segment.records);
        let mut inner = HubState {
            memory: VecDeque::new(),
            memory_bytes: 0,
            memory_floor: last,
            last,
            next_ordinal,
            spilled: last,
            floor: lowest,
            spill_bytes: segments.iter().map(|segment| segment.bytes).sum(),
            segments,
            readers: Vec::new(),
            phase,
            wanted: 0,
            stop: None,
            threads: 0,
        };
        for Beginning { id, acknowledged, missing } in readers {
            // Records that another replica has not acknowledged may still come from others.
            let acknowledged = if missing.is_some() { acknowledged } else { acknowledged.max(lowest) };
            let ordinal = inner.ordinal_after(acknowledged);
            let enabled = !disabled.contains(&id);
            let reader = Reader::new(id, acknowledged, ordinal, enabled);
            inner.readers.push(match missing {
                Some(missing) => reader.shared(missing),
                None => reader,
            });
        }
        let stream = Self {
            writer: Mutex::new(SpillWriter::new(directory, options.spill_segment_bytes)),
            own_parked: ParkedFile::open(directory)?,
            shared_parked: OnceLock::new(),
            options,
            inner: Mutex::new(inner),
            lock: Mutex::new(Some(lock)),
            floor: Mutex::new(floor),
            overload: AtomicU8::new(0),
            fetch: OnceLock::new(),
            work: Condvar::new(),
            progress: Condvar::new(),
            overflow: Condvar::new(),
        };
        stream.remove_acknowledged(&mut stream.writer());
        Ok(stream)
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        // No panic can happen between two changes that belong together.
        self.inner.lock()
    }

    fn writer(&self) -> MutexGuard<'_, SpillWriter> {
        self.writer.lock()
    }

    /// Takes the records of an applied batch. Those that are known already, because the log is replayed, are skipped.
    pub fn append(&self, mut records: Vec<Record>) {
        let Some(last) = records.last().map(|record| record.position) else { return };
        // Weighing, the costly part, needs no lock; only replays are weighed twice.
        let mut batch = Batch::new(std::mem::take(&mut records));
        let mut inner = self.lock();
        let known = inner.last.max(inner.acknowledged());
        let first = batch.records[0].position;
        if first <= known {
            inner.last = inner.last.max(last);
            if last <= known {
                return;
            }
            let rest = batch.records.split_off(batch.index_after(known));
            batch = Batch::new(rest);
        }
        batch.ordinal = inner.next_ordinal;
        inner.last = last;
        inner.next_ordinal += batch.records.len() as u64;
        inner.memory_bytes += batch.weight;
        inner.memory.push_back(Arc::new(batch));
        let wake = inner.readers.iter().any(|reader| reader.idle);
        let full = inner.memory_bytes > self.options.memory_bytes;
        if full {
            self.assess(&inner);
        }
        drop(inner);
        if wake {
            self.work.notify_all();
        }
        if full {
            self.overflow.notify_one();
        }
    }

    /// Begins again after a position, unless its records came already.
    pub fn skip_to(&self, position: u64, missing: Missing) {
        self.change_needs(|inner| {
            if position <= inner.last {
                return false;
            }
            inner.last = position;
            let next_ordinal = inner.next_ordinal;
            for reader in &mut inner.readers {
                if reader.is_shared {
                    reader.missing = missing;
                } else {
                    reader.skipped(position, next_ordinal);
                }
            }
            true
        });
    }

    /// Lets go of records that no exporter needs after a change, which tells whether there was one.
    fn change_needs(&self, change: impl FnOnce(&mut HubState) -> bool) {
        let mut inner = self.lock();
        if !change(&mut inner) {
            return;
        }
        let dropped = inner.trim();
        self.assess(&inner);
        drop(inner);
        self.work.notify_all();
        self.progress.notify_all();
        drop(dropped);
        self.remove_acknowledged(&mut self.writer());
    }

    /// Position up to which records have come, or were skipped.
    pub fn last(&self) -> u64 {
        let inner = self.lock();
        inner.last.max(inner.acknowledged())
    }

    /// Has an exporter hand on everything there is, without waiting for more to gather.
    pub fn hasten(&self, reader: usize) -> Hastened {
        let mut inner = self.lock();
        let position = inner.last;
        let lag = inner.backlog_of(&inner.readers[reader], now_ms());
        let is_paused = inner.phase == Phase::Paused;
        let state = &mut inner.readers[reader];
        let (is_off, is_failing) = (is_paused || !state.enabled, state.failure.is_some());
        let is_news = state.handed_on < position && state.looked_for < position;
        state.looked_for = position;
        let is_elsewhere = state.is_passive;
        drop(inner);
        if is_news && !is_off && !is_failing {
            self.work.notify_all();
        }
        Hastened { position, lag, is_off, is_failing, is_elsewhere }
    }

    /// Next work of an exporter's thread. Blocks until there is some.
    pub fn signal(&self, reader: usize, pace: Pace) -> Signal {
        let Pace { gather_until, flush_at, hasten_at } = pace;
        let mut inner = self.lock();
        loop {
            if let Some(stop) = inner.stop {
                return Signal::Stop(stop);
            }
            let now = Instant::now();
            let paused = inner.phase == Phase::Paused;
            let Reader { position, restart, looked_for, .. } = inner.readers[reader];
            let is_looked_for = inner.readers[reader].is_looked_for();
            if !inner.readers[reader].is_at_work() || restart {
                return Signal::Switched;
            }
            if inner.readers[reader].replay.is_some() {
                return Signal::Replay;
            }
            let available = !paused && position < inner.last;
            let is_crowded = inner.memory_bytes > self.options.memory_bytes / 2;
            let urgent = position < inner.wanted.max(looked_for) || is_crowded;
            let waits = paused || inner.waits_for_flush(reader);
            // Awaited records are taken as a whole first, and then flushed once.
            let is_hastened = is_looked_for && (position >= looked_for || !available);
            let flush_at = flush_at.map(|at| if is_hastened { at.min(hasten_at) } else { at });
            if flush_at.is_some_and(|at| waits || at <= now) {
                let holds_back = is_crowded && inner.is_last(reader);
                return Signal::Flush(Flush::of(waits, is_hastened, holds_back));
            }
            if available && (urgent || gather_until <= now) {
                return Signal::Take;
            }
            let until = match (available, flush_at) {
                (true, Some(at)) => Some(at.min(gather_until)),
                (true, None) => Some(gather_until),
                (false, at) => at,
            };
            inner.readers[reader].idle = !available && !paused;
            match until {
                None => self.work.wait(&mut inner),
                Some(until) => {
                    self.work.wait_for(&mut inner, until.saturating_duration_since(now));
                }
            }
            inner.readers[reader].idle = false;
        }
    }

    /// The next records for an exporter, if there are any.
    pub fn next(&self, reader: usize, spill: &mut SpillReader) -> Result<Option<Chunk>, SpillError> {
        let position = self.lock().readers[reader].position;
        // It is not removed meanwhile, because this exporter needs it.
        self.chunk_after(position, spill)
    }

    /// The next records after a position, if there are any.
    fn chunk_after(&self, position: u64, spill: &mut SpillReader) -> Result<Option<Chunk>, SpillError> {
        let segment = {
            let inner = self.lock();
            let spilled = (position < inner.memory_floor).then(|| inner.segment_after(position)).flatten();
            let Some(segment) = spilled else {
                let max = self.options.max_records_per_call;
                return Ok(inner.batch_after(position).map(|b| Chunk::of_batch(b, position, max)));
            };
            segment.clone()
        };
        spill.next(&segment, position).map(Some)
    }

    /// An exporter took a chunk. Returns whether that was all there is.
    pub fn took(&self, reader: usize, chunk: &Chunk) -> bool {
        let mut inner = self.lock();
        inner.readers[reader].took(chunk);
        inner.readers[reader].position >= inner.last
    }

    /// Where an exporter begins: up to there it has made records durable.
    pub fn begin(&self, reader: usize) -> u64 {
        self.lock().readers[reader].flushed
    }

    /// An exporter goes on after a position, up to which it has made records durable. Returns whether there is
    /// nothing for it to do.
    pub fn reopened(&self, reader: usize, position: u64) -> bool {
        let done = {
            let mut inner = self.lock();
            inner.readers[reader].reopened(position);
            position >= inner.last
        };
        self.flushed(reader, position, Flush::Usual);
        done
    }

    /// An exporter has made records up to a position durable. Returns whether that is all it took.
    pub fn flushed(&self, reader: usize, position: u64, flush: Flush) -> bool {
        let (dropped, all) = {
            let mut inner = self.lock();
            let soft = inner.phase == Phase::SoftPaused;
            let state = &mut inner.readers[reader];
            state.flushed = state.flushed.max(position.min(state.position));
            state.hand_on(flush);
            let all = state.flushed >= state.position;
            if soft {
                return all;
            }
            let flushed = state.flushed;
            state.acknowledge(flushed);
            let dropped = inner.trim();
            self.assess(&inner);
            (dropped, all)
        };
        self.progress.notify_all();
        // Freed here, not on the partition's thread.
        drop(dropped);
        if let Some(mut writer) = self.writer.try_lock() {
            self.remove_acknowledged(&mut writer);
        }
        all
    }

    /// An exporter fails, or does not any more. Returns whether it did before.
    pub fn set_failure(&self, reader: usize, failure: Option<String>) -> bool {
        let failed = std::mem::replace(&mut self.lock().readers[reader].failure, failure).is_some();
        self.progress.notify_all();
        failed
    }

    /// Waits out a pause after a failure.
    pub fn pause_after_failure(&self, pause: Duration) -> Option<Stop> {
        let until = Instant::now() + pause;
        let mut inner = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if inner.stop.is_some() || left.is_zero() {
                return inner.stop;
            }
            self.work.wait_for(&mut inner, left);
        }
    }

    fn remove_acknowledged(&self, writer: &mut SpillWriter) {
        let removed: Vec<Segment> = {
            let mut inner = self.lock();
            let acknowledged = inner.acknowledged();
            let count = inner.segments.partition_point(|segment| segment.last <= acknowledged);
            let removed: Vec<_> = inner.segments.drain(..count).collect();
            inner.spill_bytes -= removed.iter().map(|segment| segment.bytes).sum::<u64>();
            self.assess(&inner);
            removed
        };
        let Some(last) = removed.last().map(|segment| segment.last) else { return };
        if let Err(error) = self.floor.lock().removed(last) {
            // The files stay until the next start, which finds out that they are not needed.
            tracing::warn!(%error, "files of records that all exporters have cannot be removed");
            return;
        }
        for segment in &removed {
            writer.remove(segment);
        }
    }

    /// Spills everything up to a position that is not acknowledged by all.
    pub fn spill(&self, upto: u64) -> Result<(), SpillError> {
        let mut writer = self.writer();
        let result = loop {
            let (batches, from) = self.lock().unspilled(upto);
            if batches.is_empty() {
                break Ok(());
            }
            match writer.write(&batches, from) {
                Err(error) => break Err(error),
                Ok(segment) => {
                    let mut inner = self.lock();
                    inner.spilled = segment.last;
                    if inner.segments.back().is_some_and(|back| back.first == segment.first) {
                        let old = inner.segments.pop_back();
                        inner.spill_bytes -= old.map_or(0, |old| old.bytes);
                    }
                    inner.spill_bytes += segment.bytes;
                    inner.segments.push_back(segment);
                    self.assess(&inner);
                }
            }
        };
        self.remove_acknowledged(&mut writer);
        result
    }

    /// Blocks until memory is full, then spills it down to half. `None` when it is time to stop.
    pub fn relieve(&self) -> Option<Result<(), SpillError>> {
        let upto = {
            let mut inner = self.lock();
            loop {
                if inner.stop.is_some() {
                    return None;
                }
                if inner.memory_bytes > self.options.memory_bytes {
                    break;
                }
                self.overflow.wait(&mut inner);
            }
            let target = self.options.memory_bytes / 2;
            let mut bytes = inner.memory_bytes;
            let enough = inner.memory.iter().find(|batch| {
                bytes -= batch.weight;
                bytes <= target
            });
            enough.map_or(inner.last, |batch| batch.last())
        };
        let spilled = self.spill(upto);
        let dropped = {
            let mut inner = self.lock();
            let dropped = inner.drop_spilled(self.options.memory_bytes / 2);
            self.assess(&inner);
            dropped
        };
        drop(dropped);
        Some(spilled)
    }

    fn assess(&self, inner: &HubState) {
        let limit = self.options.spill_max_bytes;
        let memory_full = inner.memory_bytes > self.options.memory_bytes.saturating_mul(MEMORY_FACTOR);
        let level = if inner.spill_bytes > limit.saturating_add(limit / 4)
            || inner.memory_bytes > self.options.memory_bytes.saturating_mul(2 * MEMORY_FACTOR)
        {
            2
        } else {
            u8::from(inner.spill_bytes > limit || memory_full)
        };
        self.overload.store(level, Ordering::Relaxed);
    }

    /// Whether work must be refused, and why.
    pub fn overload(&self) -> Option<Overload> {
        let level = self.overload.load(Ordering::Relaxed);
        if level == 0 {
            return None;
        }
        let inner = self.lock();
        let enabled = inner.readers.iter().filter(|reader| reader.enabled);
        let slowest = enabled.min_by_key(|reader| reader.acknowledged)?;
        let status = inner.status_of(slowest, now_ms());
        let reason = format!(
            "exporter '{}' is {} records behind: {} bytes of them are on disk (limit {}) and {} in memory (limit {})",
            status.id,
            status.backlog_records,
            inner.spill_bytes,
            self.options.spill_max_bytes,
            inner.memory_bytes,
            self.options.memory_bytes.saturating_mul(MEMORY_FACTOR),
        );
        Some(Overload { everything: level > 1, reason })
    }

    pub fn status(&self) -> Status {
        let now_ms = now_ms();
        let inner = self.lock();
        Status {
            phase: inner.phase,
            exporters: inner.readers.iter().map(|reader| inner.status_of(reader, now_ms)).collect(),
            acknowledged_position: inner.acknowledged(),
            memory_bytes: inner.memory_bytes,
            spill_bytes: inner.spill_bytes,
        }
    }

    /// Asks an exporter to replay its parked records; who asked before is not told any more.
    pub fn ask_for_replay(&self, reader: usize, answer: SyncSender<Replayed>) {
        self.lock().readers[reader].replay = Some(answer);
        self.work.notify_all();
    }

    pub fn take_replay(&self, reader: usize) -> Option<SyncSender<Replayed>> {
        self.lock().readers[reader].replay.take()
    }

    /// Number of an exporter.
    pub fn reader(&self, id: &str) -> Option<usize> {
        self.lock().readers.iter().position(|reader| reader.id == id)
    }

    /// Asks all threads to end.
    pub fn stop(&self, stop: Stop) {
        self.lock().stop = Some(stop);
        self.work.notify_all();
        self.overflow.notify_all();
        self.progress.notify_all();
    }

    /// Gives the directory back.
    pub fn unlock(&self) {
        self.lock.lock().take();
    }

    /// A thread has begun.
    pub fn thread_began(&self) {
        self.lock().threads += 1;
    }

    /// A thread has ended.
    pub fn thread_ended(&self) {
        self.lock().threads -= 1;
        self.progress.notify_all();
    }

    /// Waits until every thread has ended. False if they did not in time.
    pub fn await_end(&self, timeout: Duration) -> bool {
        let mut inner = self.lock();
        self.progress.wait_while_for(&mut inner, |inner| inner.threads > 0, timeout);
        inner.threads == 0
    }
}

mod durable;
mod shared;
mod switching;

pub(crate) use shared::FetchRecords;
pub use shared::RecordsAfter;

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
