//! The thread of one exporter.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::exporter::{ExportError, Exporter};
use crate::metric_definitions::ExporterMetrics;
use crate::spill::SpillReader;
use crate::stream::{Signal, Stop, Stream};

pub(crate) struct Runner {
    pub exporter: Box<dyn Exporter>,
    pub id: String,
    pub stream: Arc<Stream>,
    /// Number of the exporter in the stream.
    pub reader: usize,
    pub metrics: ExporterMetrics,
    pub spill: SpillReader,
}

impl Runner {
    /// Runs until the stream stops. Whatever the exporter does, it is tried again.
    pub fn run(mut self) {
        let mut pause = self.stream.options.retry_min;
        loop {
            let outcome = catch_unwind(AssertUnwindSafe(|| self.session(&mut pause)));
            let error = match outcome {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error.to_string(),
                Err(panic) => format!("panic: {}", message(&*panic)),
            };
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
    fn session(&mut self, pause: &mut Duration) -> Result<(), ExportError> {
        self.spill.reset();
        let begin = self.stream.begin(self.reader);
        let position = self.exporter.open(begin)?.max(begin);
        if self.stream.reopened(self.reader, position) {
            self.works(pause);
        }
        let mut gather_until = Instant::now();
        let mut flush_at = None;
        let mut unflushed_bytes = 0;
        loop {
            match self.stream.signal(self.reader, gather_until, flush_at) {
                Signal::Stop(Stop::Flush) if flush_at.is_some() => {
                    self.flush()?;
                    return Ok(());
                }
                Signal::Stop(_) => return Ok(()),
                Signal::Take => {
                    let Some(chunk) = self.stream.next(self.reader, &mut self.spill)? else {
                        gather_until = Instant::now() + self.stream.options.gather_interval;
                        continue;
                    };
                    self.exporter.export(chunk.records())?;
                    self.metrics.exported(&chunk);
                    unflushed_bytes += chunk.weight;
                    let now = Instant::now();
                    flush_at.get_or_insert(now + self.stream.options.flush_interval);
                    if self.stream.took(self.reader, &chunk) {
                        gather_until = now + self.stream.options.gather_interval;
                    }
                    if unflushed_bytes >= self.stream.options.flush_bytes {
                        flush_at = Some(now);
                    }
                }
                Signal::Flush => {
                    unflushed_bytes = 0;
                    let done = self.flush()?;
                    self.works(pause);
                    flush_at = (!done).then(|| Instant::now() + self.stream.options.flush_interval);
                }
            }
        }
    }

    /// Returns whether everything that was taken is durable.
    fn flush(&mut self) -> Result<bool, ExportError> {
        let position = self.exporter.flush()?;
        Ok(self.stream.flushed(self.reader, position))
    }

    fn works(&self, pause: &mut Duration) {
        *pause = self.stream.options.retry_min;
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
