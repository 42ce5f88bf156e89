//! openraft's own test suite for log stores run on ours, and ours against a model.

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use openraft::storage::{RaftLogStorage, RaftLogStorageExt, RaftStateMachine};
use openraft::testing::{StoreBuilder, Suite};
use openraft::{OptionalSend, RaftLogReader, RaftSnapshotBuilder, Snapshot, SnapshotMeta};
use proptest::prelude::*;
use tempfile::TempDir;

use super::{GroupLog, LogHandle, LogOptions, LogStore};
use crate::progress::Progress;
use crate::proposals::Proposals;
use crate::record::log_id;
use crate::snapshot::SnapshotData;
use crate::types::{
    Entry, EntryPayload, LogId, Membership, Payload, Proposal, StorageError, StoredMembership, TypeConfig,
    Vote,
};

/// The least state machine that satisfies the suite: it keeps where it stands, nothing else.
#[derive(Clone, Default)]
struct Standing(Arc<Mutex<(Option<LogId>, StoredMembership)>>);

impl Standing {
    fn current(&self) -> Snapshot<TypeConfig> {
        let (last_log_id, last_membership) = self.0.lock().clone();
        let snapshot_id = format!("{last_log_id:?}");
        Snapshot {
            meta: SnapshotMeta { last_log_id, last_membership, snapshot_id },
            snapshot: Box::new(SnapshotData::Durable),
        }
    }
}

impl RaftSnapshotBuilder<TypeConfig> for Standing {
    async fn build_snapshot(&mut self) -> Result<Snapshot<TypeConfig>, StorageError> {
        Ok(self.current())
    }
}

impl RaftStateMachine<TypeConfig> for Standing {
    type SnapshotBuilder = Self;

    async fn applied_state(&mut self) -> Result<(Option<LogId>, StoredMembership), StorageError> {
        Ok(self.0.lock().clone())
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<()>, StorageError>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut standing = self.0.lock();
        let mut replies = Vec::new();
        for entry in entries {
            if let EntryPayload::Membership(membership) = entry.payload {
                standing.1 = StoredMembership::new(Some(entry.log_id), membership);
            }
            standing.0 = Some(entry.log_id);
            replies.push(());
        }
        Ok(replies)
    }

    async fn get_snapshot_builder(&mut self) -> Self {
        self.clone()
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<SnapshotData>, StorageError> {
        Ok(Box::new(SnapshotData::Durable))
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta<u64, openraft::BasicNode>,
        _: Box<SnapshotData>,
    ) -> Result<(), StorageError> {
        *self.0.lock() = (meta.last_log_id, meta.last_membership.clone());
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<TypeConfig>>, StorageError> {
        Ok(Some(self.current()).filter(|snapshot| snapshot.meta.last_log_id.is_some()))
    }
}

fn handle(log: Arc<GroupLog>, node: u64) -> LogHandle {
    LogHandle::new(log, node, Arc::new(Proposals::new(1)), Arc::new(Progress::at(u64::MAX)))
}

struct Builder;

impl StoreBuilder<TypeConfig, LogHandle, Standing, TempDir> for Builder {
    async fn build(&self) -> Result<(TempDir, LogHandle, Standing), StorageError> {
        let dir = tempfile::tempdir().unwrap();
        let log = LogStore::open(dir.path(), LogOptions::default()).unwrap().group(7).unwrap();
        Ok((dir, handle(log, 0), Standing::default()))
    }
}

#[test]
fn the_suite_passes() {
    Suite::test_all(Builder).unwrap();
}

#[tokio::test]
async fn a_vote_that_a_majority_has_given_is_written_with_the_next_entry() {
    let (given, committed) = (Vote::new(3, 2), Vote::new_committed(3, 2));
    for is_written in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let store = LogStore::open(dir.path(), LogOptions::default()).unwrap();
        let log = store.group(7).unwrap();
        let mut handle = handle(log.clone(), 1);
        handle.save_vote(&given).await.unwrap();
        let before = store.stats().writes;
        handle.save_vote(&committed).await.unwrap();
        assert_eq!(handle.read_vote().await.unwrap(), Some(committed));
        assert_eq!(store.stats().writes, before, "it has no sync of its own");
        if is_written {
            let entry = Entry { log_id: log_id(3, 2, 0), payload: EntryPayload::Blank };
            handle.blocking_append([entry]).await.unwrap();
            assert_eq!(store.stats().writes, before + 1);
        }
        // A node that starts again keeps what it has promised.
        log.reload().unwrap();
        assert_eq!(handle.read_vote().await.unwrap(), Some(if is_written { committed } else { given }));
        handle.save_vote(&Vote::new_committed(3, 3)).await.unwrap();
        assert_eq!(store.stats().writes, before + 1 + u64::from(is_written), "another one is a promise");
    }
}

/// Operations of a test on a log.
#[derive(Clone, Debug)]
enum Step {
    Append { count: u64 },
    Membership,
    Truncate { back: u64 },
    Purge { ahead: u64 },
    Apply { ahead: u64 },
    Vote,
    Reload,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1_u64..6).prop_map(|count| Step::Append { count }),
        1 => Just(Step::Membership),
        2 => (0_u64..5).prop_map(|back| Step::Truncate { back }),
        2 => (0_u64..7).prop_map(|ahead| Step::Purge { ahead }),
        2 => (0_u64..7).prop_map(|ahead| Step::Apply { ahead }),
        1 => Just(Step::Vote),
        1 => Just(Step::Reload),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..40)
}

/// The expected content of a log, as plain values.
#[derive(Default)]
struct Model {
    entries: BTreeMap<u64, (u64, Option<Membership>)>,
    purged: Option<LogId>,
    vote: Option<Vote>,
    term: u64,
    memberships: BTreeMap<u64, LogId>,
}

impl Model {
    fn next(&self) -> u64 {
        let purged = self.purged.map_or(0, |id| id.index + 1);
        self.entries.keys().next_back().map_or(purged, |last| last + 1)
    }

    fn last(&self) -> Option<LogId> {
        self.entries.iter().next_back().map(|(index, (term, _))| log_id(*term, 1, *index)).or(self.purged)
    }
}

async fn run(steps: Vec<Step>) {
    let dir = tempfile::tempdir().unwrap();
    let options = || LogOptions { cached_bytes_per_group: 600, ..LogOptions::default() };
    let open = || LogStore::open(dir.path(), options()).unwrap().group(7).unwrap();
    let mut log = open();
    let mut model = Model::default();
    for step in steps {
        let mut handle = handle(log.clone(), 1);
        match step {
            Step::Append { count } => {
                let new: Vec<Entry> = (0..count)
                    .map(|offset| {
                        let index = model.next() + offset;
                        let text = Bytes::from(format!("{} {index}", model.term));
                        let command = Proposal { payload: Payload::new(text), completion: None };
                        Entry { log_id: log_id(model.term, 1, index), payload: EntryPayload::Normal(command) }
                    })
                    .collect();
                model.entries.extend(new.iter().map(|entry| (entry.log_id.index, (model.term, None))));
                handle.blocking_append(new).await.unwrap();
            }
            Step::Membership => {
                let id = log_id(model.term, 1, model.next());
                let nodes = BTreeMap::from([(id.index, openraft::BasicNode::new("a"))]);
                let membership = Membership::new(vec![BTreeSet::from([id.index])], nodes);
                model.entries.insert(id.index, (model.term, Some(membership.clone())));
                model.memberships.insert(id.index, id);
                let entry = Entry { log_id: id, payload: EntryPayload::Membership(membership) };
                handle.blocking_append([entry]).await.unwrap();
            }
            Step::Truncate { back } => {
                let first = model.purged.map_or(0, |id| id.index + 1);
                let since = model.next().saturating_sub(back).max(first);
                let Some((term, _)) = model.entries.get(&since) else { continue };
                handle.truncate(log_id(*term, 1, since)).await.unwrap();
                model.entries.split_off(&since);
                model.memberships.split_off(&since);
                // A conflicting suffix is replaced by a later leader's entries.
                model.term += 1;
            }
            Step::Purge { ahead } => {
                let upto = model.purged.map_or(0, |id| id.index + 1) + ahead;
                let Some((term, _)) = model.entries.get(&upto) else { continue };
                let id = log_id(*term, 1, upto);
                log.release(upto);
                handle.purge(id).await.unwrap();
                model.purged = Some(id);
                model.entries = model.entries.split_off(&(upto + 1));
            }
            Step::Apply { ahead } => {
                let upto = model.purged.map_or(0, |id| id.index) + ahead;
                log.release(upto.min(model.next().saturating_sub(1)));
            }
            Step::Vote => {
                model.term += 1;
                let vote = Vote::new_committed(model.term, 1);
                handle.save_vote(&vote).await.unwrap();
                model.vote = Some(vote);
            }
            Step::Reload => log.reload().unwrap(),
            Step::Reopen => {
                drop(handle);
                drop(log);
                log = open();
            }
        }
        check(&log, &model).await;
    }
}

async fn check(log: &Arc<GroupLog>, model: &Model) {
    let mut handle = handle(log.clone(), 1);
    let state = handle.get_log_state().await.unwrap();
    assert_eq!((state.last_purged_log_id, state.last_log_id), (model.purged, model.last()));
    // A node with others leads no more after a restart, whatever it did before.
    let is_alone = log.is_sole_voter(1);
    let expected = model.vote.map(|vote| Vote { committed: vote.committed && is_alone, ..vote });
    assert_eq!(handle.read_vote().await.unwrap(), expected);
    let entries = handle.try_get_log_entries(0..u64::MAX).await.unwrap();
    assert_eq!(entries.len(), model.entries.len());
    for (entry, (index, (term, membership))) in entries.iter().zip(&model.entries) {
        assert_eq!(entry.log_id, log_id(*term, 1, *index));
        match (&entry.payload, membership) {
            (EntryPayload::Normal(command), None) => {
                assert_eq!(command.payload.bytes, format!("{term} {index}"));
            }
            (EntryPayload::Membership(read), Some(expected)) => assert_eq!(read, expected),
            (payload, _) => panic!("entry {index} came back as {payload:?}"),
        }
    }
    if let Some(last) = model.last() {
        let expected = model.memberships.values().next_back();
        assert_eq!(log.membership_at(last.index).log_id().as_ref(), expected);
        assert_eq!(log.log_id_at(last.index).unwrap(), Some(last));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_log_equals_its_model_whatever_is_done_to_it(steps in steps()) {
        // A thread of its own: raft-engine keeps the block that a thread has read last by its place in a file,
        // whichever directory that is in.
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let case = std::thread::spawn(move || runtime.block_on(run(steps)));
        if let Err(panic) = case.join() {
            std::panic::resume_unwind(panic);
        }
    }
}
