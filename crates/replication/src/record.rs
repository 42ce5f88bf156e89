//! Encoding of log entries and the few facts beside them on disk.
//!
//! raft-engine stores entries as protobuf 2 messages; [`Record`] is one, written by hand so that no generated code
//! and no build script are needed. The facts (vote, committed position, memberships) are small CBOR maps.
//!
//! Field numbers and map keys are on disk for good: add, never reuse.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::LazyLock;

use bytes::Bytes;
use minicbor::{Decode, Encode};
use openraft::{BasicNode, CommittedLeaderId};
use protobuf::reflect::MessageDescriptor;
use protobuf::wire_format::WireType;
use protobuf::{CodedInputStream, CodedOutputStream, ProtobufResult, UnknownFields};
use raft_engine::MessageExt;

use crate::types::{Entry, EntryPayload, LogId, Membership, Payload, Proposal, StoredMembership, Vote};

/// Kinds of entry, as stored.
const KIND_BLANK: u32 = 0;
const KIND_COMMAND: u32 = 1;
const KIND_MEMBERSHIP: u32 = 2;

/// One log entry as stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Record {
    pub(crate) index: u64,
    pub(crate) term: u64,
    pub(crate) node: u64,
    pub(crate) kind: u32,
    pub(crate) data: Bytes,
    unknown: UnknownFields,
}

impl Record {
    pub(crate) fn of(entry: &Entry) -> Self {
        let (kind, data) = match &entry.payload {
            EntryPayload::Blank => (KIND_BLANK, Bytes::new()),
            EntryPayload::Normal(proposal) => (KIND_COMMAND, proposal.payload.bytes.clone()),
            EntryPayload::Membership(membership) => {
                (KIND_MEMBERSHIP, Bytes::from(encode(&MembershipFact::of(membership))))
            }
        };
        Self::new_of(entry.log_id, kind, data)
    }

    pub(crate) fn new_of(id: LogId, kind: u32, data: Bytes) -> Self {
        let (term, node) = (id.leader_id.term, id.leader_id.node_id);
        Self { index: id.index, term, node, kind, data, unknown: UnknownFields::default() }
    }

    pub(crate) fn log_id(&self) -> LogId {
        log_id(self.term, self.node, self.index)
    }

    pub(crate) fn into_entry(self) -> io::Result<Entry> {
        let log_id = self.log_id();
        let payload = match self.kind {
            KIND_BLANK => EntryPayload::Blank,
            KIND_COMMAND => {
                EntryPayload::Normal(Proposal { payload: Payload::new(self.data), completion: None })
            }
            KIND_MEMBERSHIP => {
                EntryPayload::Membership(decode::<MembershipFact>(&self.data)?.into_membership())
            }
            other => return Err(corrupt(format!("entry {} is of unknown kind {other}", self.index))),
        };
        Ok(Entry { log_id, payload })
    }
}

impl MessageExt for Record {
    type Entry = Self;

    fn index(entry: &Self) -> u64 {
        entry.index
    }
}

impl protobuf::Clear for Record {
    fn clear(&mut self) {
        *self = Self::default();
    }
}

impl protobuf::Message for Record {
    fn descriptor(&self) -> &'static MessageDescriptor {
        // Asked for only by reflection and by the error text for a missing required field; there is neither.
        unreachable!("log records have no descriptor")
    }

    fn is_initialized(&self) -> bool {
        true
    }

    fn merge_from(&mut self, input: &mut CodedInputStream<'_>) -> ProtobufResult<()> {
        while !input.eof()? {
            let (field, wire_type) = input.read_tag_unpack()?;
            match field {
                1 => self.index = input.read_uint64()?,
                2 => self.term = input.read_uint64()?,
                3 => self.node = input.read_uint64()?,
                4 => self.kind = input.read_uint32()?,
                5 => self.data = Bytes::from(input.read_bytes()?),
                // Groups nest without limit, and protobuf 2 follows them by recursion (RUSTSEC-2024-0437).
                _ if matches!(wire_type, WireType::WireTypeStartGroup | WireType::WireTypeEndGroup) => {
                    return Err(protobuf::rt::unexpected_wire_type(wire_type));
                }
                _ => input.skip_field(wire_type)?,
            }
        }
        Ok(())
    }

    fn write_to_with_cached_sizes(&self, output: &mut CodedOutputStream<'_>) -> ProtobufResult<()> {
        output.write_uint64(1, self.index)?;
        output.write_uint64(2, self.term)?;
        output.write_uint64(3, self.node)?;
        output.write_uint32(4, self.kind)?;
        output.write_bytes(5, &self.data)
    }

    fn compute_size(&self) -> u32 {
        // Five one-byte tags, four varints, the length and the bytes.
        let varint = protobuf::rt::compute_raw_varint64_size;
        5 + varint(self.index)
            + varint(self.term)
            + varint(self.node)
            + varint(u64::from(self.kind))
            + varint(self.data.len() as u64)
            + self.data.len() as u32
    }

    fn get_cached_size(&self) -> u32 {
        self.compute_size()
    }

    fn get_unknown_fields(&self) -> &UnknownFields {
        &self.unknown
    }

    fn mut_unknown_fields(&mut self) -> &mut UnknownFields {
        &mut self.unknown
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn new() -> Self {
        Self::default()
    }

    fn default_instance() -> &'static Self {
        static DEFAULT: LazyLock<Record> = LazyLock::new(Record::default);
        &DEFAULT
    }
}

/// A log id as stored.
#[derive(Clone, Copy, Debug, Encode, Decode, PartialEq, Eq)]
#[cbor(map)]
pub(crate) struct LogIdFact {
    #[n(0)]
    term: u64,
    #[n(1)]
    node: u64,
    #[n(2)]
    index: u64,
}

impl LogIdFact {
    pub(crate) fn of(id: &LogId) -> Self {
        Self { term: id.leader_id.term, node: id.leader_id.node_id, index: id.index }
    }

    pub(crate) fn log_id(self) -> LogId {
        log_id(self.term, self.node, self.index)
    }
}

/// A vote as stored.
#[derive(Clone, Copy, Debug, Encode, Decode, PartialEq, Eq)]
#[cbor(map)]
pub(crate) struct VoteFact {
    #[n(0)]
    term: u64,
    #[n(1)]
    node: u64,
    #[n(2)]
    committed: bool,
}

impl VoteFact {
    pub(crate) fn of(vote: &Vote) -> Self {
        Self { term: vote.leader_id().term, node: vote.leader_id().node_id, committed: vote.is_committed() }
    }

    pub(crate) fn vote(self) -> Vote {
        if self.committed {
            Vote::new_committed(self.term, self.node)
        } else {
            Vote::new(self.term, self.node)
        }
    }
}

/// A membership as stored: one set of voters, or two while it changes, and the address of every node.
#[derive(Clone, Debug, Encode, Decode, PartialEq, Eq)]
#[cbor(map)]
pub(crate) struct MembershipFact {
    #[n(0)]
    voters: Vec<Vec<u64>>,
    #[n(1)]
    nodes: Vec<(u64, String)>,
}

impl MembershipFact {
    pub(crate) fn of(membership: &Membership) -> Self {
        Self {
            voters: membership.get_joint_config().iter().map(|set| set.iter().copied().collect()).collect(),
            nodes: membership.nodes().map(|(id, node)| (*id, node.addr.clone())).collect(),
        }
    }

    pub(crate) fn into_membership(self) -> Membership {
        let voters: Vec<BTreeSet<u64>> =
            self.voters.into_iter().map(|set| set.into_iter().collect()).collect();
        let nodes: BTreeMap<u64, BasicNode> =
            self.nodes.into_iter().map(|(id, addr)| (id, BasicNode { addr })).collect();
        Membership::new(voters, nodes)
    }
}

/// A membership and the log id it took effect at, as stored beside the log.
#[derive(Clone, Debug, Encode, Decode, PartialEq, Eq)]
#[cbor(map)]
pub(crate) struct StoredMembershipFact {
    #[n(0)]
    at: Option<LogIdFact>,
    #[n(1)]
    membership: MembershipFact,
}

impl StoredMembershipFact {
    pub(crate) fn of(at: Option<&LogId>, membership: &Membership) -> Self {
        Self { at: at.map(LogIdFact::of), membership: MembershipFact::of(membership) }
    }

    pub(crate) fn into_stored(self) -> StoredMembership {
        StoredMembership::new(self.at.map(LogIdFact::log_id), self.membership.into_membership())
    }
}

pub(crate) fn log_id(term: u64, node: u64, index: u64) -> LogId {
    LogId::new(CommittedLeaderId::new(term, node), index)
}

pub(crate) fn encode<T: Encode<()>>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    minicbor::encode(value, &mut bytes).expect("writing to a vector cannot fail");
    bytes
}

pub(crate) fn decode<'b, T: Decode<'b, ()>>(bytes: &'b [u8]) -> io::Result<T> {
    minicbor::decode(bytes).map_err(|error| corrupt(error.to_string()))
}

pub(crate) fn corrupt(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use protobuf::Message;

    use super::*;

    fn round_trip(entry: &Entry) -> Entry {
        let bytes = Record::of(entry).write_to_bytes().unwrap();
        Record::parse_from_bytes(&bytes).unwrap().into_entry().unwrap()
    }

    #[test]
    fn an_entry_of_every_kind_survives_the_disk() {
        let command =
            Proposal { payload: Payload::new(Bytes::from_static(b"create instance")), completion: None };
        let command = Entry { log_id: log_id(3, 1, u64::MAX), payload: EntryPayload::Normal(command) };
        let EntryPayload::Normal(read) = round_trip(&command).payload else { panic!("not a command") };
        assert_eq!(&read.payload.bytes[..], b"create instance");
        assert_eq!(round_trip(&command).log_id, command.log_id);

        let blank = Entry { log_id: log_id(1, 2, 300), payload: EntryPayload::Blank };
        assert!(matches!(round_trip(&blank).payload, EntryPayload::Blank));

        let nodes = BTreeMap::from([(1, BasicNode::new("one:1")), (2, BasicNode::new("two:2"))]);
        let membership = Membership::new(vec![BTreeSet::from([1]), BTreeSet::from([1, 2])], nodes);
        let entry = Entry { log_id: log_id(1, 2, 0), payload: EntryPayload::Membership(membership.clone()) };
        let EntryPayload::Membership(read) = round_trip(&entry).payload else { panic!("not a membership") };
        assert_eq!(read, membership);
    }

    #[test]
    fn votes_and_memberships_survive_the_disk() {
        for vote in [Vote::new(7, 2), Vote::new_committed(u64::MAX, 0)] {
            assert_eq!(decode::<VoteFact>(&encode(&VoteFact::of(&vote))).unwrap().vote(), vote);
        }
        let membership =
            Membership::new(vec![BTreeSet::from([4])], BTreeMap::from([(4, BasicNode::new("a"))]));
        let at = log_id(2, 4, 9);
        let fact = encode(&StoredMembershipFact::of(Some(&at), &membership));
        let read = decode::<StoredMembershipFact>(&fact).unwrap().into_stored();
        assert_eq!(read, StoredMembership::new(Some(at), membership));
    }

    #[test]
    fn fields_of_later_versions_are_skipped_but_groups_are_refused() {
        let mut bytes = Record { index: 7, ..Record::default() }.write_to_bytes().unwrap();
        bytes.extend([0x30, 1, 0x3a, 2, 9, 9]);
        assert_eq!(Record::parse_from_bytes(&bytes).unwrap().index, 7);
        bytes.extend(std::iter::repeat_n(0x33, 100_000));
        assert!(Record::parse_from_bytes(&bytes).is_err());
    }

    #[test]
    fn an_unknown_kind_is_an_error_value() {
        let record = Record { kind: 9, ..Record::default() };
        assert_eq!(record.into_entry().unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
