//! Replicas that differ: each compares digests of its state with those that the leader puts into its batches.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::Engine;
use parking_lot::Mutex;
use protocol::{BatchDigest, ENGINE_VERSION};

/// Digests that are kept: a batch of the leader is applied within so many entries after the one that it speaks of.
const DIGESTS_KEPT: usize = 1024;
/// Every so many entries, the number of rows of each table is part of the digest.
const ROWS_EVERY: u64 = 256;

/// The release, and the version of the engine: both say which counters there are.
fn form() -> u64 {
    let release = env!("CARGO_PKG_VERSION").bytes();
    release.fold(u64::from(ENGINE_VERSION), |form, byte| form.wrapping_mul(31).wrapping_add(u64::from(byte)))
}

/// Digests of the state after recent entries.
#[derive(Default)]
pub(crate) struct Digests(Mutex<Recent>, AtomicBool);

#[derive(Default)]
struct Recent {
    kept: VecDeque<BatchDigest>,
    /// One with the number of rows that was not announced yet.
    with_rows: Option<BatchDigest>,
    difference: Option<String>,
}

impl Digests {
    /// The entry at `index` was applied.
    pub fn note(&self, index: u64, engine: &Engine) {
        let with_rows = index.is_multiple_of(ROWS_EVERY);
        // State that cannot be read has no digest; the next batch that needs it fails for that reason.
        if let Ok(value) = engine.digest(with_rows) {
            self.0.lock().push(BatchDigest { index, value, form: form() }, with_rows);
        }
    }

    /// The digest for the next batch of the leader.
    pub fn announce(&self) -> Option<BatchDigest> {
        let mut recent = self.0.lock();
        recent.with_rows.take().or_else(|| recent.kept.back().copied())
    }

    /// Compares a digest of the leader with that of this replica, if it still has one. An error is final: this
    /// replica must apply nothing more, so that its files show the difference.
    pub fn compare(&self, digest: Option<BatchDigest>) -> Result<(), String> {
        let mut recent = self.0.lock();
        if let Some(reason) = &recent.difference {
            return Err(reason.clone());
        }
        let Some(digest) = digest.filter(|digest| digest.form == form()) else { return Ok(()) };
        let Ok(place) = recent.kept.binary_search_by_key(&digest.index, |own| own.index) else {
            return Ok(());
        };
        let own = recent.kept[place].value;
        if own == digest.value {
            return Ok(());
        }
        let reason = format!(
            "the state of this replica differs from the leader's at log index {}: digest {own:016x}, not {:016x}",
            digest.index, digest.value
        );
        recent.difference = Some(reason.clone());
        drop(recent);
        diverged(&reason);
        Err(reason)
    }

    /// Another state took the place of the one that the digests are of.
    pub fn clear(&self) {
        *self.0.lock() = Recent::default();
    }

    /// Plants a difference: commands of another broker are left out, once.
    pub fn plant(&self) {
        self.1.store(true, Ordering::Release);
    }

    /// Whether commands are to be left out.
    pub fn take_planted(&self) -> bool {
        self.1.load(Ordering::Acquire) && self.1.swap(false, Ordering::AcqRel)
    }

    /// The difference that was found, if one was.
    pub fn difference(&self) -> Option<String> {
        self.0.lock().difference.clone()
    }
}

impl Recent {
    fn push(&mut self, digest: BatchDigest, with_rows: bool) {
        debug_assert!(self.kept.back().is_none_or(|last| last.index < digest.index), "indexes only grow");
        if self.kept.len() == DIGESTS_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(digest);
        if with_rows {
            self.with_rows = Some(digest);
        }
    }
}

/// Raises the alarm. The error that follows stops the replica, which leaves its files as they are.
fn diverged(reason: &str) {
    tracing::error!(
        partition = 1,
        reason,
        "this replica differs; it stops, and its files are left as they are"
    );
}
