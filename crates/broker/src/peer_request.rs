//! The kinds of requests that brokers send to each other. A request begins with one byte that tells its kind; the rest
//! belongs to the kind.

use bytes::{BufMut, Bytes, BytesMut};

/// The kind of a request. The numbers go over connections between releases: none is given to another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum RequestKind {
    /// To a replica of a group.
    ToGroup = 1,
    /// Append an entry.
    Enter,
    /// The log index that a read must have applied.
    ReadIndex,
    /// The state of a broker: replica, clock, orders.
    Status,
    /// How far a broker is in forming the cluster.
    Bootstrap,
    /// Ask for the votes of all.
    StandForElection,
    /// Let another broker lead.
    HandOver,
    /// A copy of the store.
    StoreCopy,
    /// Become a voter in the place of a lost replica.
    Admit,
    /// Records that an exporter lacks.
    Records,
    /// How far the target of the leader's exporter shows records.
    Shown,
    /// Compare the states of all replicas.
    Compare,
    /// Hash the state after the next entry.
    HashWanted,
    /// The hash of the state.
    Hash,
    /// A majority has another state.
    HashDiffers,
    /// The digest of the state after an entry.
    Digest,
    /// Export or not.
    ExportOrder,
    /// The brokers of the cluster.
    Brokers,
    /// Try the parked records of an exporter again.
    ReplayParked,
    /// A part of a snapshot.
    Snapshot,
    /// How much of a snapshot has come.
    SnapshotReceived,
    /// Process or not.
    Pause,
    /// A question to a copy of the store.
    StoreQuery,
    /// How far a copy of the store shows records.
    StoreShown,
}

impl RequestKind {
    /// By their numbers, from 1 on.
    const ALL: [Self; 24] = [
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
    ];

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
        for other in [&[][..], &[0], &[25], &[255, 1]] {
            assert_eq!(RequestKind::of(other), None);
        }
    }
}
