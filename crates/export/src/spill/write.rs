//! Appending to segments.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::frame::{self, MAGIC};
use super::{Segment, SpillError, segment_path};
use crate::batch::Batch;
use crate::directory;

/// The only one who writes segments.
#[derive(Debug)]
pub(crate) struct SpillWriter {
    directory: PathBuf,
    segment_bytes: u64,
    active: Option<Active>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Active {
    file: File,
    segment: Segment,
}

impl SpillWriter {
    pub fn new(directory: &Path, segment_bytes: u64) -> Self {
        Self { directory: directory.to_owned(), segment_bytes, active: None, buffer: Vec::new() }
    }

    /// Writes and syncs the records of consecutive batches after a position; there must be some. Returns the
    /// segment that holds them now: a new one, or the last one, grown. After an error nothing of them counts.
    pub fn write(&mut self, batches: &[Arc<Batch>], position: u64) -> Result<Segment, SpillError> {
        let from = batches[0].index_after(position);
        let (first, ordinal) = (batches[0].records[from].position, batches[0].ordinal + from as u64);
        let full = |active: &Active| {
            active.segment.bytes >= self.segment_bytes
                || active.segment.ordinal + active.segment.records != ordinal
        };
        let mut active = match self.active.take() {
            Some(active) if !full(&active) => active,
            _ => self.create(first, ordinal, batches[0].appended_ms)?,
        };
        self.buffer.clear();
        let mut records = 0;
        for batch in batches {
            let after = &batch.records[batch.index_after(position)..];
            records += after.len() as u64;
            frame::write(after, batch.appended_ms, &mut self.buffer);
        }
        let written = active.file.write_all(&self.buffer).and_then(|()| active.file.sync_data());
        let bytes = self.buffer.len() as u64;
        // A large batch must not leave a large buffer behind.
        self.buffer.shrink_to(BUFFER_BYTES);
        if let Err(source) = written {
            let path = active.segment.path.to_path_buf();
            discard(&active);
            return Err(SpillError::File { path, source });
        }
        active.segment.bytes += bytes;
        active.segment.records += records;
        active.segment.last = batches.last().map_or(first, |batch| batch.last());
        let segment = active.segment.clone();
        self.active = Some(active);
        Ok(segment)
    }

    fn create(&self, first: u64, ordinal: u64, oldest_ms: u64) -> Result<Active, SpillError> {
        let path = segment_path(&self.directory, first);
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).open(&path).map_err(SpillError::file(&path))?;
        let made = file.write_all(MAGIC).map_err(SpillError::file(&path));
        if let Err(error) =
            made.and_then(|()| directory::sync(&self.directory).map_err(SpillError::file(&self.directory)))
        {
            // An empty file would be removed at the next start.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        let path = Arc::from(path);
        let bytes = MAGIC.len() as u64;
        Ok(Active { file, segment: Segment { path, first, last: 0, bytes, records: 0, ordinal, oldest_ms } })
    }

    /// Removes a segment that nobody needs.
    pub fn remove(&mut self, segment: &Segment) {
        if self.active.as_ref().is_some_and(|active| active.segment.first == segment.first) {
            self.active = None;
        }
        if let Err(error) = std::fs::remove_file(&segment.path) {
            // It is removed after the next start.
            tracing::warn!(path = %segment.path.display(), %error, "a spill of records cannot be removed");
        }
    }
}

/// Kept between two writes.
const BUFFER_BYTES: usize = 64 * 1024;

/// Takes a segment that failed back to what is known to be durable. If that fails too, the next start does it.
fn discard(active: &Active) {
    if active.segment.records == 0 {
        let _ = std::fs::remove_file(&active.segment.path);
    } else {
        let _ = active.file.set_len(active.segment.bytes);
    }
}
