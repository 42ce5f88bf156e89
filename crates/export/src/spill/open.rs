//! Finding the segments that the last run left.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::frame::{self, HEADER_BYTES, Header, MAGIC};
use super::{EXTENSION, Segment, SpillError};
use crate::directory;

/// Opens the directory, cuts off what was not written to its end, and lists the segments, oldest first.
///
/// Everything but the end of the last segment was synced before the next began, so only the last is read
/// through; of the others the headers are.
pub(crate) fn open(directory: &Path) -> Result<VecDeque<Segment>, SpillError> {
    directory::create(directory).map_err(SpillError::file(directory))?;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(SpillError::file(directory))? {
        let path = entry.map_err(SpillError::file(directory))?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse::<u64>().ok());
        if let (Some(first), true) = (name, path.extension().is_some_and(|e| e == EXTENSION)) {
            files.push((first, path));
        }
    }
    files.sort_unstable();
    let mut segments = VecDeque::<Segment>::new();
    let count = files.len();
    for (number, (_, path)) in files.into_iter().enumerate() {
        let is_last = number + 1 == count;
        let after = segments.back().map_or(0, |segment| segment.last);
        let ordinal = segments.back().map_or(0, |segment| segment.ordinal + segment.records);
        match scan(&path, after, ordinal, is_last)? {
            Some(segment) => segments.push_back(segment),
            None => std::fs::remove_file(&path).map_err(SpillError::file(&path))?,
        }
    }
    directory::sync(directory).map_err(SpillError::file(directory))?;
    Ok(segments)
}

/// Reads one file as far as it is valid, and cuts off the rest. `None` if there is nothing in it.
fn scan(path: &Path, after: u64, ordinal: u64, is_last: bool) -> Result<Option<Segment>, SpillError> {
    let failed = || SpillError::file(path);
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed())?;
    let length = file.metadata().map_err(failed())?.len();
    let mut magic = [0; MAGIC.len()];
    if length < magic.len() as u64 {
        return Ok(None);
    }
    file.read_exact_at(&mut magic, 0).map_err(failed())?;
    if &magic != MAGIC {
        let came = magic.iter().zip(MAGIC).take_while(|(found, wanted)| found == wanted).count();
        if is_last && magic[came..].iter().all(|byte| *byte == 0) {
            // The file was made, but nothing of it reached the disk whole.
            return Ok(None);
        }
        return Err(SpillError::Damaged { path: path.to_owned(), offset: 0 });
    }
    let mut segment = Segment {
        path: Arc::from(path),
        first: 0,
        last: after,
        bytes: magic.len() as u64,
        records: 0,
        ordinal,
        oldest_ms: 0,
    };
    let mut payload = Vec::new();
    while segment.bytes < length {
        let Some(header) = frame_at(&file, segment.bytes, length, is_last.then_some(&mut payload), path)?
        else {
            break;
        };
        if header.first <= segment.last {
            break;
        }
        if segment.records == 0 {
            (segment.first, segment.oldest_ms) = (header.first, header.appended_ms);
        }
        segment.last = header.last;
        segment.bytes += header.frame_bytes();
        segment.records += u64::from(header.count);
    }
    if segment.bytes < length {
        let lost = length - segment.bytes;
        if is_last {
            tracing::info!(path = %path.display(), bytes = lost, "cut off an incomplete spill");
        } else {
            tracing::warn!(path = %path.display(), bytes = lost, "cut off the damaged end of a spill of records");
        }
        file.set_len(segment.bytes).map_err(failed())?;
    }
    if is_last {
        // The bytes read here may not be durable yet.
        file.sync_all().map_err(failed())?;
    }
    Ok((segment.records > 0).then_some(segment))
}

/// The header of an entire frame, whose payload is checked too if there is a buffer for it.
fn frame_at(
    file: &File,
    offset: u64,
    length: u64,
    payload: Option<&mut Vec<u8>>,
    path: &Path,
) -> Result<Option<Header>, SpillError> {
    let mut bytes = [0; HEADER_BYTES];
    if offset + HEADER_BYTES as u64 > length {
        return Ok(None);
    }
    file.read_exact_at(&mut bytes, offset).map_err(SpillError::file(path))?;
    let Some(header) = Header::read(&bytes).filter(|header| offset + header.frame_bytes() <= length) else {
        return Ok(None);
    };
    if let Some(payload) = payload {
        payload.resize(header.payload_bytes as usize, 0);
        file.read_exact_at(payload, offset + HEADER_BYTES as u64).map_err(SpillError::file(path))?;
        if !frame::is_intact(&bytes, payload) {
            return Ok(None);
        }
    }
    Ok(Some(header))
}
