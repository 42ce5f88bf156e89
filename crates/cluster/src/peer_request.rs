//! The kinds of requests that brokers send to each other. A request begins with one byte that tells its kind; the rest
//! belongs to the kind.

use bytes::{BufMut, Bytes, BytesMut};

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
}

impl RequestKind {
    /// Number of kinds.
    pub(crate) const COUNT: usize = 26;
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

    /// A request that says nothing else.
    pub fn alone(self) -> Bytes {
        self.with(&[])
    }

    /// A request with its rest.
    pub fn with(self, rest: &[u8]) -> Bytes {
        let mut request = BytesMut::with_capacity(1 + rest.len());
        request.put_u8(self as u8);
        request.put(rest);
        request.freeze()
    }

    /// A request about a number, and what else it says.
    pub fn about(self, number: u64, rest: &[u8]) -> Bytes {
        let mut request = BytesMut::with_capacity(1 + 8 + rest.len());
        request.put_u8(self as u8);
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
        for kind in RequestKind::ALL {
            assert_eq!(RequestKind::of(&kind.alone()), Some(kind));
            assert_eq!(RequestKind::of(&kind.with(b"rest")), Some(kind));
            assert_eq!(kind.about(7, b"rest")[1..], [0, 0, 0, 0, 0, 0, 0, 7, b'r', b'e', b's', b't']);
        }
        for other in [&[][..], &[0], &[27], &[255, 1]] {
            assert_eq!(RequestKind::of(other), None);
        }
    }
}
