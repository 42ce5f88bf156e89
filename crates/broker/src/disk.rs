//! Disk watermarks: commands are refused before the disk is full, those that begin work first.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use broker_api::SubmitError;

use crate::flow_control::Class;

/// Room on the disk of the data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Bytes that are free.
    pub free_bytes: u64,
    /// Bytes of the whole disk.
    pub total_bytes: u64,
    /// With fewer free bytes, new work is refused.
    pub reserved_bytes: u64,
}

/// State of the disk under the data directory.
#[expect(clippy::struct_field_names, reason = "units stand last")]
pub(crate) struct Disk {
    free_bytes: AtomicU64,
    total_bytes: AtomicU64,
    min_free_bytes: u64,
}

impl Disk {
    pub fn new(min_free_bytes: u64) -> Self {
        Self { free_bytes: AtomicU64::new(u64::MAX), total_bytes: AtomicU64::new(0), min_free_bytes }
    }

    /// Looks at the disk.
    pub fn measure(&self, data_dir: &Path) {
        if let Ok(stat) = rustix::fs::statvfs(data_dir) {
            self.total_bytes.store(stat.f_blocks.saturating_mul(stat.f_frsize), Ordering::Relaxed);
            self.free_bytes.store(stat.f_bavail.saturating_mul(stat.f_frsize), Ordering::Relaxed);
        }
    }

    /// Bytes that are free; none before the first look.
    pub fn free_bytes(&self) -> Option<u64> {
        Some(self.free_bytes.load(Ordering::Relaxed)).filter(|bytes| *bytes != u64::MAX)
    }

    /// All that is known of it; nothing before the first look.
    pub fn space(&self) -> Option<DiskSpace> {
        let total_bytes = self.total_bytes.load(Ordering::Relaxed);
        self.free_bytes().map(|free_bytes| DiskSpace {
            free_bytes,
            total_bytes,
            reserved_bytes: self.min_free_bytes,
        })
    }

    /// Whether there is room for commands of a class. Work begun is let go on down to half of the limit.
    pub fn check(&self, class: Class) -> Result<(), SubmitError> {
        let free = self.free_bytes.load(Ordering::Relaxed);
        let needed = if class == Class::New { self.min_free_bytes } else { self.min_free_bytes / 2 };
        if free >= needed {
            return Ok(());
        }
        Err(SubmitError::ResourceExhausted(format!(
            "Expected to handle the command, but the disk has only {free} bytes left, below the limit of {needed} bytes"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_work_is_refused_first_and_taken_again_when_there_is_room() {
        let disk = Disk::new(1000);
        let state = |free| {
            disk.free_bytes.store(free, Ordering::Relaxed);
            [Class::New, Class::Begun].map(|class| disk.check(class).is_ok())
        };
        assert_eq!(state(1000), [true, true]);
        assert_eq!(state(999), [false, true]);
        assert_eq!(state(499), [false, false]);
        assert_eq!(
            disk.check(Class::New).unwrap_err().to_string(),
            "Expected to handle the command, but the disk has only 499 bytes left, below the limit of 1000 bytes"
        );
        assert_eq!(state(1001), [true, true]);
        disk.measure(Path::new("/"));
        assert!(disk.free_bytes.load(Ordering::Relaxed) != 1001);
        disk.measure(Path::new("/no such place"));
    }
}
