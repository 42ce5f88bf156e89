//! Files of the server are for its own user: variables of processes, hashes of passwords and keys are in them.
//!
//! New files are private from the beginning ([`close_to_others`]). Those of an earlier release, or with other
//! permissions for another reason, are closed at the start ([`take_back`]).

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::process::umask;

/// Permissions of others than the owner in a mode.
const OTHERS: u32 = 0o077;
/// Failures that are named; the rest is counted.
const NAMED_MAX: usize = 3;

/// Has every file and directory that this process makes from now on be its user's alone.
pub(crate) fn close_to_others() {
    umask(Mode::from_raw_mode(OTHERS));
}

/// Files that stay open to others, and why.
#[derive(Debug, Default)]
pub(crate) struct StillOpen {
    named: Vec<String>,
    count: usize,
}

impl StillOpen {
    fn note(&mut self, path: &Path, reason: &dyn std::fmt::Display) {
        self.count += 1;
        if self.named.len() < NAMED_MAX {
            self.named.push(format!("'{}' ({reason})", path.display()));
        }
    }

    /// Says so once, whatever their number.
    pub(crate) fn warn(&self) {
        if self.count > 0 {
            tracing::warn!(
                "other users of this machine may read {} files and directories of the server, which cannot be closed to \
                 them: {}{}",
                self.count,
                self.named.join(", "),
                if self.count > self.named.len() { " and others" } else { "" }
            );
        }
    }
}

/// Closes what is in a directory, and then the directory, to others. Links are left alone, and so are directories of
/// documents that are closed already: there may be millions of files in them.
pub(crate) fn take_back(root: &Path, documents: &[PathBuf], still_open: &mut StillOpen) {
    let metadata = match fs::metadata(root) {
        Ok(metadata) => metadata,
        // It is made later, and closed from the beginning.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => return still_open.note(root, &error),
    };
    // The root last: a start that is interrupted does the rest the next time.
    let mut closing = vec![(root.to_owned(), metadata)];
    let mut next = 0;
    while let Some((path, metadata)) = closing.get(next) {
        next += 1;
        let is_done = metadata.mode() & OTHERS == 0 && documents.iter().any(|of| path.starts_with(of));
        if !metadata.is_dir() || is_done {
            continue;
        }
        let path = path.clone();
        match entries(&path) {
            Ok(found) => closing.extend(found),
            Err(error) => still_open.note(&path, &error),
        }
    }
    for (path, metadata) in closing.iter().rev() {
        if let Err(error) = close(path, metadata) {
            still_open.note(path, &error);
        }
    }
}

fn entries(directory: &Path) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        match entry.metadata() {
            Ok(metadata) if metadata.is_symlink() => {}
            Ok(metadata) => found.push((entry.path(), metadata)),
            // Gone meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn close(path: &Path, metadata: &Metadata) -> Result<(), String> {
    let mode = metadata.mode() & 0o7777;
    if mode & OTHERS == 0 {
        return Ok(());
    }
    match fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.to_string()),
    }
    // Some file systems have no permissions, and say nothing.
    let mode = fs::metadata(path).map_err(|error| error.to_string())?.mode();
    if mode & OTHERS == 0 { Ok(()) } else { Err("its file system keeps no permissions".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn everything_in_a_directory_is_closed_and_nothing_beside_it() {
        let scratch = tempfile::tempdir().unwrap();
        let (root, beside) = (scratch.path().join("data"), scratch.path().join("beside"));
        fs::create_dir_all(root.join("log/deep")).unwrap();
        fs::create_dir(root.join("closed")).unwrap();
        for file in ["a.sqlite-wal", "log/deep/segment", "closed/open"] {
            fs::write(root.join(file), "x").unwrap();
            set(&root.join(file), 0o644);
        }
        fs::write(&beside, "x").unwrap();
        set(&beside, 0o644);
        std::os::unix::fs::symlink(&beside, root.join("link")).unwrap();
        for (directory, mode) in [("log/deep", 0o755), ("log", 0o775), ("closed", 0o700), ("", 0o755)] {
            set(&root.join(directory), mode);
        }
        let mut still_open = StillOpen::default();
        take_back(&root, &[], &mut still_open);
        for file in ["a.sqlite-wal", "log/deep/segment", "closed/open"] {
            assert_eq!(mode(&root.join(file)), 0o600, "{file}");
        }
        for directory in ["", "log", "log/deep", "closed"] {
            assert_eq!(mode(&root.join(directory)), 0o700, "{directory}");
        }
        assert_eq!((mode(&beside), still_open.count), (0o644, 0));
        take_back(&root.join("missing"), &[], &mut still_open);
        assert_eq!(still_open.count, 0);
    }

    #[test]
    fn documents_that_are_closed_are_not_gone_through() {
        let root = tempfile::tempdir().unwrap();
        let documents = root.path().join("documents");
        fs::create_dir(&documents).unwrap();
        fs::write(documents.join("one"), "x").unwrap();
        set(&documents.join("one"), 0o644);
        for (before, after) in [(0o700, 0o644), (0o755, 0o600)] {
            set(&documents, before);
            take_back(root.path(), std::slice::from_ref(&documents), &mut StillOpen::default());
            assert_eq!((mode(&documents), mode(&documents.join("one"))), (0o700, after));
        }
    }

    #[test]
    fn failures_are_told_by_their_number() {
        let mut still_open = StillOpen::default();
        for name in ["a", "b", "c", "d"] {
            still_open.note(Path::new(name), &"no permission");
        }
        assert_eq!((still_open.count, still_open.named.len()), (4, NAMED_MAX));
    }
}
