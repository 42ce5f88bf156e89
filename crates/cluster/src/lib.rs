//! Brokers of a cluster among themselves: connections, votes, replica numbers, clocks, and what is on its way.
//!
//! Requests are known by their kinds. Those that are not about connections go to the handlers that the broker registers
//! ([`Links::handlers`]); the connections do not know them.

mod agreement;
mod bootstrap;
mod clock;
mod forming;
mod identity;
mod joining;
mod known_replicas;
mod links;
mod metric_definitions;
mod options;
mod peer_request;
mod peers;
mod placement;
mod readmission;
mod replica_number;
mod rooms;
mod service;
mod settings_round;
mod snapshot_transfer;
mod store_copies;

pub use agreement::{AgreementStatus, SettingDifference, SharedSettings};
pub use bootstrap::{ASK_INTERVAL, BootstrapError, SAY_INTERVAL, Vote, check_alone, give_up, give_up_or_say};
pub use clock::{ClockSample, ClusterClock, LIMIT_MS};
pub use identity::{Identity, IdentityError};
pub use joining::{JoinError, find_brokers};
pub use known_replicas::{HeardHere, KnownReplica, KnownReplicas, Presented, Verdict};
pub use links::{Links, Replica, WITHOUT_ROOM};
pub use options::{Configured, PeerOptions};
pub use peer_request::{RequestHead, RequestKind};
pub use peers::{ReplicaGroups, ReplicaPeers, ask, ask_in_turn};
pub use placement::{Placed, placement};
pub use readmission::readmit;
pub use replica_number::ReplicaNumber;
pub use rooms::{LEADERLESS_MAX, Rooms};
pub use service::{Handler, Handlers};
pub use snapshot_transfer::BYTES_PER_SECOND;
pub use store_copies::{NO_COPY, NotFetched, StoreCopies, wanted_positions};

/// Forgets the replica of a data directory, and what it remembers of others: the next start is the first one.
pub fn forget(data_dir: &std::path::Path) -> std::io::Result<()> {
    bootstrap::forget(data_dir)?;
    known_replicas::forget(data_dir)
}
