//! Large files as they are written: the log on the same disk would wait for one sync of everything.

use std::fs::File;
use std::io::{self, Write};

/// Bytes after which a file is synced.
const SYNC_BYTES: u64 = 4 << 20;

/// A file that is synced again and again while it is written.
pub struct SyncedFile {
    file: File,
    unsynced: u64,
}

impl SyncedFile {
    /// A file of which everything is synced.
    pub fn new(file: File) -> Self {
        Self { file, unsynced: 0 }
    }

    /// Whether everything that was written is synced.
    pub fn is_synced(&self) -> bool {
        self.unsynced == 0
    }

    /// Syncs the rest, and what else the file system has to say of the file.
    pub fn finish(self) -> io::Result<()> {
        self.file.sync_all()
    }
}

impl Write for SyncedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.file.write(bytes)?;
        self.unsynced += len as u64;
        if self.unsynced >= SYNC_BYTES {
            self.file.sync_data()?;
            self.unsynced = 0;
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_synced_after_so_many_bytes_and_has_all_of_them() {
        let mut target = tempfile::NamedTempFile::new().unwrap();
        let mut file = SyncedFile::new(target.reopen().unwrap());
        let mut synced = Vec::new();
        for _ in 0..9 {
            file.write_all(&vec![7; 1 << 20]).unwrap();
            synced.push(file.is_synced());
        }
        assert_eq!(synced, [false, false, false, true, false, false, false, true, false]);
        file.finish().unwrap();
        let mut content = Vec::new();
        io::Read::read_to_end(&mut target, &mut content).unwrap();
        assert_eq!(content, vec![7; 9 << 20]);
    }
}
