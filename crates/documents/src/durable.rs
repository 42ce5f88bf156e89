//! The order in which a directory is written and synced, so that a loss of power at any moment leaves a document or
//! none.
//!
//! A name is given to what is on the disk already, never before; and what a description names is durable before the
//! description has its name. The disk is behind a trait: tests have one that forgets what was not synced.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Operations on a disk. It may forget all of them until they are synced.
pub(crate) trait Disk {
    fn is_there(&self, path: &Path) -> bool;
    /// Makes a directory; fine if it is there.
    fn make_directory(&self, path: &Path) -> io::Result<()>;
    /// Makes a file that is not there.
    fn write_new(&self, path: &Path, content: &[u8]) -> io::Result<()>;
    /// Gives a file a second name, one that is free.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Waits until the content of a file is durable, or the names in a directory.
    fn sync(&self, path: &Path) -> io::Result<()>;
}

/// The disks of this machine.
pub(crate) struct Disks;

impl Disk for Disks {
    fn is_there(&self, path: &Path) -> bool {
        path.exists()
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        match std::fs::create_dir(path) {
            Err(_) if path.is_dir() => Ok(()),
            made => made,
        }
    }

    fn write_new(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        OpenOptions::new().write(true).create_new(true).open(path)?.write_all(content)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

/// Makes a directory and those above it, durably. That of one that is there may not be durable yet.
pub(crate) fn make_root(disk: &impl Disk, root: &Path) -> io::Result<()> {
    let missing: Vec<&Path> =
        root.ancestors().take_while(|path| *path == root || !disk.is_there(path)).collect();
    for path in missing.into_iter().rev() {
        disk.make_directory(path)?;
        if let Some(parent) = path.parent() {
            disk.sync(parent)?;
        }
    }
    Ok(())
}

/// Gives a file whose content is durable a second name somewhere below the root, durably.
pub(crate) fn link(disk: &impl Disk, root: &Path, from: &Path, to: &Path) -> io::Result<()> {
    make_directories(disk, root, to)?;
    disk.link(from, to)?;
    sync_above(disk, root, to)
}

/// Makes a file somewhere below the root, durably. An error of the kind `AlreadyExists` if the name is taken.
pub(crate) fn write_once(disk: &impl Disk, root: &Path, to: &Path, content: &[u8]) -> io::Result<()> {
    make_directories(disk, root, to)?;
    // The start removes names like this one.
    let mut whole = to.as_os_str().to_owned();
    whole.push(format!("#{}", uuid::Uuid::new_v4()));
    let whole = PathBuf::from(whole);
    let named =
        disk.write_new(&whole, content).and_then(|()| disk.sync(&whole)).and_then(|()| disk.link(&whole, to));
    // One that cannot be removed now is at the next start.
    let _ = disk.remove(&whole);
    named?;
    sync_above(disk, root, to).inspect_err(|_| {
        // It will not be acknowledged, and may be gone with the next loss of power.
        let _ = disk.remove(to);
    })
}

/// Makes the directories between the root and a file.
fn make_directories(disk: &impl Disk, root: &Path, file: &Path) -> io::Result<()> {
    let above: Vec<&Path> = file.ancestors().skip(1).take_while(|above| *above != root).collect();
    above.into_iter().rev().try_for_each(|directory| disk.make_directory(directory))
}

/// Makes the name of a file durable, and those of the directories up to the root: another request may have made
/// them just now.
pub(crate) fn sync_above(disk: &impl Disk, root: &Path, file: &Path) -> io::Result<()> {
    let mut above = file.ancestors().skip(1).take_while(|directory| directory.starts_with(root));
    above.try_for_each(|directory| disk.sync(directory))
}

#[cfg(test)]
#[path = "tests/power.rs"]
mod power;
