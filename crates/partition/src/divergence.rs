//! Replicas that differ: each compares digests of its state with those that the leader puts into its batches.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::Engine;
use parking_lot::Mutex;
use protocol::{BatchDigest, ENGINE_VERSION, PartitionId};

/// Digests that are kept: a batch of the leader is applied within that many entries after the one that it speaks of.
const DIGESTS_KEPT: usize = 1024;
/// Interval of entries at which the digest covers the number of rows of each table.
const ROWS_EVERY: u64 = 256;

/// The release, and the version of the engine: both say which counters there are.
fn form() -> u64 {
    let release = env!("CARGO_PKG_VERSION").bytes();
    release.fold(u64::from(ENGINE_VERSION), |form, byte| form.wrapping_mul(31).wrapping_add(u64::from(byte)))
}

/// Digests of the state after recent entries.
pub struct Digests {
    partition: PartitionId,
    recent: Mutex<Recent>,
    ask: OnceLock<Ask>,
    /// Planted by a test: commands to leave out, and digests that are wrong.
    leaves_out: AtomicBool,
    is_wrong: AtomicBool,
}

type Ask = Box<dyn Fn(u64, u64, u64) -> DigestVerdict + Send + Sync>;

/// The judgement of the others about a replica that differs from the leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestVerdict {
    /// The majority has the digest of this replica.
    Right,
    /// It has that of the leader.
    Wrong,
    /// Neither has a majority among those that tell. The replica goes on, since it may be the leader that is wrong, and
    /// asks again: with its end its digests would be gone, by which others find out.
    Open,
}

impl DigestVerdict {
    /// The verdict of so many replicas, this one and the leader included.
    pub fn of(replicas: usize, own: u64, of_leader: u64, digests: &[u64]) -> Self {
        let has_majority = |digest: u64| digests.iter().filter(|of| **of == digest).count() * 2 > replicas;
        match (has_majority(own), has_majority(of_leader)) {
            (true, _) => Self::Right,
            (_, true) => Self::Wrong,
            _ => Self::Open,
        }
    }
}

#[derive(Default)]
struct Recent {
    kept: VecDeque<BatchDigest>,
    /// One with the number of rows that was not announced yet.
    with_rows: Option<BatchDigest>,
    difference: Option<String>,
}

impl Digests {
    /// Of a partition.
    pub(crate) fn new(partition: PartitionId) -> Self {
        Self {
            partition,
            recent: Mutex::default(),
            ask: OnceLock::new(),
            leaves_out: AtomicBool::new(false),
            is_wrong: AtomicBool::new(false),
        }
    }

    /// Number of the partition.
    pub fn partition(&self) -> PartitionId {
        self.partition
    }

    /// Notes the digest after the entry at `index`.
    pub fn note(&self, index: u64, engine: &Engine) {
        let with_rows = index.is_multiple_of(ROWS_EVERY);
        // State that cannot be read has no digest; the next batch that needs it fails for that reason.
        if let Ok(value) = engine.digest(with_rows) {
            let value = if self.is_wrong.load(Ordering::Relaxed) { !value } else { value };
            self.recent.lock().push(BatchDigest { index, value, form: form() }, with_rows);
        }
    }

    /// The digest for the next batch of the leader.
    pub fn announce(&self) -> Option<BatchDigest> {
        let mut recent = self.recent.lock();
        recent.with_rows.take().or_else(|| recent.kept.back().copied())
    }

    /// Compares a digest of the leader with that of this replica, if it still has one. The others decide who is right.
    /// An error, the reason, is final: this replica must apply nothing more, so that its files show the difference.
    pub fn compare(&self, digest: Option<BatchDigest>) -> Result<(), String> {
        let recent = self.recent.lock();
        if let Some(reason) = &recent.difference {
            return Err(reason.clone());
        }
        let Some(digest) = digest.filter(|digest| digest.form == form()) else { return Ok(()) };
        let Some(own) = recent.at(digest.index).filter(|own| *own != digest.value) else { return Ok(()) };
        drop(recent);
        let verdict = self.ask.get().map_or(DigestVerdict::Open, |ask| ask(digest.index, own, digest.value));
        if verdict != DigestVerdict::Wrong {
            return Ok(());
        }
        let reason = format!(
            "the state of this replica differs from the leader's at log index {}: digest {own:016x}, not {:016x}",
            digest.index, digest.value
        );
        self.set_difference(&reason);
        Err(reason)
    }

    /// The digest of this replica after an entry, if it still has it.
    pub fn at(&self, index: u64) -> Option<u64> {
        self.recent.lock().at(index)
    }

    /// Whether later entries were applied, so that a digest of `index` that is missing never comes.
    pub fn is_past(&self, index: u64) -> bool {
        self.recent.lock().kept.back().is_some_and(|last| last.index > index)
    }

    /// Tells how the others are asked who is right: with the index of the entry, the digest of this replica and that of
    /// the leader. It may block.
    pub fn ask_with(&self, ask: impl Fn(u64, u64, u64) -> DigestVerdict + Send + Sync + 'static) {
        assert!(self.ask.set(Box::new(ask)).is_ok(), "there is one way to the others");
    }

    /// Notes that a comparison of whole states found a difference: the next entry is not applied.
    pub fn set_difference(&self, reason: &str) {
        self.recent.lock().difference.get_or_insert_with(|| reason.to_owned());
        diverged(self.partition, reason);
    }

    /// Forgets all digests, since another state took the place of theirs.
    pub fn clear(&self) {
        *self.recent.lock() = Recent::default();
    }

    /// Plants a difference: commands of another broker are left out, once.
    pub fn plant(&self) {
        self.leaves_out.store(true, Ordering::Release);
    }

    /// Plants wrong digests of a right state, from now on.
    pub fn plant_wrong(&self) {
        self.is_wrong.store(true, Ordering::Relaxed);
    }

    /// Whether commands are to be left out.
    pub fn take_planted(&self) -> bool {
        self.leaves_out.load(Ordering::Acquire) && self.leaves_out.swap(false, Ordering::AcqRel)
    }

    /// The difference that was found, if one was.
    pub fn difference(&self) -> Option<String> {
        self.recent.lock().difference.clone()
    }
}

impl Recent {
    fn at(&self, index: u64) -> Option<u64> {
        let place = self.kept.binary_search_by_key(&index, |own| own.index).ok()?;
        Some(self.kept[place].value)
    }

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
fn diverged(partition: PartitionId, reason: &str) {
    tracing::error!(partition, reason, "this replica differs; it stops, and its files are left as they are");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_majority_of_all_replicas_decides() {
        let of = |replicas, digests: &[u64]| DigestVerdict::of(replicas, 1, 2, digests);
        assert_eq!(of(3, &[1, 2, 1]), DigestVerdict::Right);
        assert_eq!(of(3, &[1, 2, 2]), DigestVerdict::Wrong);
        assert_eq!(of(3, &[1, 2]), DigestVerdict::Open, "the third does not tell");
        assert_eq!(of(3, &[1, 2, 3]), DigestVerdict::Open);
        assert_eq!(of(5, &[1, 2, 2, 1]), DigestVerdict::Open);
    }

    #[test]
    fn a_digest_that_is_gone_is_not_waited_for() {
        let digests = Digests::new(1);
        assert!(!digests.is_past(7), "it may come");
        let digest = |index| BatchDigest { index, value: 1, form: form() };
        digests.recent.lock().push(digest(8), false);
        assert!(digests.is_past(7) && digests.at(7).is_none());
        assert!(!digests.is_past(8) && digests.at(8).is_some());
        assert!(!digests.is_past(9));
    }
}
