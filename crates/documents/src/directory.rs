//! Properties of stores in a directory alone: it may go away with its drive, it must be synced, and it shares a disk
//! with others.

use std::io;
use std::path::{Path, PathBuf};

use object_store::local::LocalFileSystem;
use object_store::path::Path as Place;
use rustix::fs::statvfs;

use crate::durable::{self, Disk as _, Disks};
use crate::error::{Error, is_full};
use crate::layout::{CONTENTS, DESCRIPTIONS, EXPIRIES, UPLOADS};

/// The directory behind a store.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    files: LocalFileSystem,
    min_free_bytes: u64,
}

impl Directory {
    /// One whose disk must keep so much room for others. It is made, and its name synced, if it is not there.
    pub(crate) fn open(path: &Path, min_free_bytes: u64) -> Result<Self, Error> {
        let wrong =
            |error: io::Error| Error::Invalid(format!("document directory '{}': {error}", path.display()));
        let path = std::path::absolute(path).map_err(wrong)?;
        durable::make_root(&Disks, &path).map_err(wrong)?;
        let path = std::fs::canonicalize(path).map_err(wrong)?;
        remove_broken_off(&path).map_err(wrong)?;
        let files = LocalFileSystem::new_with_prefix(&path)?;
        Ok(Self { path, files, min_free_bytes })
    }

    /// Fails if it has gone: files that nobody can see are not deleted, and new ones would land beside the drive
    /// that was here.
    pub(crate) fn is_there(&self) -> Result<(), Error> {
        std::fs::metadata(&self.path).map(drop).map_err(|error| self.failed(error))
    }

    /// Fails if the disk has no room beside what is kept for others.
    pub(crate) fn has_room(&self, bytes: u64) -> Result<(), Error> {
        let disk = statvfs(&self.path).map_err(|error| self.failed(error.into()))?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let needed = self.min_free_bytes.saturating_add(bytes);
        if free >= needed {
            return Ok(());
        }
        Err(Error::Full(format!(
            "{free} bytes are free on the disk of the documents, and {needed} are needed"
        )))
    }

    /// Makes an object durable: what is in it, and its name.
    pub(crate) async fn sync(&self, place: &Place) -> Result<(), Error> {
        let file = self.files.path_to_filesystem(place)?;
        let synced = self.on_disk(move |root| {
            Disks.sync(&file)?;
            durable::sync_above(&Disks, root, &file)
        });
        synced.await.map_err(|error| self.failed(error))
    }

    /// Gives an object a second name, durably.
    pub(crate) async fn link(&self, from: &Place, to: &Place) -> Result<(), Error> {
        let (from, to) = (self.files.path_to_filesystem(from)?, self.files.path_to_filesystem(to)?);
        let linked = self.on_disk(move |root| durable::link(&Disks, root, &from, &to));
        linked.await.map_err(|error| self.failed(error))
    }

    /// Makes an object, durably. `false` if there is one already.
    pub(crate) async fn write_once(&self, place: &Place, content: Vec<u8>) -> Result<bool, Error> {
        let file = self.files.path_to_filesystem(place)?;
        match self.on_disk(move |root| durable::write_once(&Disks, root, &file, &content)).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Does something that blocks.
    async fn on_disk(&self, work: impl FnOnce(&Path) -> io::Result<()> + Send + 'static) -> io::Result<()> {
        let root = self.path.clone();
        let done = tokio::task::spawn_blocking(move || work(&root));
        done.await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Removes an object. One that cannot be removed now is when the directory is opened next.
    pub(crate) fn remove_now(&self, place: &Place) {
        if let Ok(file) = self.files.path_to_filesystem(place) {
            let _ = std::fs::remove_file(file);
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        let source = format!("directory '{}': {error}", self.path.display());
        if is_full(&error) {
            return Error::Full(source);
        }
        Error::Store(object_store::Error::Generic { store: "directory", source: source.into() })
    }
}

/// Removes what a crash has left: contents without a document, and files that were not written to their end.
fn remove_broken_off(root: &Path) -> io::Result<()> {
    for name in names(&root.join(UPLOADS), |_| true)? {
        let known = name.split('#').next().and_then(|name| name.split_once('_'));
        if let Some((content, id)) = known {
            let description = std::fs::read_to_string(root.join(DESCRIPTIONS).join(format!("{id}.json")));
            if !description.is_ok_and(|text| text.contains(content)) {
                remove(&root.join(CONTENTS).join(content))?;
            }
        }
        remove(&root.join(UPLOADS).join(name))?;
    }
    // Suffix of files that object_store has not completed. Contents are not written in their place, so there
    // are few files here that it could be.
    for folder in [DESCRIPTIONS, EXPIRIES] {
        for name in names(&root.join(folder), |name| name.contains('#'))? {
            remove(&root.join(folder).join(name))?;
        }
    }
    Ok(())
}

/// These of the names in a directory; none if it is not there.
fn names(directory: &Path, are_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if are_wanted(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

fn remove(file: &Path) -> io::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
