//! Replication: the log of opaque commands, agreed on by the voters of a Raft group and durable before it counts.
//!
//! A broker opens one [`LogStore`] and starts one [`Group`] per partition on it. A request enters at
//! [`Group::propose`], is appended and synced to disk together with the appends of every other group, is committed
//! by openraft, and ends in [`StateMachine::apply`] on the thread `partition-<group>`; then the proposal resolves.
//!
//! Consensus is openraft's. This crate has the parts that openraft leaves to its user:
//! - `log`: the log store, over raft-engine, with one writer thread and one sync per group commit;
//! - `machine`: the thread that applies committed entries;
//! - `group`: what callers hold; `supervisor`: the life of a group behind it, including its resumption after a disk
//!   that failed or was full;
//! - `silence`: when a leader that no majority answers makes room for another one;
//! - `acknowledged`: what other nodes have promised, by which one with an old copy of its files is found;
//! - `peer`: the door through which a transport comes; `message`: the bytes that it carries.
//!
//! This crate must not know what an entry means, where state is kept, or how bytes travel between brokers.

mod acknowledged;
mod group;
mod group_state;
mod log;
mod machine;
mod message;
mod metric_definitions;
mod peer;
mod progress;
mod proposals;
mod record;
mod silence;
mod snapshot;
mod supervisor;
mod types;

pub use acknowledged::Acknowledged;
pub use group::{
    Group, GroupMetrics, GroupOptions, Members, MembershipError, ProposalPause, Role, StartError,
};
pub use log::{DiskFaults, LogError, LogOptions, LogStats, LogStore};
pub use machine::{ApplyError, StateMachine};
pub use message::{RequestMessage, SnapshotBody};
pub use metric_definitions::group_labels;
pub use peer::{NoPeers, PeerError, PeerFuture, PeerRequest, PeerResponse, Transport};
pub use snapshot::{SnapshotCheck, SnapshotError, SnapshotSource};
pub use types::{GroupFailure, Payload, ProposeError};
