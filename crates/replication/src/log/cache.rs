//! The newest entries of a log in memory.

use std::collections::VecDeque;

use crate::types::{Entry, EntryPayload};

/// Bytes of an entry in memory beside its payload, for the account.
const ENTRY_OVERHEAD_BYTES: usize = 128;

/// The newest entries, without gaps, up to the last one.
#[derive(Default)]
pub(super) struct Cache {
    pub entries: VecDeque<Entry>,
    pub bytes: usize,
    /// Entries up to here are applied and may leave.
    pub released: u64,
}

impl Cache {
    pub fn first(&self) -> Option<u64> {
        self.entries.front().map(|entry| entry.log_id.index)
    }

    pub fn push(&mut self, entry: Entry) {
        self.bytes += cost(&entry);
        self.entries.push_back(entry);
    }

    pub fn truncate(&mut self, since: u64) {
        while let Some(entry) = self.entries.pop_back_if(|entry| entry.log_id.index >= since) {
            self.bytes -= cost(&entry);
        }
    }

    /// Lets go of what only the apply path needed, and of the oldest applied entries beyond the limit.
    pub fn release(&mut self, upto: u64, limit_bytes: usize) {
        let Some(first) = self.first() else {
            self.released = self.released.max(upto);
            return;
        };
        for index in self.released.saturating_add(1).max(first)..=upto {
            let Some(entry) = self.entries.get_mut((index - first) as usize) else { break };
            if let EntryPayload::Normal(proposal) = &mut entry.payload {
                proposal.payload.number = None;
                proposal.completion = None;
            }
        }
        self.released = self.released.max(upto);
        while self.bytes > limit_bytes {
            let released = self.released;
            let Some(entry) = self.entries.pop_front_if(|entry| entry.log_id.index <= released) else {
                break;
            };
            self.bytes -= cost(&entry);
        }
    }
}

pub(super) fn cost(entry: &Entry) -> usize {
    let payload = match &entry.payload {
        EntryPayload::Normal(proposal) => proposal.payload.bytes.len(),
        EntryPayload::Blank | EntryPayload::Membership(_) => 0,
    };
    payload + ENTRY_OVERHEAD_BYTES
}
