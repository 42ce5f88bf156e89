//! The file system under raft-engine: the real one, watched.
//!
//! raft-engine panics when a sync fails. Here a failed sync is remembered instead, the disk then refuses every
//! further change, and the writer thread, which asks after each write, treats that write as failed. Nothing that
//! was not synced survives: before the engine is opened again, every file is cut back to where it was last synced,
//! because after a failed sync the kernel may drop the data from the disk and still show it to readers.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use raft_engine::env::{DefaultFileSystem, FileSystem, Handle, Permission, WriteExt};

/// Faults to inject into the disk below the log, for tests and simulations.
#[derive(Debug, Default)]
pub struct DiskFaults {
    /// Writes fail as on a full disk, and the free space reads as zero.
    pub full: AtomicBool,
    /// Syncs fail.
    pub failing_sync: AtomicBool,
}

impl DiskFaults {
    fn check_write(faults: Option<&Self>) -> io::Result<()> {
        if faults.is_some_and(|faults| faults.full.load(Ordering::SeqCst)) {
            // raft-engine recognises a full disk by this very word.
            return Err(io::Error::new(io::ErrorKind::StorageFull, "nospace"));
        }
        Ok(())
    }

    fn check_sync(faults: Option<&Self>) -> io::Result<()> {
        if faults.is_some_and(|faults| faults.failing_sync.load(Ordering::SeqCst)) {
            return Err(io::Error::other("injected sync failure"));
        }
        Ok(())
    }
}

/// The extension of the files that hold entries.
const LOG_FILES: &str = "raftlog";

/// How far one file was written and synced, in bytes from its start.
#[derive(Default)]
struct Extent {
    written: AtomicU64,
    synced: AtomicU64,
}

impl Extent {
    /// The file was cut, which needs no sync to count: what is gone is not missed.
    fn truncate(&self, offset: u64) {
        self.written.store(offset, Ordering::SeqCst);
        self.synced.fetch_min(offset, Ordering::SeqCst);
    }
}

struct FaultState {
    faults: Option<Arc<DiskFaults>>,
    /// Files opened by the running engine that were written to.
    extents: Mutex<BTreeMap<PathBuf, Arc<Extent>>>,
    /// Why the disk can no longer be trusted, if so.
    failure: Mutex<Option<String>>,
    failed: AtomicBool,
    /// Time spent in syncs.
    synced_ns: AtomicU64,
}

impl FaultState {
    fn fail(&self, reason: String) {
        self.failure.lock().get_or_insert(reason);
        self.failed.store(true, Ordering::SeqCst);
    }

    fn check(&self) -> io::Result<()> {
        match self.failure() {
            None => Ok(()),
            Some(reason) => Err(io::Error::other(format!("the log disk failed earlier: {reason}"))),
        }
    }

    fn failure(&self) -> Option<String> {
        if !self.failed.load(Ordering::SeqCst) {
            return None;
        }
        self.failure.lock().clone()
    }

    fn extent(&self, path: &Path, size: u64) -> Arc<Extent> {
        let mut extents = self.extents.lock();
        let extent = extents.entry(path.to_owned()).or_default();
        extent.written.store(size, Ordering::SeqCst);
        extent.synced.store(size, Ordering::SeqCst);
        extent.clone()
    }
}

/// The file system handed to raft-engine. Clones share one view of the disk.
#[derive(Clone)]
pub(crate) struct Disk {
    shared: Arc<FaultState>,
}

impl Disk {
    pub(crate) fn new(faults: Option<Arc<DiskFaults>>) -> Self {
        Self {
            shared: Arc::new(FaultState {
                faults,
                extents: Mutex::default(),
                failure: Mutex::default(),
                failed: AtomicBool::new(false),
                synced_ns: AtomicU64::new(0),
            }),
        }
    }

    /// Time spent in syncs so far.
    pub(crate) fn sync_time(&self) -> Duration {
        Duration::from_nanos(self.shared.synced_ns.load(Ordering::Relaxed))
    }

    /// Files of the log.
    pub(crate) fn files(&self) -> usize {
        let extents = self.shared.extents.lock();
        extents.keys().filter(|path| path.extension().is_some_and(|extension| extension == LOG_FILES)).count()
    }

    /// Why the disk is no longer written to, if it is not.
    pub(crate) fn failure(&self) -> Option<String> {
        self.shared.failure()
    }

    /// Refuses every further change until [`Disk::repair`].
    pub(crate) fn fail(&self, reason: String) {
        self.shared.fail(reason);
    }

    /// Cuts every file back to what was synced and trusts the disk again. The engine must have been dropped.
    pub(crate) fn repair(&self) -> io::Result<()> {
        DiskFaults::check_write(self.shared.faults.as_deref())?;
        DiskFaults::check_sync(self.shared.faults.as_deref())?;
        let mut extents = self.shared.extents.lock();
        for (path, extent) in extents.iter() {
            let synced = extent.synced.load(Ordering::SeqCst);
            if extent.written.load(Ordering::SeqCst) > synced && path.exists() {
                let file = fs::OpenOptions::new().write(true).open(path)?;
                file.set_len(synced)?;
                file.sync_all()?;
            }
        }
        extents.clear();
        *self.shared.failure.lock() = None;
        self.shared.failed.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Bytes that an unprivileged process may still write below `dir`.
    pub(crate) fn free_bytes(&self, dir: &Path) -> io::Result<u64> {
        if DiskFaults::check_write(self.shared.faults.as_deref()).is_err() {
            return Ok(0);
        }
        let space = rustix::fs::statvfs(dir)?;
        Ok(space.f_bavail.saturating_mul(space.f_frsize))
    }

    fn handle(
        &self,
        path: &Path,
        inner: <DefaultFileSystem as FileSystem>::Handle,
    ) -> io::Result<DiskHandle> {
        let extent = self.shared.extent(path, inner.file_size()? as u64);
        Ok(DiskHandle { inner: Arc::new(inner), extent, shared: self.shared.clone() })
    }

    fn forget(&self, path: &Path) {
        self.shared.extents.lock().remove(path);
    }
}

impl FileSystem for Disk {
    type Handle = DiskHandle;
    type Reader = <DefaultFileSystem as FileSystem>::Reader;
    type Writer = DiskWriter;

    fn create<P: AsRef<Path>>(&self, path: P) -> io::Result<DiskHandle> {
        self.shared.check()?;
        DiskFaults::check_write(self.shared.faults.as_deref())?;
        let inner = DefaultFileSystem.create(path.as_ref())?;
        self.handle(path.as_ref(), inner)
    }

    fn open<P: AsRef<Path>>(&self, path: P, permission: Permission) -> io::Result<DiskHandle> {
        let inner = DefaultFileSystem.open(path.as_ref(), permission)?;
        self.handle(path.as_ref(), inner)
    }

    fn delete<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.shared.check()?;
        DefaultFileSystem.delete(path.as_ref())?;
        self.forget(path.as_ref());
        Ok(())
    }

    fn rename<P: AsRef<Path>>(&self, from: P, to: P) -> io::Result<()> {
        self.shared.check()?;
        DefaultFileSystem.rename(from.as_ref(), to.as_ref())?;
        self.forget(from.as_ref());
        Ok(())
    }

    fn new_reader(&self, handle: Arc<DiskHandle>) -> io::Result<Self::Reader> {
        DefaultFileSystem.new_reader(handle.inner.clone())
    }

    fn new_writer(&self, handle: Arc<DiskHandle>) -> io::Result<DiskWriter> {
        Ok(DiskWriter {
            inner: DefaultFileSystem.new_writer(handle.inner.clone())?,
            position: 0,
            extent: handle.extent.clone(),
            shared: handle.shared.clone(),
        })
    }
}

/// An open log file.
pub(crate) struct DiskHandle {
    inner: Arc<<DefaultFileSystem as FileSystem>::Handle>,
    extent: Arc<Extent>,
    shared: Arc<FaultState>,
}

impl Handle for DiskHandle {
    fn truncate(&self, offset: usize) -> io::Result<()> {
        self.shared.check()?;
        self.inner.truncate(offset)?;
        self.extent.truncate(offset as u64);
        Ok(())
    }

    fn file_size(&self) -> io::Result<usize> {
        self.inner.file_size()
    }

    /// Always succeeds; a failure is found with [`Disk::failure`].
    fn sync(&self) -> io::Result<()> {
        if self.shared.failed.load(Ordering::SeqCst) {
            return Ok(());
        }
        let written = self.extent.written.load(Ordering::SeqCst);
        let began = Instant::now();
        planted::hold_sync();
        let result = DiskFaults::check_sync(self.shared.faults.as_deref()).and_then(|()| self.inner.sync());
        self.shared.synced_ns.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        match result {
            Ok(()) => self.extent.synced.store(written, Ordering::SeqCst),
            Err(error) => self.shared.fail(format!("sync failed: {error}")),
        }
        Ok(())
    }
}

/// The append position of a log file.
pub(crate) struct DiskWriter {
    inner: <DefaultFileSystem as FileSystem>::Writer,
    position: u64,
    extent: Arc<Extent>,
    shared: Arc<FaultState>,
}

impl Write for DiskWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.shared.check()?;
        DiskFaults::check_write(self.shared.faults.as_deref())?;
        if self.position == 0 {
            // A file begins anew: new, or recycled over what an older log left in it.
            self.extent.synced.store(0, Ordering::SeqCst);
        }
        // Noted before the write, which may fail half-way.
        self.extent.written.store(self.position + bytes.len() as u64, Ordering::SeqCst);
        let written = self.inner.write(bytes)?;
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Seek for DiskWriter {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.position = self.inner.seek(position)?;
        Ok(self.position)
    }
}

impl Read for DiskWriter {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.inner.read(bytes)
    }
}

impl WriteExt for DiskWriter {
    fn truncate(&mut self, offset: usize) -> io::Result<()> {
        self.shared.check()?;
        self.inner.truncate(offset)?;
        self.position = offset as u64;
        self.extent.truncate(self.position);
        Ok(())
    }

    fn allocate(&mut self, offset: usize, size: usize) -> io::Result<()> {
        self.shared.check()?;
        DiskFaults::check_write(self.shared.faults.as_deref())?;
        self.inner.allocate(offset, size)
    }
}
