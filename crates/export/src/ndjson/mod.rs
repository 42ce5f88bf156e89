//! The exporter to files of newline-delimited JSON: one record per line, in the shape of the reference's exported
//! records.
//!
//! The file being written is `partition-<n>.ndjson`, so that `tail -F` can follow it. At its full size it is renamed to
//! `partition-<n>-<position of its first record>.ndjson`; names sort by age. Restarts go on after the last whole line.

mod files;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use protocol::{PartitionId, Record};

use crate::exporter::{ExportError, Exporter, Flush};
use crate::line::write_line;
use files::Files;

/// The exporter to files of newline-delimited JSON.
#[derive(Debug, Clone)]
pub struct NdjsonOptions {
    /// Whether there is one.
    pub enabled: bool,
    /// Directory of the files; by default `export/ndjson` in the data directory.
    pub directory: Option<PathBuf>,
    /// Size at which the file is renamed and the next one begun, in bytes.
    pub max_file_bytes: u64,
    /// Finished files that are kept, the latest ones; 0 keeps all.
    pub max_files: usize,
}

impl Default for NdjsonOptions {
    fn default() -> Self {
        Self { enabled: false, directory: None, max_file_bytes: 64 * 1024 * 1024, max_files: 16 }
    }
}

/// The ID of this exporter.
pub(crate) const ID: &str = "ndjson";
/// Lines are written when this many bytes have gathered, or at a flush.
const BUFFER_BYTES: usize = 256 * 1024;

/// Writes records to files.
pub struct NdjsonExporter {
    files: Files,
    max_file_bytes: u64,
    max_files: usize,
    active: Option<Active>,
    buffer: Vec<u8>,
    /// Position of the last record in the files and the buffer.
    last: u64,
    /// Position up to which records are durable.
    durable: u64,
}

struct Active {
    file: File,
    /// Position of the first record in it.
    first: Option<u64>,
    /// Bytes in the file and in the buffer.
    bytes: u64,
}

impl NdjsonExporter {
    /// An exporter for one partition. Files are touched when it is opened.
    pub fn new(directory: &Path, partition: PartitionId, options: &NdjsonOptions) -> Self {
        Self {
            files: Files::new(directory, partition),
            max_file_bytes: options.max_file_bytes,
            max_files: options.max_files,
            active: None,
            buffer: Vec::new(),
            last: 0,
            durable: 0,
        }
    }

    fn active(&mut self) -> Result<&mut Active, ExportError> {
        match &mut self.active {
            Some(active) => Ok(active),
            empty => Ok(empty.insert(Active { file: self.files.create()?, first: None, bytes: 0 })),
        }
    }

    /// Adds the line of a record to the buffer.
    fn append(&mut self, record: &Record) -> Result<(), ExportError> {
        let from = self.buffer.len();
        write_line(record, &mut self.buffer)?;
        self.buffer.push(b'\n');
        let bytes = (self.buffer.len() - from) as u64;
        let active = self.active()?;
        active.first.get_or_insert(record.position);
        active.bytes += bytes;
        Ok(())
    }

    fn write(&mut self) -> Result<(), ExportError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let path = self.files.active_path();
        let Some(active) = &mut self.active else { return Ok(()) };
        active.file.write_all(&self.buffer).map_err(ExportError::file(&path))?;
        self.buffer.clear();
        self.buffer.shrink_to(2 * BUFFER_BYTES);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), ExportError> {
        self.write()?;
        if let Some(active) = &self.active
            && self.durable < self.last
        {
            active.file.sync_data().map_err(ExportError::file(&self.files.active_path()))?;
        }
        self.durable = self.last;
        Ok(())
    }

    /// Gives the full file its lasting name and removes the oldest ones.
    fn rotate(&mut self) -> Result<(), ExportError> {
        self.sync()?;
        if let Some(Active { first: Some(first), .. }) = self.active {
            self.files.finish(first)?;
            self.active = None;
            self.files.keep_latest(self.max_files)?;
        }
        Ok(())
    }
}

impl Exporter for NdjsonExporter {
    fn id(&self) -> &str {
        ID
    }

    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError> {
        self.buffer.clear();
        let found = self.files.open()?;
        self.active = found.active.map(|(file, bytes)| Active { file, first: found.first, bytes });
        if found.last < acknowledged && self.files.exist() {
            tracing::warn!(
                directory = %self.files.directory().display(),
                found = found.last,
                acknowledged,
                "files end before the last record that was exported to them"
            );
        }
        self.last = found.last.max(acknowledged);
        self.durable = self.last;
        Ok(self.last)
    }

    fn export(&mut self, records: &[Record]) -> Result<(), ExportError> {
        for record in &records[records.partition_point(|record| record.position <= self.last)..] {
            if record.value.value_type().is_for_others() {
                self.append(record)?;
            }
            self.last = record.position;
            if self.active()?.bytes >= self.max_file_bytes {
                self.rotate()?;
            } else if self.buffer.len() >= BUFFER_BYTES {
                self.write()?;
            }
        }
        Ok(())
    }

    fn replay(&mut self, record: &Record) -> Result<(), ExportError> {
        self.append(record)?;
        self.write()?;
        let path = self.files.active_path();
        self.active()?.file.sync_data().map_err(ExportError::file(&path))
    }

    fn flush(&mut self, _: Flush) -> Result<u64, ExportError> {
        self.sync()?;
        Ok(self.durable)
    }
}
