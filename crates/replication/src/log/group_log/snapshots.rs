//! Snapshots of other nodes that take the place of a log.

use super::{GroupLog, SNAPSHOT, membership_key};
use crate::log::LogError;
use crate::record::{self, LogIdFact, StoredMembershipFact};
use crate::types::{EntryPayload, LogId, ProposeError, StoredMembership};

impl GroupLog {
    /// Records that a snapshot takes the place of the log up to `last`, before the state machine installs it.
    pub(crate) async fn note_snapshot(
        &self,
        last: LogId,
        membership: &StoredMembership,
    ) -> Result<(), LogError> {
        let mut facts = vec![(SNAPSHOT.to_vec(), Some(record::encode(&LogIdFact::of(&last))))];
        if let Some(at) = membership.log_id() {
            let fact = StoredMembershipFact::of(Some(at), membership.membership());
            facts.push((membership_key(at.index), Some(record::encode(&fact))));
        }
        {
            let mut state = self.lock();
            state.snapshot = Some(last);
            if let Some(at) = membership.log_id() {
                // Later ones that the snapshot does not have were never committed.
                let within = at.index..=last.index.max(at.index);
                let lost = state.memberships.extract_if(within, |index, _| *index > at.index);
                facts.extend(lost.map(|(index, _)| (membership_key(index), None)));
                state.memberships.insert(at.index, membership.clone());
            }
        }
        self.put(facts, None).await
    }

    /// Answers everyone who waits for an entry up to `index`, in whose place the state has a snapshot now: openraft
    /// answers only when it applies an entry or removes it.
    pub(crate) fn supersede(&self, index: u64) {
        let mut state = self.lock();
        for entry in state.cache.entries.iter_mut().take_while(|entry| entry.log_id.index <= index) {
            if let EntryPayload::Normal(proposal) = &mut entry.payload
                && let Some(completion) = proposal.completion.take()
            {
                completion.complete(Err(ProposeError::Superseded));
            }
        }
    }
}
