//! The disk's own time for a small durable write, measured without a server.

use std::{
    fs::File,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use crate::Error;
use crate::latency::{Latency, histogram};

/// A batch of commands is about as large, bytes.
const WRITE_BYTES: usize = 4096;

/// Appends and syncs `count` times in `directory`, `per_second` times a second.
pub(super) fn fsync_latency(directory: &Path, count: u32, per_second: u32) -> Result<Option<Latency>, Error> {
    let path = directory.join("fsync-probe");
    let measure = || -> std::io::Result<Option<Latency>> {
        let mut file = File::create(&path)?;
        let mut values = histogram();
        let begin = Instant::now();
        for index in 0..count {
            let due = Duration::from_secs_f64(f64::from(index) / f64::from(per_second));
            std::thread::sleep(due.saturating_sub(begin.elapsed()));
            let from = Instant::now();
            file.write_all(&[index as u8; WRITE_BYTES])?;
            file.sync_data()?;
            values.saturating_record((from.elapsed().as_micros() as u64).max(1));
        }
        drop(file);
        std::fs::remove_file(&path)?;
        Ok(Latency::of(&values))
    };
    measure().map_err(Error::file(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let latency = fsync_latency(directory.path(), 20, 1_000_000).unwrap().unwrap();
        assert_eq!(latency.count, 20);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let error = fsync_latency(Path::new("/nonexistent"), 1, 1).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/fsync-probe"), "{error}");
    }
}
