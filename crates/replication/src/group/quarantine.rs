//! The time before a node takes part: others look whether it has everything that it promised them.

use std::collections::BTreeMap;

use super::Group;
use crate::acknowledged::Acknowledged;

impl Group {
    /// How far this node is, by what is durable here. It never goes back, unless its files do.
    pub fn position(&self) -> Acknowledged {
        // In this order: an entry that comes in between goes with a vote at least as late.
        let vote = self.inner.log.vote().unwrap_or_default();
        let last = self.inner.log.last().map_or(0, |id| id.index);
        Acknowledged::new(&vote, last.max(self.inner.machine.progress().applied_index()))
    }

    /// Promises of nodes, by their numbers: others to this node, and `node`, which is this one, to everybody.
    /// That is no more than what each has on disk.
    pub fn acknowledged(&self, node: u64) -> BTreeMap<u64, Acknowledged> {
        let vote = self.inner.log.vote().unwrap_or_default();
        // An applied entry was committed, and is never removed.
        let own = Acknowledged::new(&vote, self.inner.machine.progress().applied_index());
        let mut all = self.inner.log.acknowledgements().all();
        all.insert(node, own);
        all
    }

    /// Whether this node takes no part yet.
    pub fn is_quarantined(&self) -> bool {
        self.inner.is_quarantined()
    }

    /// This node takes part from now on.
    pub fn end_quarantine(&self) {
        self.inner.quarantined.send_replace(false);
        if let Ok(raft) = self.inner.raft() {
            self.inner.tell_elections(&raft);
        }
    }

    pub(super) fn check_quarantine(&self) -> Result<(), &'static str> {
        if self.is_quarantined() {
            return Err("the other nodes have not told yet whether this one has everything that it promised");
        }
        Ok(())
    }
}
