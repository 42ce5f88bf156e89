//! A disk that can be full: a file system in memory, where one may be mounted.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// With room.
const LARGE: &str = "2g";
/// The smallest that there can be: what is there already stays.
const PAGE_BYTES: u64 = 4096;

/// A file system of its own, as long as this lives.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Whether file systems may be mounted here.
    pub(crate) fn is_possible() -> bool {
        static POSSIBLE: OnceLock<bool> = OnceLock::new();
        *POSSIBLE.get_or_init(|| {
            let place = tempfile::tempdir().unwrap();
            let is_mounted = mount("size=1m", place.path());
            is_mounted && unmount(place.path())
        })
    }

    pub(crate) fn mount(place: &Path) -> Self {
        assert!(mount(&format!("size={LARGE}"), place), "cannot mount on {}", place.display());
        Self(place.to_owned())
    }

    /// Takes away the room that is left.
    pub(crate) fn fill(&self) {
        let usage = rustix::fs::statvfs(&self.0).unwrap();
        // A size of zero is none at all.
        let used = ((usage.f_blocks - usage.f_bfree) * usage.f_frsize).max(PAGE_BYTES);
        // Concurrent writers may have taken more.
        let fits = (0..100).any(|more| self.resize(&(used + more * 16 * PAGE_BYTES).to_string()));
        assert!(fits, "{} cannot be filled", self.0.display());
    }

    /// Gives it back.
    pub(crate) fn make_room(&self) {
        assert!(self.resize(LARGE));
    }

    fn resize(&self, size: &str) -> bool {
        mount(&format!("remount,size={size}"), &self.0)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{} stays mounted", self.0.display());
            return;
        }
        unmount(&self.0);
    }
}

fn mount(options: &str, place: &Path) -> bool {
    run(Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(place))
}

fn unmount(place: &Path) -> bool {
    run(Command::new("umount").arg("-l").arg(place))
}

fn run(command: &mut Command) -> bool {
    let outcome = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    outcome.is_ok_and(|status| status.success())
}
