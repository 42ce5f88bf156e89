//! The other brokers, as far as one partition needs them.

use broker_api::SubmitError;
use bytes::Bytes;
use futures::future::BoxFuture;
use replication::Role;
use tokio_util::sync::CancellationToken;

/// The fate of an entry that was handed to the leader.
#[derive(Debug, Clone)]
pub enum Fate {
    /// It is applied there.
    Applied,
    /// The leader has no room for it; it is not in the log.
    Full(SubmitError),
    /// The entry is not in the log, and never will be.
    NotAppended,
    /// It may be in the log, now or later.
    Open,
}

/// The other brokers of the cluster.
pub trait Others: Send + Sync {
    /// How many brokers the cluster has.
    fn cluster_size(&self) -> u32;
    /// Hands an entry to the leader, which is another replica.
    fn enter(&self, leader: u64, batch: Bytes) -> BoxFuture<'_, Fate>;
    /// The log index that a read must have applied, as the leader tells.
    fn read_index(&self, leader: u64) -> BoxFuture<'_, Result<u64, String>>;
    /// Cancelled when others reach this broker no more.
    fn closing(&self) -> CancellationToken;
    /// Whether this broker, whose disk has no room, is about to hand over.
    fn is_about_to_hand_over(&self) -> bool;
    /// The reason of the leader, which is another replica, to refuse commands.
    fn leader_refuses(&self, role: Role) -> Option<String>;
}
