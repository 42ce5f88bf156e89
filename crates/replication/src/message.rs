//! Messages between replicas as bytes, for transports between processes.
//!
//! Numbers of variants and fields are spoken between releases: add, never reuse. Nothing here trusts its bytes.

use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use minicbor::bytes::ByteSlice;
use minicbor::{Decode, Encode};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::{Snapshot, SnapshotMeta};

use crate::peer::{PeerAnswer, PeerCall, PeerRequest, PeerResponse};
use crate::record::{LogIdFact, Record, StoredMembershipFact, VoteFact, corrupt, decode, encode};
use crate::snapshot::{SnapshotData, SnapshotError};
use crate::types::LogId;

/// A request as it travels.
pub struct RequestMessage {
    /// The request, without the bytes of a snapshot.
    pub head: Bytes,
    /// The snapshot that belongs to it.
    pub snapshot: Option<SnapshotBody>,
}

/// The bytes of a snapshot, still to be written out.
pub struct SnapshotBody(SnapshotData);

impl SnapshotBody {
    /// The file that has them: one that is there, or else a new one at `target`. May block.
    pub fn into_file(self, target: &Path) -> Result<PathBuf, SnapshotError> {
        match self.0 {
            SnapshotData::File(path) => Ok(path),
            SnapshotData::Durable => Err(SnapshotError::Unsupported),
            SnapshotData::Source(source) => {
                let source = source
                    .into_inner()
                    .ok_or_else(|| SnapshotError::Failed("the snapshot was already sent".into()))?;
                source.write_to(target)?;
                Ok(target.to_owned())
            }
        }
    }
}

#[derive(Encode, Decode)]
enum RequestFact<'b> {
    #[n(0)]
    Append {
        #[n(0)]
        vote: VoteFact,
        #[n(1)]
        previous: Option<LogIdFact>,
        #[n(2)]
        committed: Option<LogIdFact>,
        #[b(3)]
        entries: Vec<EntryFact<'b>>,
    },
    #[n(1)]
    Vote {
        #[n(0)]
        vote: VoteFact,
        #[n(1)]
        last: Option<LogIdFact>,
        /// Releases before it send nothing.
        #[n(2)]
        is_handed: Option<bool>,
    },
    #[n(2)]
    Snapshot {
        #[n(0)]
        vote: VoteFact,
        #[n(1)]
        last: Option<LogIdFact>,
        #[n(2)]
        membership: StoredMembershipFact,
        #[n(3)]
        id: String,
    },
}

#[derive(Encode, Decode)]
struct EntryFact<'b> {
    #[n(0)]
    id: LogIdFact,
    #[n(1)]
    kind: u32,
    #[b(2)]
    data: &'b ByteSlice,
}

#[derive(Encode, Decode)]
enum ResponseFact {
    #[n(0)]
    Appended,
    #[n(1)]
    AppendedPart(#[n(0)] Option<LogIdFact>),
    #[n(2)]
    Conflict,
    #[n(3)]
    HigherVote(#[n(0)] VoteFact),
    #[n(4)]
    Voted {
        #[n(0)]
        vote: VoteFact,
        #[n(1)]
        is_granted: bool,
        #[n(2)]
        last: Option<LogIdFact>,
    },
    #[n(5)]
    Installed(#[n(0)] VoteFact),
}

fn fact(id: Option<LogId>) -> Option<LogIdFact> {
    id.as_ref().map(LogIdFact::of)
}

impl PeerRequest {
    /// The message that another process makes the request of again.
    pub fn into_message(self) -> RequestMessage {
        let (head, snapshot) = match self.0 {
            PeerCall::Append(request) => {
                let records: Vec<Record> = request.entries.iter().map(Record::of).collect();
                let entries = records.iter().map(|record| EntryFact {
                    id: LogIdFact::of(&record.log_id()),
                    kind: record.kind,
                    data: (&record.data[..]).into(),
                });
                let fact = RequestFact::Append {
                    vote: VoteFact::of(&request.vote),
                    previous: fact(request.prev_log_id),
                    committed: fact(request.leader_commit),
                    entries: entries.collect(),
                };
                (encode(&fact), None)
            }
            PeerCall::Vote(request, is_handed) => {
                let last = fact(request.last_log_id);
                let vote = VoteFact::of(&request.vote);
                (encode(&RequestFact::Vote { vote, last, is_handed: Some(is_handed) }), None)
            }
            PeerCall::Snapshot(vote, Snapshot { meta, snapshot }) => {
                let stored = &meta.last_membership;
                let fact = RequestFact::Snapshot {
                    vote: VoteFact::of(&vote),
                    last: fact(meta.last_log_id),
                    membership: StoredMembershipFact::of(stored.log_id().as_ref(), stored.membership()),
                    id: meta.snapshot_id,
                };
                (encode(&fact), Some(SnapshotBody(*snapshot)))
            }
        };
        RequestMessage { head: head.into(), snapshot }
    }

    /// Whether a message is of a snapshot, whose bytes follow.
    pub fn is_of_snapshot(head: &Bytes) -> io::Result<bool> {
        Ok(matches!(decode::<RequestFact<'_>>(head)?, RequestFact::Snapshot { .. }))
    }

    /// The request of a message; a snapshot is in the file. Its payloads share the bytes of the message.
    pub fn from_message(head: &Bytes, snapshot: Option<PathBuf>) -> io::Result<Self> {
        let call = match (decode::<RequestFact<'_>>(head)?, snapshot) {
            (RequestFact::Append { vote, previous, committed, entries }, None) => {
                let entries = entries.into_iter().map(|entry| {
                    let record = Record::new_of(entry.id.log_id(), entry.kind, head.slice_ref(entry.data));
                    record.into_entry()
                });
                PeerCall::Append(AppendEntriesRequest {
                    vote: vote.vote(),
                    prev_log_id: previous.map(LogIdFact::log_id),
                    leader_commit: committed.map(LogIdFact::log_id),
                    entries: entries.collect::<io::Result<_>>()?,
                })
            }
            (RequestFact::Vote { vote, last, is_handed }, None) => {
                let request = VoteRequest::new(vote.vote(), last.map(LogIdFact::log_id));
                PeerCall::Vote(request, is_handed.unwrap_or(false))
            }
            (RequestFact::Snapshot { vote, last, membership, id }, Some(file)) => {
                let meta = SnapshotMeta {
                    last_log_id: last.map(LogIdFact::log_id),
                    last_membership: membership.into_stored(),
                    snapshot_id: id,
                };
                let snapshot = Box::new(SnapshotData::File(file));
                PeerCall::Snapshot(vote.vote(), Snapshot { meta, snapshot })
            }
            _ => return Err(corrupt("a snapshot without its bytes, or bytes without a snapshot".to_owned())),
        };
        Ok(Self(call))
    }
}

impl PeerResponse {
    /// The bytes that another process makes the response of again.
    pub fn encode(&self) -> Bytes {
        let fact = match &self.0 {
            PeerAnswer::Append(AppendEntriesResponse::Success) => ResponseFact::Appended,
            PeerAnswer::Append(AppendEntriesResponse::PartialSuccess(upto)) => {
                ResponseFact::AppendedPart(fact(*upto))
            }
            PeerAnswer::Append(AppendEntriesResponse::Conflict) => ResponseFact::Conflict,
            PeerAnswer::Append(AppendEntriesResponse::HigherVote(vote)) => {
                ResponseFact::HigherVote(VoteFact::of(vote))
            }
            PeerAnswer::Vote(response) => ResponseFact::Voted {
                vote: VoteFact::of(&response.vote),
                is_granted: response.vote_granted,
                last: fact(response.last_log_id),
            },
            PeerAnswer::Snapshot(response) => ResponseFact::Installed(VoteFact::of(&response.vote)),
        };
        encode(&fact).into()
    }

    /// The response of bytes.
    pub fn decode(bytes: &[u8]) -> io::Result<Self> {
        Ok(Self(match decode::<ResponseFact>(bytes)? {
            ResponseFact::Appended => PeerAnswer::Append(AppendEntriesResponse::Success),
            ResponseFact::AppendedPart(upto) => {
                PeerAnswer::Append(AppendEntriesResponse::PartialSuccess(upto.map(LogIdFact::log_id)))
            }
            ResponseFact::Conflict => PeerAnswer::Append(AppendEntriesResponse::Conflict),
            ResponseFact::HigherVote(vote) => {
                PeerAnswer::Append(AppendEntriesResponse::HigherVote(vote.vote()))
            }
            ResponseFact::Voted { vote, is_granted, last } => {
                PeerAnswer::Vote(VoteResponse::new(vote.vote(), last.map(LogIdFact::log_id), is_granted))
            }
            ResponseFact::Installed(vote) => PeerAnswer::Snapshot(SnapshotResponse::new(vote.vote())),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use openraft::BasicNode;
    use proptest::prelude::*;

    use super::*;
    use crate::record::log_id;
    use crate::types::{Entry, EntryPayload, Membership, Payload, Proposal, StoredMembership, Vote};

    fn id() -> impl Strategy<Value = Option<LogId>> {
        prop::option::of(any::<(u64, u64, u64)>().prop_map(|(term, node, index)| log_id(term, node, index)))
    }

    fn vote() -> impl Strategy<Value = Vote> {
        any::<(u64, u64, bool)>().prop_map(|(term, node, is_committed)| {
            if is_committed { Vote::new_committed(term, node) } else { Vote::new(term, node) }
        })
    }

    fn membership() -> impl Strategy<Value = Membership> {
        prop::collection::btree_map(any::<u64>(), ".{0,20}", 1..5).prop_map(|nodes| {
            let nodes: BTreeMap<u64, BasicNode> =
                nodes.into_iter().map(|(id, addr)| (id, BasicNode { addr })).collect();
            let voters: BTreeSet<u64> = nodes.keys().copied().collect();
            Membership::new(vec![voters], nodes)
        })
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let payload = prop_oneof![
            Just(EntryPayload::Blank),
            prop::collection::vec(any::<u8>(), 0..300).prop_map(|bytes| {
                EntryPayload::Normal(Proposal { payload: Payload::new(bytes.into()), completion: None })
            }),
            membership().prop_map(EntryPayload::Membership),
        ];
        (any::<(u64, u64, u64)>(), payload)
            .prop_map(|((term, node, index), payload)| Entry { log_id: log_id(term, node, index), payload })
    }

    fn call() -> impl Strategy<Value = PeerCall> {
        let append = (vote(), id(), id(), prop::collection::vec(entry(), 0..8));
        let append = append.prop_map(|(vote, prev_log_id, leader_commit, entries)| {
            PeerCall::Append(AppendEntriesRequest { vote, prev_log_id, entries, leader_commit })
        });
        let ask = (vote(), id(), any::<bool>());
        let ask =
            ask.prop_map(|(vote, last, is_handed)| PeerCall::Vote(VoteRequest::new(vote, last), is_handed));
        let snapshot = (vote(), id(), id(), membership(), ".{0,20}");
        let snapshot = snapshot.prop_map(|(vote, last_log_id, at, membership, snapshot_id)| {
            let last_membership = StoredMembership::new(at, membership);
            let meta = SnapshotMeta { last_log_id, last_membership, snapshot_id };
            PeerCall::Snapshot(vote, Snapshot { meta, snapshot: Box::new(SnapshotData::File("f".into())) })
        });
        prop_oneof![append, ask, snapshot]
    }

    fn answer() -> impl Strategy<Value = PeerAnswer> {
        prop_oneof![
            Just(()).prop_map(|()| PeerAnswer::Append(AppendEntriesResponse::Success)),
            id().prop_map(|id| PeerAnswer::Append(AppendEntriesResponse::PartialSuccess(id))),
            Just(()).prop_map(|()| PeerAnswer::Append(AppendEntriesResponse::Conflict)),
            vote().prop_map(|vote| PeerAnswer::Append(AppendEntriesResponse::HigherVote(vote))),
            (vote(), id(), any::<bool>())
                .prop_map(|(vote, last, granted)| PeerAnswer::Vote(VoteResponse::new(vote, last, granted))),
            vote().prop_map(|vote| PeerAnswer::Snapshot(SnapshotResponse::new(vote))),
        ]
    }

    /// Debug output leaves out the bytes of payloads.
    fn shown(request: &PeerRequest) -> (String, Vec<Bytes>) {
        let bytes = match &request.0 {
            PeerCall::Append(append) => append.entries.iter().map(|entry| Record::of(entry).data).collect(),
            _ => Vec::new(),
        };
        (format!("{request:?}"), bytes)
    }

    proptest! {
        #[test]
        fn requests_survive_the_way(call in call()) {
            let request = PeerRequest(call);
            let wanted = shown(&request);
            let message = request.into_message();
            prop_assert_eq!(PeerRequest::is_of_snapshot(&message.head).unwrap(), message.snapshot.is_some());
            let file = message.snapshot.map(|body| body.into_file(Path::new("unused")).unwrap());
            prop_assert_eq!(shown(&PeerRequest::from_message(&message.head, file).unwrap()), wanted);
        }

        #[test]
        fn responses_survive_the_way(answer in answer()) {
            let response = PeerResponse(answer);
            let read = PeerResponse::decode(&response.encode()).unwrap();
            prop_assert_eq!(format!("{read:?}"), format!("{response:?}"));
        }

        #[test]
        fn garbled_messages_are_errors_or_other_messages(call in call(), at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
            let mut bytes = PeerRequest(call).into_message().head.to_vec();
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            let garbled = Bytes::from(bytes);
            let _ = PeerRequest::from_message(&garbled, None);
            let _ = PeerResponse::decode(&garbled);
            let _ = PeerRequest::from_message(&garbled.slice(..at), None);
        }
    }
}
