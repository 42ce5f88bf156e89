//! A state machine that records what it is given, and the set-up the tests share.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use replication::{ApplyError, Group, GroupOptions, LogOptions, LogStore, Payload, StateMachine};

/// Observations of a [`Recorder`], readable while it runs and after its end.
#[derive(Clone, Default)]
pub struct Seen {
    pub entries: Arc<Mutex<Vec<(u64, Bytes)>>>,
    pub durable: Arc<AtomicU64>,
    /// Entries that came with their number.
    pub numbered: Arc<AtomicU64>,
    pub threads: Arc<Mutex<Vec<String>>>,
    /// Whether the machine is well again and takes whatever comes.
    pub healed: Arc<AtomicBool>,
}

impl Seen {
    pub fn texts(&self) -> Vec<String> {
        self.entries.lock().iter().map(|(_, bytes)| String::from_utf8(bytes.to_vec()).unwrap()).collect()
    }

    pub fn indexes(&self) -> Vec<u64> {
        self.entries.lock().iter().map(|(index, _)| *index).collect()
    }

    pub fn machine(&self) -> Recorder {
        Recorder { seen: self.clone() }
    }

    /// Makes the state durable up to `index`, as a flush would.
    pub fn flush(&self, index: u64) {
        self.durable.store(index, Ordering::SeqCst);
    }
}

/// Refuses entries that begin with `refuse`, panics at `panic`, until it is healed.
pub struct Recorder {
    seen: Seen,
}

impl StateMachine for Recorder {
    fn apply(&mut self, index: u64, _: u64, payload: &Payload) -> Result<(), ApplyError> {
        if !self.seen.healed.load(Ordering::SeqCst) {
            if payload.bytes.starts_with(b"refuse") {
                return Err(ApplyError::new("refused"));
            }
            assert!(!payload.bytes.starts_with(b"panic"), "as asked");
        }
        if payload.number.is_some() {
            self.seen.numbered.fetch_add(1, Ordering::SeqCst);
        }
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        let mut threads = self.seen.threads.lock();
        if threads.last() != Some(&name) {
            threads.push(name);
        }
        self.seen.entries.lock().push((index, payload.bytes.clone()));
        Ok(())
    }

    fn durable_index(&self) -> u64 {
        self.seen.durable.load(Ordering::SeqCst)
    }
}

pub fn payload(text: impl Into<String>) -> Payload {
    Payload::new(Bytes::from(text.into()))
}

pub fn open(dir: &Path) -> LogStore {
    LogStore::open(dir, LogOptions::default()).unwrap()
}

pub async fn start(log: &LogStore, group: u64, seen: &Seen) -> Group {
    Group::start(group, 1, log, seen.machine(), GroupOptions::default()).await.unwrap()
}

/// Size of all files below `dir`, in bytes.
pub fn size_of(dir: &Path) -> u64 {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

/// The log files in `dir` that hold entries, oldest first.
pub fn log_files(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "raftlog"))
        .collect();
    files.sort();
    files
}
