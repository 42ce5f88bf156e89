//! Faults of the embedded secondary storage: somebody else holds its file, or its disk is full.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::error::LabError;

/// Pause between two transactions of somebody else, so that the server has its turn.
const TURN: Duration = Duration::from_millis(20);
/// How long it waits for its own turn.
const BUSY_MAX: Duration = Duration::from_secs(60);
/// Room of a disk before it is filled.
const LARGE: &str = "2g";
const PAGE_BYTES: u64 = 4096;

/// Another writer of the file.
pub(crate) struct StorageHold {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StorageHold {
    /// Holds the file for this long, again and again; or all the time.
    pub(crate) fn begin(file: &Path, each: Option<Duration>) -> Result<Self, LabError> {
        let cannot = |error: rusqlite::Error| LabError::environment("hold the file of the storage", error);
        let other = Connection::open(file).map_err(cannot)?;
        other.busy_timeout(BUSY_MAX).map_err(cannot)?;
        other.execute_batch("BEGIN IMMEDIATE").map_err(cannot)?;
        let ends = Arc::new(AtomicBool::new(false));
        let ends_too = Arc::clone(&ends);
        let thread = std::thread::spawn(move || {
            let mut is_held = true;
            while !ends_too.load(Ordering::Relaxed) {
                if !is_held {
                    is_held = other.execute_batch("BEGIN IMMEDIATE").is_ok();
                }
                std::thread::sleep(each.unwrap_or(TURN));
                if each.is_some() && is_held {
                    is_held = other.execute_batch("COMMIT").is_err();
                    std::thread::sleep(TURN);
                }
            }
        });
        Ok(Self { ends, thread: Some(thread) })
    }
}

impl Drop for StorageHold {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The file is released with its connection.
            let _ = thread.join();
        }
    }
}

/// A file system of its own, as long as this lives.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts one; not everybody may.
    pub(crate) fn mount(place: &Path) -> Result<Self, LabError> {
        if mount(&format!("size={LARGE}"), place) {
            return Ok(Self(place.to_owned()));
        }
        Err(LabError::Impossible("no file system may be mounted here, which a full disk needs".to_owned()))
    }

    /// Takes away the room that is left.
    pub(crate) fn fill(&self) -> Result<(), LabError> {
        let usage =
            rustix::fs::statvfs(&self.0).map_err(|error| LabError::environment("look at a disk", error))?;
        let used = (usage.f_blocks - usage.f_bfree) * usage.f_frsize;
        // Concurrent writers may have taken more.
        let fits = (0..100).any(|more| self.resize(&(used + more * 16 * PAGE_BYTES).to_string()));
        if fits { Ok(()) } else { Err(LabError::Impossible("a disk cannot be filled here".to_owned())) }
    }

    /// Gives it back.
    pub(crate) fn make_room(&self) {
        let _ = self.resize(LARGE);
    }

    fn resize(&self, size: &str) -> bool {
        mount(&format!("remount,size={size}"), &self.0)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run(Command::new("umount").arg("-l").arg(&self.0));
    }
}

fn mount(options: &str, place: &Path) -> bool {
    run(Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(place))
}

fn run(command: &mut Command) -> bool {
    let outcome = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    outcome.is_ok_and(|status| status.success())
}
