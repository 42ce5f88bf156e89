//! Disk watermarks: commands are refused before a disk is full, those that begin work first. In a cluster, a broker
//! without room gives way to one that has some (`cluster_disks.rs`).

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use broker_api::SubmitError;

use crate::flow_control::Class;
use crate::options::DiskOptions;

/// Divisor of the limit: so much more must be free until there is room again, once there was none. A disk that is just
/// at its limit would have leaders change again and again.
const REGAINED_PART: u64 = 16;

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

/// State of the disks that this broker writes to: that of the data directory, and those of directories that may be
/// elsewhere.
pub struct Disk {
    broker: u32,
    directories: Vec<PathBuf>,
    options: DiskOptions,
    /// Of the data directory.
    total_bytes: AtomicU64,
    data_free_bytes: AtomicU64,
    /// Of the disk that has the fewest, and its place among the directories.
    free_bytes: AtomicU64,
    fullest: AtomicUsize,
    has_room: AtomicBool,
}

impl Disk {
    /// The disks of directories, that of the data first.
    pub fn new(broker: u32, directories: Vec<PathBuf>, options: DiskOptions) -> Self {
        let all_free = || AtomicU64::new(u64::MAX);
        Self {
            broker,
            directories,
            options,
            total_bytes: AtomicU64::new(0),
            data_free_bytes: all_free(),
            free_bytes: all_free(),
            fullest: AtomicUsize::new(0),
            has_room: AtomicBool::new(true),
        }
    }

    /// Measures the free space of the disks. Returns whether there is room, if that has changed.
    pub fn measure(&self) -> Option<bool> {
        let found = self.directories.iter().enumerate().filter_map(|(place, directory)| {
            let (free, total) = self.options.probe.look(directory)?;
            if place == 0 {
                self.data_free_bytes.store(free, Ordering::Relaxed);
                self.total_bytes.store(total, Ordering::Relaxed);
            }
            Some((free, place))
        });
        let (free, place) = found.min()?;
        self.fullest.store(place, Ordering::Relaxed);
        self.free_bytes.store(free, Ordering::Relaxed);
        let limit = self.options.min_free_bytes;
        let had_room = self.has_room();
        let needed = if had_room { limit } else { limit.saturating_add(limit / REGAINED_PART) };
        let has_room = free >= needed;
        self.has_room.store(has_room, Ordering::Release);
        (has_room != had_room).then_some(has_room)
    }

    /// Whether there is room for new work, and was for a while.
    pub fn has_room(&self) -> bool {
        self.has_room.load(Ordering::Acquire)
    }

    /// Why there is no room for new work.
    pub fn no_room(&self) -> Option<String> {
        (!self.has_room()).then(|| self.describe(self.options.min_free_bytes))
    }

    /// Bytes that are free where the data are; none before the first look.
    pub fn free_bytes(&self) -> Option<u64> {
        Some(self.data_free_bytes.load(Ordering::Relaxed)).filter(|bytes| *bytes != u64::MAX)
    }

    /// All that is known of it; nothing before the first look.
    pub fn space(&self) -> Option<DiskSpace> {
        let total_bytes = self.total_bytes.load(Ordering::Relaxed);
        self.free_bytes().map(|free_bytes| DiskSpace {
            free_bytes,
            total_bytes,
            reserved_bytes: self.options.min_free_bytes,
        })
    }

    /// Whether there is room for commands of a class. Work begun is let go on down to half of the limit.
    pub fn check(&self, class: Class) -> Result<(), SubmitError> {
        let limit = self.options.min_free_bytes;
        let needed = if class == Class::New { limit } else { limit / 2 };
        if self.free_bytes.load(Ordering::Relaxed) >= needed {
            return Ok(());
        }
        let reason = self.describe(needed);
        Err(SubmitError::DiskFull(format!("Expected to handle the command, but {reason}")))
    }

    fn describe(&self, needed: u64) -> String {
        let free = self.free_bytes.load(Ordering::Relaxed);
        let directory = &self.directories[self.fullest.load(Ordering::Relaxed)];
        format!(
            "the disk of broker {} at '{}' has only {free} bytes left, below the limit of {needed} bytes \
             (data.min_free_bytes)",
            self.broker,
            directory.display()
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::options::DiskProbe;

    /// A disk with the room that the number says.
    fn disk(min_free_bytes: u64, directories: &[&str]) -> (Disk, Arc<AtomicU64>) {
        let free = Arc::new(AtomicU64::new(u64::MAX));
        let shown = Arc::clone(&free);
        // Others have more.
        let probe = DiskProbe::new(move |path| {
            let free = shown.load(Ordering::Relaxed);
            Some((if path.ends_with("full") { free } else { free.saturating_mul(2) }, 10_000))
        });
        let options = DiskOptions { min_free_bytes, probe, ..DiskOptions::default() };
        (Disk::new(3, directories.iter().map(PathBuf::from).collect(), options), free)
    }

    #[test]
    fn new_work_is_refused_first_and_taken_again_when_there_is_room() {
        let (disk, shown) = disk(1000, &["full"]);
        let state = |free| {
            shown.store(free, Ordering::Relaxed);
            disk.measure();
            [Class::New, Class::Begun].map(|class| disk.check(class).is_ok())
        };
        assert_eq!(state(1000), [true, true]);
        assert_eq!(state(999), [false, true]);
        assert_eq!(state(499), [false, false]);
        assert_eq!(
            disk.check(Class::New).unwrap_err().to_string(),
            "Expected to handle the command, but the disk of broker 3 at 'full' has only 499 bytes left, below the \
             limit of 1000 bytes (data.min_free_bytes)"
        );
        assert_eq!(state(1001), [true, true]);
    }

    #[test]
    fn room_is_regained_only_well_above_the_limit() {
        let (disk, shown) = disk(1600, &["full"]);
        let measure = |free| {
            shown.store(free, Ordering::Relaxed);
            disk.measure()
        };
        let changes: Vec<_> =
            [1600, 1599, 1600, 1699, 1599, 1700, 1600, 1599, 5000].map(measure).into_iter().collect();
        let expected =
            [None, Some(false), None, None, None, Some(true), None, Some(false), Some(true)].to_vec();
        assert_eq!(changes, expected);
        assert_eq!(disk.no_room(), None);
    }

    #[test]
    fn the_fullest_disk_counts_and_is_named() {
        let (disk, shown) = disk(1000, &["data", "elsewhere/full"]);
        shown.store(600, Ordering::Relaxed);
        assert_eq!(disk.measure(), Some(false));
        assert!(disk.no_room().unwrap().contains("'elsewhere/full' has only 600"), "{:?}", disk.no_room());
        assert_eq!(disk.space().unwrap().free_bytes, 1200, "of the data");
    }

    #[test]
    fn a_disk_that_cannot_be_looked_at_is_as_before() {
        let options = DiskOptions::default();
        let disk = Disk::new(0, vec![PathBuf::from("/no such place")], options);
        assert_eq!(disk.measure(), None);
        assert!(disk.has_room() && disk.space().is_none());
        let disk = Disk::new(0, vec![PathBuf::from("/")], DiskOptions::default());
        disk.measure();
        assert!(disk.free_bytes().is_some());
    }
}
