//! Places in a data directory.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::restored;

/// The state of a partition in a data directory.
pub fn state_file(data_dir: &Path, partition: u16) -> PathBuf {
    data_dir.join("state").join(format!("partition-{partition}.redb"))
}

/// The log in a data directory.
pub fn log_directory(data_dir: &Path) -> PathBuf {
    data_dir.join("log")
}

/// Directories that a replica has from the log of its group, and that another replica would fetch or make anew.
const OF_REPLICA: [&str; 5] = ["state", "log", "export", "snapshots", restored::FILE];
/// The beginning of the names of files of the embedded store, unless it was put elsewhere.
const STORE: &str = "secondary-storage.sqlite";

/// Moves the state and the log of a replica, and what it made of them, to a directory of their own.
pub fn set_aside(data_dir: &Path) -> io::Result<PathBuf> {
    let names = (1..=u32::MAX).map(|number| data_dir.join(format!("damaged-{number}")));
    let mut names = names;
    let target = names.find(|target| !target.exists()).expect("a directory has a free name");
    std::fs::create_dir(&target)?;
    move_replica(data_dir, &target)?;
    Ok(target)
}

/// Moves the state and the log of a replica, and what it made of them. An entry that the target has already is removed:
/// it is a part of what was to take the place of that one.
pub fn move_replica(from: &Path, target: &Path) -> io::Result<()> {
    for name in replica_entries(from)? {
        let (source, target) = (from.join(&name), target.join(&name));
        if target.exists() {
            remove(&source)?;
        } else {
            std::fs::rename(source, target)?;
        }
    }
    File::open(from)?.sync_all()?;
    File::open(target)?.sync_all()
}

/// Removes the state and the log of a replica, and what it made of them.
pub fn remove_replica(data_dir: &Path) -> io::Result<()> {
    replica_entries(data_dir)?.iter().try_for_each(|name| remove(&data_dir.join(name)))?;
    File::open(data_dir)?.sync_all()
}

fn replica_entries(data_dir: &Path) -> io::Result<Vec<OsString>> {
    let names = std::fs::read_dir(data_dir)?.map(|entry| Ok(entry?.file_name()));
    let is_of_replica = |name: &str| OF_REPLICA.contains(&name) || name.starts_with(STORE);
    let mut names: Vec<OsString> = names.collect::<io::Result<_>>()?;
    names.retain(|name| name.to_str().is_some_and(is_of_replica));
    Ok(names)
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_kept_beside_those_that_take_their_place() {
        let directory = tempfile::tempdir().unwrap();
        for number in 1..3 {
            std::fs::create_dir(directory.path().join("state")).unwrap();
            std::fs::write(state_file(directory.path(), 1), number.to_string()).unwrap();
            std::fs::write(directory.path().join("secondary-storage.sqlite-wal"), "").unwrap();
            std::fs::create_dir_all(directory.path().join("documents")).unwrap();
            let aside = set_aside(directory.path()).unwrap();
            assert!(!directory.path().join("state").exists());
            assert_eq!(std::fs::read_to_string(state_file(&aside, 1)).unwrap(), number.to_string());
            assert!(aside.join("secondary-storage.sqlite-wal").exists());
            assert!(directory.path().join("documents").exists());
        }
    }
}
