//! Access to the bytes of the database that outlives one opening of it.
//!
//! redb refuses all work after the first failed read or write, until the database is opened anew. [`Gate`] makes that
//! possible without letting go of the file and its lock: each opening gets its own gate to the same storage, and a
//! shut gate lets nothing through, so a late write of an abandoned opening cannot reach the file.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use redb::StorageBackend;

/// One opening's access to the storage.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    storage: Arc<dyn StorageBackend>,
    shut: Arc<AtomicBool>,
}

impl Gate {
    pub(crate) fn new(storage: Arc<dyn StorageBackend>) -> Self {
        Self { storage, shut: Arc::new(AtomicBool::new(false)) }
    }

    /// Lets nothing through from now on.
    pub(crate) fn shut(&self) {
        self.shut.store(true, Ordering::Release);
    }

    fn open(&self) -> io::Result<&dyn StorageBackend> {
        if self.shut.load(Ordering::Acquire) {
            Err(io::Error::other("this opening of the database was abandoned after an error"))
        } else {
            Ok(self.storage.as_ref())
        }
    }
}

// Locks are taken once by the store, and `close` must leave the storage open for the next opening.
impl StorageBackend for Gate {
    fn len(&self) -> io::Result<u64> {
        self.open()?.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.open()?.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.open()?.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.open()?.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.open()?.write(offset, data)
    }
}
