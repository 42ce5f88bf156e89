//! State that the partition's thread shares with the rest of the broker, in parts by who writes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use protocol::{Batch, PartitionId};

use crate::answers::LateAnswers;
use crate::applied_state::AppliedState;
use crate::clock::Due;
use crate::counts::Counts;
use crate::demand::DemandRegistry;
use crate::divergence::Digests;
use crate::entered::Entered;
use crate::flush_state::FlushState;
use crate::hashes::WantedHash;
use crate::leading::Leading;
use crate::outbox_signals::OutboxSignals;
use crate::record_state::RecordState;

/// Gives the replica up, so that the broker comes back as another one at its next start.
pub type GiveUp = Box<dyn Fn() + Send + Sync>;

/// State of a partition, each part with locks of its own, if any.
pub(crate) struct PartitionState {
    pub number: PartitionId,
    /// Gives up the data of this replica: they are not those of the majority.
    pub give_up: GiveUp,
    /// Workers of this broker, and the jobs on their way to them.
    pub demand: Arc<DemandRegistry>,
    pub late: LateAnswers,
    pub due: Due,
    pub leading: Leading,
    /// Entries of this broker under way.
    pub entered: Entered,
    pub applied: AppliedState,
    pub flush: FlushState,
    pub records: RecordState,
    pub counts: Counts,
    /// Whether only the broker's own commands are taken.
    pub paused: AtomicBool,
    /// Of the state after recent entries, and whether they differ from the leader's.
    pub digests: Digests,
    /// A hash of the whole state that another broker waits for.
    pub wanted_hash: WantedHash,
    /// Senders of messages to other partitions.
    pub outbox: OutboxSignals,
}

impl PartitionState {
    /// Gives a batch the time and the engine version that its entry has.
    pub fn stamp(&self, batch: &mut Batch) {
        batch.engine_version = self.applied.engine_version();
        batch.timestamp_ms = self.due.log_time_ms();
    }

    /// Has the leader of a cluster say in a batch which state it has.
    pub fn stamp_digest(&self, batch: &mut Batch) {
        batch.digest = self.leading.leads().then(|| self.digests.announce()).flatten();
    }

    /// Whether only the broker's own commands are taken.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }
}
