//! Disk watermarks: commands are refused before the disk is full.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::api::SubmitError;

/// What is known of the disk under the data directory.
pub(crate) struct Disk {
    free_bytes: AtomicU64,
    min_free_bytes: u64,
}

impl Disk {
    pub fn new(min_free_bytes: u64) -> Self {
        Self { free_bytes: AtomicU64::new(u64::MAX), min_free_bytes }
    }

    /// Looks at the disk.
    pub fn look(&self, data_dir: &Path) {
        if let Ok(stat) = rustix::fs::statvfs(data_dir) {
            self.free_bytes.store(stat.f_bavail.saturating_mul(stat.f_frsize), Ordering::Relaxed);
        }
    }

    /// Whether there is room for commands.
    pub fn check(&self) -> Result<(), SubmitError> {
        let free = self.free_bytes.load(Ordering::Relaxed);
        if free >= self.min_free_bytes {
            return Ok(());
        }
        Err(SubmitError::ResourceExhausted(format!(
            "Expected to handle the command, but the disk has only {free} bytes left, below the limit of {} bytes",
            self.min_free_bytes
        )))
    }
}
