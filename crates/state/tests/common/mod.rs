//! A disk that can be told to fail, and whose content can be copied at any moment.

#![allow(dead_code)]

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;
use state::StorageBackend;

/// Answers of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Healthy,
    /// After so many more writes, size changes and syncs, they fail.
    FailingAfter(u64),
    /// Nothing beyond that size can be written.
    FullAt(u64),
    /// Nothing can be read or written.
    Dead,
}

#[derive(Debug)]
pub(crate) struct Disk {
    bytes: Mutex<Vec<u8>>,
    /// As of the last sync.
    synced: Mutex<Vec<u8>>,
    mood: Mutex<Mood>,
    pub(crate) writes: AtomicU64,
    pub(crate) reads: AtomicU64,
}

impl Disk {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self {
            synced: Mutex::new(bytes.clone()),
            bytes: Mutex::new(bytes),
            mood: Mutex::new(Mood::Healthy),
            writes: AtomicU64::new(0),
            reads: AtomicU64::new(0),
        }
    }

    pub(crate) fn set(&self, mood: Mood) {
        *self.mood.lock() = mood;
    }

    /// Content after a crash of the process.
    pub(crate) fn copy(&self) -> Vec<u8> {
        self.bytes.lock().clone()
    }

    /// Content after a power failure, at worst.
    pub(crate) fn synced(&self) -> Vec<u8> {
        self.synced.lock().clone()
    }

    fn change(&self, end: u64) -> io::Result<()> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        let mut mood = self.mood.lock();
        match &mut *mood {
            Mood::FailingAfter(0) => Err(io::Error::other("the disk fails")),
            Mood::FailingAfter(left) => {
                *left -= 1;
                Ok(())
            }
            Mood::FullAt(len) if end > *len => Err(io::Error::from(io::ErrorKind::StorageFull)),
            Mood::Healthy | Mood::FullAt(_) => Ok(()),
            Mood::Dead => Err(io::Error::other("the disk is dead")),
        }
    }
}

/// To hand over an `Arc` of the disk and keep one.
#[derive(Debug, Clone)]
pub(crate) struct Handle(pub(crate) std::sync::Arc<Disk>);

impl StorageBackend for Handle {
    fn len(&self) -> io::Result<u64> {
        if *self.0.mood.lock() == Mood::Dead {
            return Err(io::Error::other("the disk is dead"));
        }
        Ok(self.0.bytes.lock().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.reads.fetch_add(1, Ordering::Relaxed);
        if *self.0.mood.lock() == Mood::Dead {
            return Err(io::Error::other("the disk is dead"));
        }
        let bytes = self.0.bytes.lock();
        let start = usize::try_from(offset).unwrap();
        let part = bytes.get(start..start + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(part);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.change(len)?;
        self.0.bytes.lock().resize(usize::try_from(len).unwrap(), 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.change(0)?;
        let bytes = self.0.bytes.lock();
        self.0.synced.lock().clone_from(&bytes);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.change(offset + data.len() as u64)?;
        let mut bytes = self.0.bytes.lock();
        let start = usize::try_from(offset).unwrap();
        bytes[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }
}
