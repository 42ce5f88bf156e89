//! The files of newline-delimited JSON: names, rotation, and what the last run left.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use protocol::PartitionId;

use crate::directory;
use crate::exporter::ExportError;

/// The ending of the files.
const EXTENSION: &str = "ndjson";

pub(super) struct Files {
    directory: PathBuf,
    stem: String,
}

/// Files of the last run.
pub(super) struct Found {
    /// The file that is written, to be appended to, and its length.
    pub active: Option<(File, u64)>,
    /// Position of the first record in it.
    pub first: Option<u64>,
    /// Position of the last record in all files; 0 if there is none.
    pub last: u64,
}

/// Parsed part of a line.
#[derive(serde::Deserialize)]
struct Line {
    position: u64,
}

impl Files {
    pub fn new(directory: &Path, partition: PartitionId) -> Self {
        Self { directory: directory.to_owned(), stem: format!("partition-{partition}") }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn active_path(&self) -> PathBuf {
        self.directory.join(format!("{}.{EXTENSION}", self.stem))
    }

    /// Whether there is any file.
    pub fn exist(&self) -> bool {
        self.active_path().exists() || self.finished().is_ok_and(|finished| !finished.is_empty())
    }

    /// Makes the directory, and finds the end of what is there. A torn line is cut off.
    pub fn open(&self) -> Result<Found, ExportError> {
        directory::create(&self.directory).map_err(ExportError::file(&self.directory))?;
        let finished = match self.finished()?.last() {
            Some(path) => last_position(path)?,
            None => 0,
        };
        let path = self.active_path();
        let mut file = match OpenOptions::new().read(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Found { active: None, first: None, last: finished });
            }
            Err(error) => return Err(ExportError::file(&path)(error)),
        };
        let whole = scan(&file, finished, &path)?;
        let length = file.metadata().map_err(ExportError::file(&path))?.len();
        if whole.bytes < length {
            let bytes = length - whole.bytes;
            tracing::info!(path = %path.display(), bytes, "cut off an incomplete line");
            file.set_len(whole.bytes).map_err(ExportError::file(&path))?;
        }
        // The files may not be durable yet.
        file.sync_all().map_err(ExportError::file(&path))?;
        file.seek(SeekFrom::End(0)).map_err(ExportError::file(&path))?;
        Ok(Found { active: Some((file, whole.bytes)), first: whole.first, last: whole.last })
    }

    /// Makes the file that is written.
    pub fn create(&self) -> Result<File, ExportError> {
        let path = self.active_path();
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(&path).map_err(ExportError::file(&path))?;
        self.sync_directory()?;
        Ok(file)
    }

    /// Gives the file that is written its lasting name. It must be synced.
    pub fn finish(&self, first: u64) -> Result<(), ExportError> {
        let path = self.directory.join(format!("{}-{first:020}.{EXTENSION}", self.stem));
        std::fs::rename(self.active_path(), &path).map_err(ExportError::file(&path))?;
        self.sync_directory()
    }

    /// Removes all finished files but the latest; 0 keeps all.
    pub fn keep_latest(&self, count: usize) -> Result<(), ExportError> {
        if count == 0 {
            return Ok(());
        }
        let finished = self.finished()?;
        for path in &finished[..finished.len().saturating_sub(count)] {
            std::fs::remove_file(path).map_err(ExportError::file(path))?;
        }
        Ok(())
    }

    /// Finished files, oldest first.
    pub fn finished(&self) -> Result<Vec<PathBuf>, ExportError> {
        let failed = || ExportError::file(&self.directory);
        let mut finished = Vec::new();
        for entry in std::fs::read_dir(&self.directory).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let first = name.strip_prefix(&self.stem).and_then(|rest| rest.strip_prefix('-'));
            let is_position = first.is_some_and(|first| first.parse::<u64>().is_ok());
            if is_position && path.extension().is_some_and(|extension| extension == EXTENSION) {
                finished.push(path);
            }
        }
        finished.sort_unstable();
        Ok(finished)
    }

    fn sync_directory(&self) -> Result<(), ExportError> {
        directory::sync(&self.directory).map_err(ExportError::file(&self.directory))
    }
}

/// The part of a file that is whole.
struct Whole {
    bytes: u64,
    first: Option<u64>,
    last: u64,
}

/// Reads lines as long as they are whole records with growing positions.
fn scan(file: &File, after: u64, path: &Path) -> Result<Whole, ExportError> {
    let mut whole = Whole { bytes: 0, first: None, last: after };
    let mut reader = BufReader::with_capacity(256 * 1024, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line).map_err(ExportError::file(path))?;
        if line.last() != Some(&b'\n') {
            return Ok(whole);
        }
        match serde_json::from_slice::<Line>(&line) {
            Ok(Line { position }) if position > whole.last => {
                whole.bytes += bytes as u64;
                whole.first.get_or_insert(position);
                whole.last = position;
            }
            _ => return Ok(whole),
        }
    }
}

/// Position of the last record of a finished file.
fn last_position(path: &Path) -> Result<u64, ExportError> {
    let file = File::open(path).map_err(ExportError::file(path))?;
    Ok(scan(&file, 0, path)?.last)
}
