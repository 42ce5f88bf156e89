//! The log of one group: openraft's storage trait over the shared engine, with the recent tail in memory.
//!
//! Facts beside the entries, by key: the vote, the committed position, the last purged log id, the log id of the last
//! snapshot received, every membership still needed, what other nodes have acknowledged, and, after a conflicting
//! suffix was removed, the index the log really ends at: raft-engine cannot cut a suffix, it only overwrites one, so
//! the mark stands until the next append does that.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::ops::{Bound, RangeBounds};
use std::sync::{Arc, OnceLock};

use openraft::storage::{LogFlushed, RaftLogStorage};
use openraft::{LogState, OptionalSend, RaftLogReader};
use planted::Bug;
use tokio::sync::oneshot;

use super::cache::{Cache, cost};
use super::size::LogSize;
use super::writer::{Change, Done, LogEngine, WriterRequest, read_error};
use super::{LogError, LogStore};
use crate::acknowledged::Acknowledgements;
use crate::progress::Progress;
use crate::proposals::Proposals;
use crate::record::{self, LogIdFact, Record, StoredMembershipFact, VoteFact};
use crate::types::{
    Entry, EntryPayload, LogId, StorageError, StorageIOError, StoredMembership, TypeConfig, Vote,
};

mod base;
mod promises;
mod snapshots;

const VOTE: &[u8] = b"vote";
const COMMITTED: &[u8] = b"committed";
const PURGED: &[u8] = b"purged";
const TAIL: &[u8] = b"tail";
const SNAPSHOT: &[u8] = b"snapshot";
/// Followed by the index, big-endian.
const MEMBERSHIP: u8 = b'm';
/// Followed by the node that has acknowledged, big-endian.
const ACKNOWLEDGED: u8 = b'a';

/// Most bytes read from disk in one go for a follower.
const READ_AHEAD_BYTES: usize = 4 << 20;
/// Entries looked at to estimate the size of all.
const SAMPLES: u64 = 32;

pub(crate) struct GroupLog {
    group: u64,
    store: LogStore,
    state: Mutex<State>,
    /// An entry cannot be read, whatever the disk does.
    damage: OnceLock<String>,
    acknowledgements: Acknowledgements,
}

#[derive(Default)]
struct State {
    vote: Option<Vote>,
    /// Whether `vote` is stored without the flag that a majority has given it, too.
    vote_dirty: bool,
    committed: Option<LogId>,
    /// The committed position that was noted, if the log ends before it.
    lost: Option<u64>,
    /// Whether `committed` is newer than what is stored.
    committed_dirty: bool,
    purged: Option<LogId>,
    last: Option<LogId>,
    snapshot: Option<LogId>,
    /// Whether the mark that the log ends before what the engine holds is stored.
    tail_marked: bool,
    memberships: BTreeMap<u64, StoredMembership>,
    cache: Cache,
    size: LogSize,
}

impl GroupLog {
    pub(crate) fn load(group: u64, store: LogStore) -> Result<Self, LogError> {
        let (damage, acknowledgements) = (OnceLock::new(), Acknowledgements::default());
        let log = Self { group, store, state: Mutex::default(), damage, acknowledgements };
        log.reload()?;
        log.read_acknowledgements()?;
        Ok(log)
    }

    /// Clears the memory and reads the log's outline from the engine again. A task that waits for an entry that
    /// is only in memory learns that it is gone.
    pub(crate) fn reload(&self) -> Result<(), LogError> {
        let fresh = self.store.shared().read(self.group, |engine| State::read(engine, self.group))?;
        let mut state = self.lock();
        let acknowledged = state.committed.map(|id| id.index);
        let found = fresh.last.map(|id| id.index);
        if let Some(acknowledged) = acknowledged
            && found < Some(acknowledged)
        {
            return Err(LogError::Lost { group: self.group, acknowledged, found });
        }
        let committed = state.committed.max(fresh.committed);
        let released = state.cache.released;
        *state = fresh;
        state.committed = committed;
        state.cache.released = released;
        Ok(())
    }

    pub(crate) fn group(&self) -> u64 {
        self.group
    }

    pub(crate) fn store(&self) -> &LogStore {
        &self.store
    }

    pub(crate) fn last(&self) -> Option<LogId> {
        self.lock().last
    }

    pub(crate) fn purged(&self) -> Option<LogId> {
        self.lock().purged
    }

    pub(crate) fn committed(&self) -> Option<LogId> {
        self.lock().committed
    }

    /// The vote that is stored.
    pub(crate) fn vote(&self) -> Option<Vote> {
        self.lock().vote
    }

    /// The committed position that was noted, if the log ends before it.
    pub(crate) fn lost(&self) -> Option<u64> {
        self.lock().lost
    }

    /// The first of the newest entries that take no more than so many bytes together, by estimate.
    pub(crate) fn first_within(&self, limit_bytes: u64) -> u64 {
        self.lock().size.first_within(limit_bytes)
    }

    /// Whether the group has neither voted nor logged anything.
    pub(crate) fn is_pristine(&self) -> bool {
        let state = self.lock();
        state.vote.is_none() && state.last.is_none()
    }

    /// Whether `node` alone makes up every quorum, so that whatever is durable here is committed.
    pub(crate) fn is_sole_voter(&self, node: u64) -> bool {
        self.lock().is_sole_voter(node)
    }

    /// The membership in force at `index`.
    pub(crate) fn membership_at(&self, index: u64) -> StoredMembership {
        let state = self.lock();
        state.memberships.range(..=index).next_back().map(|(_, stored)| stored.clone()).unwrap_or_default()
    }

    /// The id of the entry at `index`, if it is in the log, is the last purged one or ends the last snapshot.
    pub(crate) fn log_id_at(&self, index: u64) -> Result<Option<LogId>, LogError> {
        {
            let state = self.lock();
            for known in [state.purged, state.last, state.snapshot].into_iter().flatten() {
                if known.index == index {
                    return Ok(Some(known));
                }
            }
        }
        Ok(self.entries(index, index + 1, usize::MAX)?.pop().map(|entry| entry.log_id))
    }

    /// The payload of an entry; `None` if there is none at this index, or one of the log's own.
    pub(crate) fn payload(&self, index: u64) -> Result<Option<bytes::Bytes>, LogError> {
        let found = self.entries(index, index.saturating_add(1), usize::MAX)?.pop();
        Ok(found.and_then(|entry| match entry.payload {
            EntryPayload::Normal(proposal) => Some(proposal.payload.bytes),
            EntryPayload::Blank | EntryPayload::Membership(_) => None,
        }))
    }

    /// Lets go of everyone who waits for an entry that is not applied: nobody will apply it soon.
    pub(crate) fn abandon(&self) {
        for entry in &mut self.lock().cache.entries {
            if let EntryPayload::Normal(proposal) = &mut entry.payload {
                proposal.completion = None;
            }
        }
    }

    /// Tells that entries up to `index` are applied.
    pub(crate) fn release(&self, index: u64) {
        let limit_bytes = self.store.shared().options.cached_bytes_per_group;
        self.lock().cache.release(index, limit_bytes);
    }

    /// Entries from `start` up to but without `end`, no more than `limit_bytes` of them from disk but at least one.
    fn entries(&self, start: u64, end: u64, limit_bytes: usize) -> Result<Vec<Entry>, LogError> {
        let (mut found, on_disk) = {
            let state = self.lock();
            let end = end.min(state.last.map_or(0, |id| id.index + 1));
            let start = start.max(state.purged.map_or(0, |id| id.index + 1));
            if start >= end {
                return Ok(Vec::new());
            }
            let cached = state.cache.first().unwrap_or(end).clamp(start, end);
            let skipped = state.cache.first().map_or(0, |first| cached.saturating_sub(first)) as usize;
            let tail: Vec<Entry> =
                state.cache.entries.iter().skip(skipped).take((end - cached) as usize).cloned().collect();
            (tail, start..cached)
        };
        if on_disk.is_empty() {
            return Ok(found);
        }
        let limit = (limit_bytes != usize::MAX).then_some(limit_bytes);
        let read = self.store.shared().read(self.group, |engine| {
            let mut records: Vec<Record> = Vec::new();
            let start = engine.first_index(self.group).map_or(on_disk.end, |first| first.max(on_disk.start));
            if start >= on_disk.end {
                return Ok(Vec::new());
            }
            engine
                .fetch_entries_to::<Record>(self.group, start, on_disk.end, limit, &mut records)
                .map_err(|error| read_error(&error))?;
            records.into_iter().map(Record::into_entry).collect::<io::Result<Vec<Entry>>>()
        });
        if let Err(LogError::Damaged(damage)) = &read {
            self.damage.get_or_init(|| damage.clone());
        }
        let mut entries = read?;
        if entries.last().is_none_or(|entry| entry.log_id.index + 1 == on_disk.end) {
            entries.append(&mut found);
        }
        Ok(entries)
    }

    /// Why an entry cannot be read, whatever the disk does.
    pub(crate) fn damage(&self) -> Option<String> {
        self.damage.get().cloned()
    }

    async fn put(
        &self,
        facts: Vec<(Vec<u8>, Option<Vec<u8>>)>,
        compact_to: Option<u64>,
    ) -> Result<(), LogError> {
        let (reply, answer) = oneshot::channel();
        let change = Change { group: self.group, records: Vec::new(), facts, compact_to };
        self.store.send(WriterRequest::Change(change, Done::Reply(reply))).await?;
        answer.await.map_err(|_| LogError::Closed)?
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn is_sole_voter(&self, node: u64) -> bool {
        self.memberships.values().next_back().is_some_and(|stored| {
            let voters = stored.membership().get_joint_config();
            !voters.is_empty() && voters.iter().all(|set| set.len() == 1 && set.contains(&node))
        })
    }

    fn read(engine: &LogEngine, group: u64) -> io::Result<Self> {
        let id = |key: &[u8]| -> io::Result<Option<LogId>> {
            engine
                .get(group, key)
                .map(|bytes| record::decode::<LogIdFact>(&bytes).map(LogIdFact::log_id))
                .transpose()
        };
        let vote = engine.get(group, VOTE).map(|bytes| record::decode::<VoteFact>(&bytes)).transpose()?;
        let purged = id(PURGED)?;
        let tail = engine.get(group, TAIL).map(|bytes| record::decode::<u64>(&bytes)).transpose()?;
        let end = match (engine.last_index(group), tail) {
            // The mark holds the first index that no longer counts.
            (Some(last), Some(tail)) => (last + 1).min(tail),
            (Some(last), None) => last + 1,
            (None, _) => 0,
        };
        let last = if end > purged.map_or(0, |id| id.index + 1) {
            let entry = engine
                .get_entry::<Record>(group, end - 1)
                .map_err(|error| read_error(&error))?
                .ok_or_else(|| record::corrupt(format!("the last entry {} is missing", end - 1)))?;
            Some(entry.log_id())
        } else {
            purged
        };
        let mut memberships = BTreeMap::new();
        let mut broken = None;
        engine
            .scan_raw_messages(group, Some(&[MEMBERSHIP]), Some(&[MEMBERSHIP + 1]), false, |key, value| {
                let index = key.get(1..).and_then(|index| index.try_into().ok()).map(u64::from_be_bytes);
                match (index, record::decode::<StoredMembershipFact>(value)) {
                    (Some(index), Ok(fact)) => drop(memberships.insert(index, fact.into_stored())),
                    (None, _) => broken = Some(record::corrupt("a membership has no index".to_owned())),
                    (_, Err(error)) => broken = Some(error),
                }
                broken.is_none()
            })
            .map_err(|error| read_error(&error))?;
        if let Some(error) = broken {
            return Err(error);
        }
        let committed = id(COMMITTED)?;
        Ok(Self {
            vote: vote.map(VoteFact::vote),
            vote_dirty: false,
            committed: committed.min(last),
            lost: committed
                .filter(|committed| Some(committed.index) > last.map(|id| id.index))
                .map(|id| id.index),
            committed_dirty: false,
            purged,
            last,
            snapshot: id(SNAPSHOT)?,
            tail_marked: tail.is_some(),
            memberships,
            cache: Cache::default(),
            size: estimate(engine, group, purged.map_or(0, |id| id.index + 1), end)?,
        })
    }
}

/// The size of the entries of an earlier life, from some of them.
fn estimate(engine: &LogEngine, group: u64, first: u64, end: u64) -> io::Result<LogSize> {
    let mut size = LogSize::default();
    let first = engine.first_index(group).map_or(end, |found| found.max(first));
    if first >= end {
        return Ok(size);
    }
    let (mut seen, mut bytes) = (0, 0);
    for index in (first..end).step_by(usize::try_from((end - first).div_ceil(SAMPLES)).unwrap_or(usize::MAX))
    {
        let entry = engine.get_entry::<Record>(group, index);
        if let Some(record) = entry.map_err(|error| read_error(&error))? {
            bytes += cost(&record.into_entry()?) as u64;
            seen += 1;
        }
    }
    size.push(first, end - first, bytes / seen.max(1) * (end - first));
    Ok(size)
}

fn membership_key(index: u64) -> Vec<u8> {
    let mut key = vec![MEMBERSHIP];
    key.extend_from_slice(&index.to_be_bytes());
    key
}

/// Openraft's handle on the log of one group, acting for one node.
#[derive(Clone)]
pub(crate) struct LogHandle {
    log: Arc<GroupLog>,
    node: u64,
    proposals: Arc<Proposals>,
    /// Of the state machine.
    progress: Arc<Progress>,
}

impl LogHandle {
    pub(crate) fn new(
        log: Arc<GroupLog>,
        node: u64,
        proposals: Arc<Proposals>,
        progress: Arc<Progress>,
    ) -> Self {
        Self { log, node, proposals, progress }
    }
}

fn bounds(range: &impl RangeBounds<u64>) -> (u64, u64) {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(start) => start + 1,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(end) => end + 1,
        Bound::Excluded(end) => *end,
        Bound::Unbounded => u64::MAX,
    };
    (start, end)
}

fn reading(error: LogError) -> StorageError {
    StorageIOError::read_logs(openraft::AnyError::new(&error)).into()
}

fn writing(error: LogError) -> StorageError {
    StorageIOError::write_logs(openraft::AnyError::new(&error)).into()
}

impl RaftLogReader<TypeConfig> for LogHandle {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: RB,
    ) -> Result<Vec<Entry>, StorageError> {
        let (start, end) = bounds(&range);
        self.log.entries(start, end, usize::MAX).map_err(reading)
    }

    async fn limited_get_log_entries(&mut self, start: u64, end: u64) -> Result<Vec<Entry>, StorageError> {
        self.log.entries(start, end, READ_AHEAD_BYTES).map_err(reading)
    }
}

impl RaftLogStorage<TypeConfig> for LogHandle {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> Result<LogState<TypeConfig>, StorageError> {
        let state = self.log.lock();
        Ok(LogState { last_purged_log_id: state.purged, last_log_id: state.last })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    /// That a majority has given a vote is written with the next entry, the first one of the leader: the vote itself is
    /// all that this node has promised, and without the flag it only takes nobody for the leader until it hears of one.
    async fn save_vote(&mut self, vote: &Vote) -> Result<(), StorageError> {
        let fact = record::encode(&VoteFact::of(vote));
        {
            let mut state = self.log.lock();
            let is_known = |known: &Vote| known.leader_id() == vote.leader_id();
            if vote.committed && state.vote.as_ref().is_some_and(is_known) {
                state.vote_dirty |= state.vote.as_ref() != Some(vote);
                state.vote = Some(*vote);
                return Ok(());
            }
        }
        if !planted::has(Bug::ForgottenVote) {
            self.log.put(vec![(VOTE.to_vec(), Some(fact))], None).await.map_err(writing)?;
        }
        let mut state = self.log.lock();
        (state.vote, state.vote_dirty) = (Some(*vote), false);
        Ok(())
    }

    /// The vote, as that of a node that does not lead.
    ///
    /// openraft lets a node that led before a restart lead on, in the same term. That is wrong twice: it would serve
    /// reads before it knows what was committed, and write other entries at the places of those that others had synced
    /// earlier than itself, and that were lost here. A sole voter has no others.
    async fn read_vote(&mut self) -> Result<Option<Vote>, StorageError> {
        let vote = self.log.lock().vote;
        let leads_alone = self.log.is_sole_voter(self.node) || planted::has(Bug::LeadsOn);
        let as_candidate = |vote: Vote| Vote { committed: vote.committed && leads_alone, ..vote };
        let is_own = |vote: &Vote| vote.leader_id().voted_for() == Some(self.node);
        Ok(vote.map(|vote| if is_own(&vote) { as_candidate(vote) } else { vote }))
    }

    async fn save_committed(&mut self, committed: Option<LogId>) -> Result<(), StorageError> {
        // Written with the next append: it only spares followers some waiting after a restart.
        let mut state = self.log.lock();
        state.committed_dirty |= state.committed != committed;
        state.committed = committed;
        Ok(())
    }

    async fn read_committed(&mut self) -> Result<Option<LogId>, StorageError> {
        if self.log.is_sole_voter(self.node) {
            return Ok(self.log.last());
        }
        Ok(self.log.committed())
    }

    async fn append<I>(&mut self, entries: I, callback: LogFlushed<TypeConfig>) -> Result<(), StorageError>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut facts = Vec::new();
        let mut records = Vec::new();
        let alone = {
            let mut state = self.log.lock();
            for entry in entries {
                records.push(Record::of(&entry));
                if let EntryPayload::Membership(membership) = &entry.payload {
                    let fact = StoredMembershipFact::of(Some(&entry.log_id), membership);
                    facts.push((membership_key(entry.log_id.index), Some(record::encode(&fact))));
                    let stored = StoredMembership::new(Some(entry.log_id), membership.clone());
                    state.memberships.insert(entry.log_id.index, stored);
                }
                state.last = Some(entry.log_id);
                state.size.push(entry.log_id.index, 1, cost(&entry) as u64);
                state.cache.push(entry);
            }
            if state.tail_marked && !records.is_empty() {
                state.tail_marked = false;
                facts.push((TAIL.to_vec(), None));
            }
            if std::mem::take(&mut state.vote_dirty) && !planted::has(Bug::ForgottenVote) {
                facts.extend(
                    state.vote.map(|vote| (VOTE.to_vec(), Some(record::encode(&VoteFact::of(&vote))))),
                );
            }
            let alone = state.is_sole_voter(self.node);
            // A sole voter's log is committed as far as it goes.
            if let (true, Some(committed), false) = (state.committed_dirty, state.committed, alone) {
                state.committed_dirty = false;
                facts.push((COMMITTED.to_vec(), Some(record::encode(&LogIdFact::of(&committed)))));
            }
            alone
        };
        facts.extend(self.log.new_acknowledgements());
        let change = Change { group: self.log.group, records, facts, compact_to: None };
        if alone && self.proposals.are_single() && !planted::has(Bug::EarlyAcknowledgement) {
            // openraft's core waits for the sync in any case; another thread would be woken for nothing.
            self.log.store.write_here(change, Done::Flushed(callback));
            return Ok(());
        }
        if planted::has(Bug::EarlyAcknowledgement) {
            callback.log_io_completed(Ok(()));
            let (done, _) = tokio::sync::oneshot::channel();
            return self
                .log
                .store
                .send(WriterRequest::Change(change, Done::Reply(done)))
                .await
                .map_err(writing);
        }
        self.log.store.send(WriterRequest::Change(change, Done::Flushed(callback))).await.map_err(writing)
    }

    async fn truncate(&mut self, log_id: LogId) -> Result<(), StorageError> {
        if planted::has(Bug::ForgottenTruncation) {
            return Ok(());
        }
        if let Some(committed) = self.log.committed().filter(|committed| committed.index >= log_id.index) {
            // The voters of the leader have lost it: the files here are the last that have it.
            let reason = format!(
                "the leader has another entry {} than this node, which knows the entries up to {} as committed",
                log_id.index, committed.index
            );
            self.log.damage.get_or_init(|| reason.clone());
            return Err(writing(LogError::Damaged(reason)));
        }
        let before = log_id.index.checked_sub(1);
        let previous = match before {
            Some(index) => self.log.log_id_at(index).map_err(reading)?,
            None => None,
        };
        let mut facts = vec![(TAIL.to_vec(), Some(record::encode(&log_id.index)))];
        {
            let mut state = self.log.lock();
            let dropped = state.memberships.split_off(&log_id.index);
            facts.extend(dropped.into_keys().map(|index| (membership_key(index), None)));
            state.cache.truncate(log_id.index);
            state.size.truncate(log_id.index);
            state.last = previous;
            state.tail_marked = true;
        }
        self.log.put(facts, None).await.map_err(writing)
    }

    async fn purge(&mut self, log_id: LogId) -> Result<(), StorageError> {
        // openraft purges as soon as it has ordered a snapshot to be installed. A crash before that is done must find
        // the log that belongs to the old state.
        if !self.progress.reaches(log_id.index).await {
            let reason = format!("the snapshot as of entry {} is not installed", log_id.index);
            return Err(StorageIOError::write_logs(openraft::AnyError::error(reason)).into());
        }
        let mut facts = vec![(PURGED.to_vec(), Some(record::encode(&LogIdFact::of(&log_id))))];
        {
            let mut state = self.log.lock();
            // The newest membership at or before the purged entry is still in force.
            let kept = state.memberships.range(..=log_id.index).next_back().map_or(0, |(index, _)| *index);
            let rest = state.memberships.split_off(&kept);
            let stale = std::mem::replace(&mut state.memberships, rest);
            facts.extend(stale.into_keys().map(|index| (membership_key(index), None)));
            state.cache.release(log_id.index, 0);
            state.size.purge(log_id.index);
            while let Some(entry) =
                state.cache.entries.pop_front_if(|entry| entry.log_id.index <= log_id.index)
            {
                state.cache.bytes -= cost(&entry);
            }
            debug_assert!(state.purged <= Some(log_id), "purges go forward");
            state.purged = state.purged.max(Some(log_id));
            state.last = state.last.max(Some(log_id));
        }
        self.log.put(facts, Some(log_id.index + 1)).await.map_err(writing)?;
        self.log.store.send(WriterRequest::Purge).await.map_err(writing)
    }
}
