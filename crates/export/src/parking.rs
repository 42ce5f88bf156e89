//! Records that an exporter's target refuses for good: set aside durably, so that the exporter goes on, until somebody
//! has them replayed.
//!
//! A record that the target of all replicas refuses is kept where all replicas have it ([`ParkedRecords`]). The others
//! are in one file for each partition: entries one after the other, each its length (u32), the XXH3 of its payload
//! (u64), both little-endian, and the payload in CBOR. An entry is synced before the exporter passes over its record,
//! and passes over it again after a crash for as long as the entry is there.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use protocol::Record;
use xxhash_rust::xxh3::xxh3_64;

use crate::directory;
use crate::exporter::ExportError;
use crate::spill::SpillError;

/// How the file begins; the last character is the version of the format.
const MAGIC: &[u8; 8] = b"BATPARK1";
/// Bytes before the payload of an entry.
const HEADER_BYTES: usize = 12;
/// Records that are parked at the most; then the exporter waits for its target, as if it were away.
const PARKED_MAX: usize = 1000;
/// Bytes of the file at the most.
const PARKED_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// A record that an exporter's target refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Parked {
    /// ID of the exporter.
    pub exporter: String,
    /// Why it was refused.
    pub reason: String,
    /// When it was parked, Unix milliseconds.
    pub parked_ms: u64,
    /// The record.
    pub record: Record,
}

/// Parked records of exporters. Everything may block.
pub trait ParkedRecords: fmt::Debug + Send + Sync {
    /// Positions that an exporter passes over.
    fn positions(&self, exporter: &str) -> Result<BTreeSet<u64>, ExportError>;

    /// How many records of an exporter are parked.
    fn count(&self, exporter: &str) -> u64;

    /// The parked records of an exporter, in an order of its own that is always the same.
    fn list(&self, exporter: &str) -> Result<Vec<Parked>, ExportError>;

    /// Parks a record; it is durable when this returns. One that is parked already may stay as it is.
    fn park(&self, parked: Parked) -> Result<(), ExportError>;

    /// Forgets records of an exporter, because its target has them now.
    fn remove(&self, exporter: &str, positions: &BTreeSet<u64>) -> Result<(), ExportError>;
}

/// The parked records of a partition that are this replica's alone.
#[derive(Debug)]
pub(crate) struct ParkedFile {
    path: PathBuf,
    inner: Mutex<ParkingState>,
}

#[derive(Debug)]
struct ParkingState {
    /// Made with the first entry.
    file: Option<File>,
    bytes: u64,
    /// In the order of the file.
    parked: Vec<Parked>,
}

impl ParkingState {
    fn of(&self, exporter: &str) -> impl Iterator<Item = &Parked> {
        self.parked.iter().filter(move |one| one.exporter == exporter)
    }
}

impl ParkedFile {
    /// Reads what is parked in a directory; what was not written to its end does not count.
    pub fn open(directory: &Path) -> Result<Self, SpillError> {
        let path = directory.join("parked");
        let content = match std::fs::read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(SpillError::File { path, source }),
        };
        let mut inner = ParkingState { file: None, bytes: 0, parked: Vec::new() };
        if content.len() >= MAGIC.len() {
            if !content.starts_with(MAGIC) {
                return Err(SpillError::Damaged { path, offset: 0 });
            }
            let mut at = MAGIC.len();
            while let Some((parked, bytes)) = entry(&content[at..]) {
                inner.parked.push(parked);
                at += bytes;
            }
            if at < content.len() {
                tracing::warn!(path = %path.display(), bytes = content.len() - at, "cut off the end of the parked records");
            }
            let file = OpenOptions::new().write(true).open(&path).map_err(SpillError::file(&path))?;
            let cut = file.set_len(at as u64).and_then(|()| file.sync_all());
            cut.map_err(SpillError::file(&path))?;
            (inner.file, inner.bytes) = (Some(file), at as u64);
        }
        Ok(Self { path, inner: Mutex::new(inner) })
    }

    fn lock(&self) -> MutexGuard<'_, ParkingState> {
        self.inner.lock()
    }

    /// Writes the file anew. Returns it with its length.
    fn create(&self, parked: &[Parked]) -> Result<(File, u64), Error> {
        let mut content = MAGIC.to_vec();
        for one in parked {
            write(one, &mut content);
        }
        let scratch = self.path.with_extension("new");
        let mut file = File::create(&scratch)?;
        file.write_all(&content)?;
        file.sync_all()?;
        std::fs::rename(&scratch, &self.path)?;
        self.path.parent().map_or(Ok(()), directory::sync)?;
        Ok((file, content.len() as u64))
    }
}

impl ParkedRecords for ParkedFile {
    fn positions(&self, exporter: &str) -> Result<BTreeSet<u64>, ExportError> {
        Ok(self.lock().of(exporter).map(|one| one.record.position).collect())
    }

    fn count(&self, exporter: &str) -> u64 {
        self.lock().of(exporter).count() as u64
    }

    fn list(&self, exporter: &str) -> Result<Vec<Parked>, ExportError> {
        Ok(self.lock().of(exporter).cloned().collect())
    }

    fn park(&self, parked: Parked) -> Result<(), ExportError> {
        let mut inner = self.lock();
        let failed = SpillError::file(&self.path);
        let mut bytes = Vec::new();
        write(&parked, &mut bytes);
        if inner.parked.len() >= PARKED_MAX || inner.bytes + bytes.len() as u64 > PARKED_BYTES_MAX {
            let full = format!("{} records in {} bytes are parked already", inner.parked.len(), inner.bytes);
            return Err(failed(Error::new(ErrorKind::StorageFull, full)).into());
        }
        if inner.file.is_none() {
            let (file, length) = self.create(&[]).map_err(SpillError::file(&self.path))?;
            (inner.file, inner.bytes) = (Some(file), length);
        }
        let length = inner.bytes;
        let Some(file) = &mut inner.file else { return Ok(()) };
        let written =
            std::os::unix::fs::FileExt::write_all_at(file, &bytes, length).and_then(|()| file.sync_data());
        if let Err(error) = written {
            let _ = file.set_len(length);
            return Err(failed(error).into());
        }
        inner.bytes += bytes.len() as u64;
        inner.parked.push(parked);
        Ok(())
    }

    fn remove(&self, exporter: &str, positions: &BTreeSet<u64>) -> Result<(), ExportError> {
        let mut inner = self.lock();
        let mut left = inner.parked.clone();
        left.retain(|one| one.exporter != exporter || !positions.contains(&one.record.position));
        let (file, bytes) = self.create(&left).map_err(SpillError::file(&self.path))?;
        *inner = ParkingState { file: Some(file), bytes, parked: left };
        Ok(())
    }
}

fn write(parked: &Parked, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    let entry = (&*parked.exporter, &*parked.reason, parked.parked_ms, &parked.record);
    minicbor::encode(entry, &mut *out).expect("encoding to memory does not fail");
    let payload = &out[start + HEADER_BYTES..];
    let (length, sum) = ((payload.len() as u32).to_le_bytes(), xxh3_64(payload).to_le_bytes());
    out[start..start + 4].copy_from_slice(&length);
    out[start + 4..start + HEADER_BYTES].copy_from_slice(&sum);
}

/// The entry that bytes begin with, and its length.
fn entry(bytes: &[u8]) -> Option<(Parked, usize)> {
    let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let sum = u64::from_le_bytes(bytes.get(4..HEADER_BYTES)?.try_into().ok()?);
    let payload = bytes.get(HEADER_BYTES..HEADER_BYTES.checked_add(length)?)?;
    if xxh3_64(payload) != sum {
        return None;
    }
    let (exporter, reason, parked_ms, record): (String, String, u64, Record) =
        minicbor::decode(payload).ok()?;
    Some((Parked { exporter, reason, parked_ms, record }, HEADER_BYTES + length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::testing::variable;

    fn parked(exporter: &str, position: u64) -> Parked {
        Parked {
            exporter: exporter.to_owned(),
            reason: format!("no {position}"),
            parked_ms: position * 10,
            record: variable(position, 8),
        }
    }

    #[test]
    fn what_is_parked_is_found_again_as_far_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("parked");
        let parking = ParkedFile::open(directory.path()).unwrap();
        assert!(!path.exists(), "there is nothing to keep");
        for (exporter, position) in [("a", 3), ("b", 3), ("a", 7)] {
            parking.park(parked(exporter, position)).unwrap();
        }
        drop(parking);
        let whole = std::fs::read(&path).unwrap();
        let parking = ParkedFile::open(directory.path()).unwrap();
        assert_eq!(parking.list("a").unwrap(), [parked("a", 3), parked("a", 7)]);
        assert_eq!((parking.count("a"), parking.count("b"), parking.count("c")), (2, 1, 0));
        drop(parking);
        // A crash in the middle of an entry.
        std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        let parking = ParkedFile::open(directory.path()).unwrap();
        assert_eq!(parking.positions("a").unwrap(), BTreeSet::from([3]));
        parking.park(parked("a", 9)).unwrap();
        parking.remove("a", &BTreeSet::from([3])).unwrap();
        parking.park(parked("b", 11)).unwrap();
        drop(parking);
        let parking = ParkedFile::open(directory.path()).unwrap();
        assert_eq!(parking.positions("a").unwrap(), BTreeSet::from([9]));
        assert_eq!(parking.positions("b").unwrap(), BTreeSet::from([3, 11]));
    }

    #[test]
    fn there_is_room_for_so_many_only() {
        let directory = tempfile::tempdir().unwrap();
        let parking = ParkedFile::open(directory.path()).unwrap();
        parking.lock().parked = vec![parked("a", 1); PARKED_MAX];
        let error = parking.park(parked("a", 2)).unwrap_err().to_string();
        assert!(error.contains("1000 records"), "{error}");
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("parked"), "something else").unwrap();
        assert!(matches!(ParkedFile::open(directory.path()), Err(SpillError::Damaged { .. })));
    }
}
