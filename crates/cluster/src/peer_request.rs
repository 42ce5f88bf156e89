//! The kinds of requests that brokers send to each other. A request begins with one byte that tells its kind; the rest
//! belongs to the kind. One about another partition than the first has the kind and the partition before it.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use protocol::{FIRST_PARTITION, PartitionId};

/// Kinds of requests between brokers. The numbers go over connections between releases: none is given to another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RequestKind {
    /// A message of consensus to a replica of a group.
    ToGroup = 1,
    /// Appends an entry at the leader.
    Enter,
    /// The log index that a read must have applied.
    ReadIndex,
    /// The state of a broker: replica, clock, orders.
    Status,
    /// Progress of a broker in forming the cluster.
    Bootstrap,
    /// Has the broker stand for election.
    StandForElection,
    /// Has the leader hand over to another broker.
    HandOver,
    /// A copy of the store.
    StoreCopy,
    /// Has the leader admit a replica in the place of a lost one.
    Admit,
    /// Records that an exporter lacks.
    Records,
    /// Position up to which the target of the leader's exporter shows records.
    Shown,
    /// Has the broker compare the states of all replicas.
    Compare,
    /// Has the broker hash the state after the next entry.
    HashWanted,
    /// The hash of the state.
    Hash,
    /// Tells a replica that a majority has another state.
    HashDiffers,
    /// The digest of the state after an entry.
    Digest,
    /// Order to exporters.
    ExportOrder,
    /// The brokers of the cluster.
    Brokers,
    /// Has an exporter retry its parked records.
    ReplayParked,
    /// A part of a snapshot.
    Snapshot,
    /// Bytes of a snapshot that have arrived.
    SnapshotReceived,
    /// Order to pause or resume processing.
    Pause,
    /// A question to a copy of the store.
    StoreQuery,
    /// Position up to which a copy of the store shows records.
    StoreShown,
    /// Settings that must be equal on all brokers.
    Settings,
    /// Presents a replica that was started, with its log and lives.
    Present,
    /// A request about another partition than the first.
    OfPartition,
}

impl RequestKind {
    /// Number of kinds.
    pub(crate) const COUNT: usize = 27;
    /// All kinds by number, from 1 on.
    const ALL: [Self; Self::COUNT] = [
        Self::ToGroup,
        Self::Enter,
        Self::ReadIndex,
        Self::Status,
        Self::Bootstrap,
        Self::StandForElection,
        Self::HandOver,
        Self::StoreCopy,
        Self::Admit,
        Self::Records,
        Self::Shown,
        Self::Compare,
        Self::HashWanted,
        Self::Hash,
        Self::HashDiffers,
        Self::Digest,
        Self::ExportOrder,
        Self::Brokers,
        Self::ReplayParked,
        Self::Snapshot,
        Self::SnapshotReceived,
        Self::Pause,
        Self::StoreQuery,
        Self::StoreShown,
        Self::Settings,
        Self::Present,
        Self::OfPartition,
    ];

    /// Its place among all.
    pub(crate) fn place(self) -> usize {
        self as usize - 1
    }

    /// The kind of a request, if it has one.
    pub fn of(request: &[u8]) -> Option<Self> {
        let number = usize::from(*request.first()?);
        Self::ALL.get(number.checked_sub(1)?).copied()
    }

    /// The head of a request about a partition.
    pub fn of_partition(self, partition: PartitionId) -> RequestHead {
        assert_ne!(self, Self::OfPartition, "a request has a kind of its own");
        RequestHead { kind: self, partition }
    }

    /// A request that says nothing else.
    pub fn alone(self) -> Bytes {
        self.with(&[])
    }

    /// A request with its rest.
    pub fn with(self, rest: &[u8]) -> Bytes {
        self.of_partition(FIRST_PARTITION).with(rest)
    }

    /// A request about a number, and what else it says.
    pub fn about(self, number: u64, rest: &[u8]) -> Bytes {
        self.of_partition(FIRST_PARTITION).about(number, rest)
    }
}

/// The kind of a request, and the partition that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHead {
    /// Its kind.
    pub kind: RequestKind,
    /// The partition: the first one where requests of the kind are about none.
    pub partition: PartitionId,
}

impl RequestHead {
    /// Bytes before the rest, at the most.
    const BYTES: usize = 1 + 2 + 1;

    /// Splits a request into its head and the rest. `None`: the request is of another kind.
    pub fn split(mut request: Bytes) -> Option<(Self, Bytes)> {
        let mut kind = RequestKind::of(&request)?;
        request.advance(1);
        let mut partition = FIRST_PARTITION;
        if kind == RequestKind::OfPartition {
            partition = request.try_get_u16().ok()?;
            kind = RequestKind::of(&request).filter(|kind| *kind != RequestKind::OfPartition)?;
            request.advance(1);
        }
        Some((Self { kind, partition }, request))
    }

    fn begin(self, rest_bytes: usize) -> BytesMut {
        let mut request = BytesMut::with_capacity(Self::BYTES + rest_bytes);
        if self.partition != FIRST_PARTITION {
            request.put_u8(RequestKind::OfPartition as u8);
            request.put_u16(self.partition);
        }
        request.put_u8(self.kind as u8);
        request
    }

    /// A request that says nothing else.
    pub fn alone(self) -> Bytes {
        self.with(&[])
    }

    /// A request with its rest.
    pub fn with(self, rest: &[u8]) -> Bytes {
        let mut request = self.begin(rest.len());
        request.put(rest);
        request.freeze()
    }

    /// A request about a number, and what else it says.
    pub fn about(self, number: u64, rest: &[u8]) -> Bytes {
        let mut request = self.begin(8 + rest.len());
        request.put_u64(number);
        request.put(rest);
        request.freeze()
    }
}

const _: () = {
    let mut at = 0;
    while at < RequestKind::ALL.len() {
        assert!(RequestKind::ALL[at] as usize == at + 1, "kinds stand by their numbers");
        at += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_as_it_was_written() {
        for kind in RequestKind::ALL.into_iter().filter(|kind| *kind != RequestKind::OfPartition) {
            assert_eq!(RequestKind::of(&kind.alone()), Some(kind));
            assert_eq!(RequestKind::of(&kind.with(b"rest")), Some(kind));
            assert_eq!(kind.about(7, b"rest")[1..], [0, 0, 0, 0, 0, 0, 0, 7, b'r', b'e', b's', b't']);
        }
        for other in [&[][..], &[0], &[28], &[255, 1]] {
            assert_eq!(RequestKind::of(other), None);
        }
    }

    #[test]
    fn a_head_is_read_as_it_was_written() {
        for partition in [FIRST_PARTITION, 2, PartitionId::MAX] {
            let head = RequestKind::Enter.of_partition(partition);
            assert_eq!(RequestHead::split(head.with(b"rest")), Some((head, Bytes::from_static(b"rest"))));
            let rest = Bytes::from_static(&[0, 0, 0, 0, 0, 0, 0, 7, b'r']);
            assert_eq!(RequestHead::split(head.about(7, b"r")), Some((head, rest)));
        }
        let nested = [27, 0, 2, 27, 0, 2, 2];
        for other in [&[][..], &[0], &[27], &[27, 0], &[27, 0, 2], &[27, 0, 2, 0], &nested] {
            assert_eq!(RequestHead::split(Bytes::copy_from_slice(other)), None, "{other:?}");
        }
    }
}
