//! The begin of a log behind a state that was there before it.

use std::collections::{BTreeMap, BTreeSet};

use openraft::BasicNode;

use super::{GroupLog, PURGED, membership_key};
use crate::log::LogError;
use crate::record::{self, LogIdFact, StoredMembershipFact, log_id};
use crate::types::{Membership, StoredMembership};

impl GroupLog {
    /// Begins an empty log behind `index`, as of which all voters have the same state. Entries up to there are in no
    /// log, as if they had been purged, so that a node without this state is sent it as a snapshot.
    pub(crate) async fn begin_after(
        &self,
        index: u64,
        voters: BTreeMap<u64, BasicNode>,
    ) -> Result<(), LogError> {
        assert!(self.is_pristine(), "a log that has begun goes on");
        // As in the first entry of a log that begins without a state: nobody has led yet.
        let id = log_id(0, 0, index);
        let numbers: BTreeSet<u64> = voters.keys().copied().collect();
        let membership = Membership::new(vec![numbers], voters);
        let fact = StoredMembershipFact::of(Some(&id), &membership);
        let facts = vec![
            (PURGED.to_vec(), Some(record::encode(&LogIdFact::of(&id)))),
            (membership_key(index), Some(record::encode(&fact))),
        ];
        self.put(facts, None).await?;
        let mut state = self.lock();
        state.memberships.insert(index, StoredMembership::new(Some(id), membership));
        (state.purged, state.last) = (Some(id), Some(id));
        Ok(())
    }
}
