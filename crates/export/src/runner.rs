//! The thread of one exporter.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use planted::Bug;

use crate::exporter::{ExportError, Exporter, Flush};
use crate::metric_definitions::ExporterMetrics;
use crate::refusal::Refusals;
use crate::spill::SpillReader;
use crate::stop::Stop;
use crate::stream::{Pace, Signal, Stream};

/// How often in a row an exporter may ask for records again at once.
const CLOSER_MAX: u32 = 100;

/// A hastened flush comes no sooner than this many times what the last flush took, so that those who look all the time
/// leave most of the exporter's time to records.
const HASTEN_PAUSE: u32 = 4;

pub(crate) struct Runner {
    exporter: Box<dyn Exporter>,
    pub id: String,
    stream: Arc<Stream>,
    /// Number of the exporter in the stream.
    reader: usize,
    metrics: ExporterMetrics,
    spill: SpillReader,
    refusals: Refusals,
    /// How often in a row it asked for records again at once.
    closer: u32,
}

/// Why a session came to its end without an error.
enum End {
    Stopped,
    Switched,
}

impl Runner {
    pub fn new(
        exporter: Box<dyn Exporter>,
        id: String,
        stream: Arc<Stream>,
        reader: usize,
        metrics: ExporterMetrics,
    ) -> Self {
        let refusals = Refusals::new(stream.options.park_after);
        Self { exporter, id, stream, reader, metrics, spill: SpillReader::default(), refusals, closer: 0 }
    }

    /// Runs until the stream stops. A failing exporter is retried.
    pub fn run(mut self) {
        let mut pause = self.stream.options.retry_min;
        while self.stream.await_enabled(self.reader) {
            let outcome = catch_unwind(AssertUnwindSafe(|| self.session(&mut pause)));
            let error = match outcome {
                Ok(Ok(End::Stopped)) => return,
                Ok(Ok(End::Switched)) => {
                    self.works(&mut pause);
                    continue;
                }
                // The next leader exports already; what this one had taken comes again there.
                Ok(Err(_)) | Err(_) if self.stream.is_passive(self.reader) => continue,
                Ok(Err(ExportError::Closer(_))) if self.closer < CLOSER_MAX => {
                    self.closer += 1;
                    continue;
                }
                Ok(Err(error)) => {
                    self.refusals.failed(&error);
                    error.to_string()
                }
                Err(panic) => format!("panic: {}", message(&*panic)),
            };
            self.metrics.failures.increment(1);
            if !self.stream.set_failure(self.reader, Some(error.clone())) {
                tracing::error!(
                    exporter = self.id,
                    error,
                    "exporting failed; it is tried again until it works"
                );
            }
            if self.stream.pause_after_failure(pause).is_some() {
                return;
            }
            pause = (pause * 2).min(self.stream.options.retry_max);
        }
    }

    /// From opening the exporter to its first failure, or the end.
    fn session(&mut self, pause: &mut Duration) -> Result<End, ExportError> {
        let position = self.open()?;
        if self.stream.reopened(self.reader, position) {
            self.works(pause);
        }
        let mut gather_until = Instant::now();
        let mut flush_at = None;
        // Records after a pause are flushed soon, a steady flow in bulk.
        let mut next_flush = gather_until;
        let mut hasten_at = gather_until;
        let mut unflushed_bytes = 0;
        loop {
            match self.stream.signal(self.reader, Pace { gather_until, flush_at, hasten_at }) {
                Signal::Stop(Stop::Flush) if flush_at.is_some() => {
                    self.flush(Flush::Whole)?;
                    return Ok(End::Stopped);
                }
                Signal::Stop(_) => return Ok(End::Stopped),
                Signal::Switched => {
                    if flush_at.is_some() && !self.stream.is_passive(self.reader) {
                        self.flush(Flush::Whole)?;
                    }
                    return Ok(End::Switched);
                }
                Signal::Replay => {
                    self.flush(Flush::Whole)?;
                    self.works(pause);
                    self.replay()?;
                }
                Signal::Take => {
                    let Some(chunk) = self.stream.next(self.reader, &mut self.spill)? else {
                        gather_until = Instant::now() + self.stream.options.gather_interval;
                        continue;
                    };
                    let parked = self.stream.parked(self.reader);
                    if !planted::has(Bug::ExportsNothing) {
                        self.refusals.export(chunk.records(), &mut *self.exporter, &self.id, parked)?;
                    }
                    self.metrics.exported(&chunk);
                    unflushed_bytes += chunk.weight;
                    let now = Instant::now();
                    flush_at.get_or_insert(next_flush.max(now + self.stream.options.gather_interval));
                    if self.stream.took(self.reader, &chunk) {
                        gather_until = now + self.stream.options.gather_interval;
                    }
                    if unflushed_bytes >= self.stream.options.flush_bytes {
                        flush_at = Some(now);
                    }
                }
                Signal::Flush(flush) => {
                    unflushed_bytes = 0;
                    let began = Instant::now();
                    next_flush = began + self.stream.options.flush_interval;
                    let done = self.flush(flush)?;
                    let rest = began.elapsed() * HASTEN_PAUSE;
                    hasten_at = Instant::now() + rest.min(self.stream.options.hasten_interval);
                    self.works(pause);
                    flush_at = (!done).then_some(next_flush);
                }
            }
        }
    }

    /// Returns the position after which the exporter goes on.
    fn open(&mut self) -> Result<u64, ExportError> {
        self.spill.reset();
        let begin = self.stream.begin(self.reader);
        let skipped = if planted::has(Bug::SkippedRecords) { 3 } else { 0 };
        let position = self.exporter.open(begin)?.max(begin) + skipped;
        self.stream.share_parked(self.reader, &self.id)?;
        self.refusals.begins(position, self.stream.parked(self.reader).positions(&self.id)?);
        match self.stream.missing(self.reader, position) {
            Some(missing) => self.export_missing(position, missing),
            None => Ok(position),
        }
    }

    /// Exports records that only other replicas have. Returns the position up to which everything is durable.
    fn export_missing(&mut self, mut position: u64, upto: u64) -> Result<u64, ExportError> {
        tracing::info!(exporter = self.id, position, upto, "records are fetched from another broker");
        let mut taken = position;
        while position < upto && !self.stream.is_passive(self.reader) {
            let fetched = self.stream.fetch(position, upto)?;
            if let Some(last) = fetched.records.last() {
                taken = last.position;
                let exporter = &mut *self.exporter;
                let parked = self.stream.parked(self.reader);
                self.refusals.export(&fetched.records, exporter, &self.id, parked)?;
            }
            position = fetched.upto;
        }
        let flushed = self.flush_exporter(Flush::Whole)?;
        if flushed < taken {
            return Err(ExportError::Target(format!(
                "of the records up to {taken}, those up to {flushed} are stored"
            )));
        }
        Ok(position)
    }

    /// Returns whether everything that was taken is durable.
    fn flush(&mut self, flush: Flush) -> Result<bool, ExportError> {
        let position = self.flush_exporter(flush)?;
        Ok(self.stream.flushed(self.reader, position, flush))
    }

    /// Returns up to where nothing is missing in the target but what is parked.
    fn flush_exporter(&mut self, flush: Flush) -> Result<u64, ExportError> {
        let flushed = self.exporter.flush(flush)?;
        Ok(self.refusals.flushed(flushed))
    }

    /// Tries the parked records again, for whoever asked.
    fn replay(&mut self) -> Result<(), ExportError> {
        let Some(answer) = self.stream.take_replay(self.reader) else { return Ok(()) };
        let parked = self.stream.parked(self.reader);
        let replayed = self.refusals.replay(&mut *self.exporter, &self.id, parked)?;
        tracing::info!(
            exporter = self.id,
            replayed = replayed.replayed,
            refused = replayed.refused,
            "parked records were replayed"
        );
        // The requester may have been cancelled.
        let _ = answer.try_send(replayed);
        Ok(())
    }

    fn works(&mut self, pause: &mut Duration) {
        *pause = self.stream.options.retry_min;
        self.closer = 0;
        if self.stream.set_failure(self.reader, None) {
            tracing::info!(exporter = self.id, "exporting works again");
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
