//! Files of backups: opened only if they are what they seem, with sums that tell whether they are whole.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufReader, Read as _};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use data_directory::durable_file;

/// Bytes of a file that describes others.
const DESCRIPTION_BYTES_MAX: u64 = 64 * 1024;
/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// Size and SHA-256 of a file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    /// Its bytes.
    pub bytes: u64,
    /// Hexadecimal digits.
    pub sha256: String,
}

impl FileSum {
    /// Reads a file to its end.
    pub fn of(path: &Path) -> io::Result<Self> {
        sum(path, &mut io::sink())
    }

    /// Copies a file to where there may be one already; the copy has this sum, or there is an error.
    pub fn copy(wanted: Option<&Self>, source: &Path, target: &Path) -> io::Result<()> {
        let mut file = File::create(target)?;
        let found = sum(source, &mut file)?;
        file.sync_all()?;
        wanted.map_or(Ok(()), |wanted| wanted.compare(&found))
    }

    /// Compares a file with this sum.
    pub fn check(&self, path: &Path) -> io::Result<()> {
        self.compare(&Self::of(path)?)
    }

    fn compare(&self, found: &Self) -> io::Result<()> {
        if found.bytes != self.bytes {
            let text = format!("it has {} bytes, but the backup had {}", found.bytes, self.bytes);
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if found.sha256 != self.sha256 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its bytes are not those of the backup"));
        }
        Ok(())
    }

    /// Writes the sum to a file of its own.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self).expect("numbers and words are JSON");
        durable_file::write(path, &text)
    }

    /// Reads a sum from a file of its own, if there is one.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        read_description(path)
    }
}

fn sum(path: &Path, copy: &mut impl io::Write) -> io::Result<FileSum> {
    let mut source = open(path)?;
    let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; BUFFER_BYTES]);
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        copy.write_all(&buffer[..read])?;
        bytes += read as u64;
    }
    let mut sha256 = String::with_capacity(64);
    for byte in hash.finalize() {
        write!(sha256, "{byte:02x}").expect("writing to memory does not fail");
    }
    Ok(FileSum { bytes, sha256 })
}

/// Opens a regular file. A link, a directory or a pipe in its place is an error.
pub(crate) fn open(path: &Path) -> io::Result<BufReader<File>> {
    regular(path)?;
    Ok(BufReader::new(File::open(path)?))
}

fn regular(path: &Path) -> io::Result<fs::Metadata> {
    let found = fs::symlink_metadata(path)?;
    if found.is_file() {
        return Ok(found);
    }
    let kind = match found.file_type() {
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_dir() => "a directory",
        _ => "no regular file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is {kind}")))
}

/// Reads a small file of JSON; `None` if it is not there.
pub(crate) fn read_description<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let found = match regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    if found.len() > DESCRIPTION_BYTES_MAX {
        let text = format!("it has {} bytes, more than {DESCRIPTION_BYTES_MAX}", found.len());
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let text = fs::read(path)?;
    serde_json::from_slice(&text).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_that_was_summed_passes() {
        let directory = tempfile::tempdir().unwrap();
        let (path, copy) = (directory.path().join("a"), directory.path().join("b"));
        fs::write(&path, vec![7; 3 * BUFFER_BYTES]).unwrap();
        let sum = FileSum::of(&path).unwrap();
        assert_eq!((sum.bytes, sum.sha256.len()), (3 * BUFFER_BYTES as u64, 64));
        FileSum::copy(Some(&sum), &path, &copy).unwrap();
        sum.check(&copy).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[BUFFER_BYTES] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert!(FileSum::copy(Some(&sum), &path, &copy).unwrap_err().to_string().contains("not those"));
        fs::write(&path, &bytes[1..]).unwrap();
        assert!(sum.check(&path).unwrap_err().to_string().contains("but the backup had"));
    }

    #[test]
    fn nothing_but_a_regular_file_is_opened() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("a"), directory.path().join("b"));
        fs::write(&file, "1").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_description::<u64>(&file).unwrap(), Some(1));
        assert_eq!(read_description::<u64>(&directory.path().join("c")).unwrap(), None);
        for (path, reason) in [(link.as_path(), "symbolic link"), (directory.path(), "a directory")] {
            assert!(read_description::<u64>(path).unwrap_err().to_string().contains(reason));
            assert!(FileSum::of(path).unwrap_err().to_string().contains(reason));
        }
        fs::write(&file, " ".repeat(100_000)).unwrap();
        assert!(read_description::<u64>(&file).unwrap_err().to_string().contains("more than"));
    }
}
