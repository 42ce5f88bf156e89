//! A broker: the process that composes partitions and what brokers of a cluster tell each other.
//!
//! Gateways see the broker through [`broker_api::Broker`] only. A [`Node`] is one life of it, from the open data
//! directory to the shutdown; the [`Supervisor`] begins the next life when one has failed.

mod admission;
mod asked;
mod backup_directory;
mod backup_file;
mod backups;
mod balance;
mod catching_up;
mod channels;
mod cluster_exporting;
mod cluster_pause;
mod cluster_state;
mod cluster_status;
mod comparison;
mod distribution;
mod export_orders;
mod expression;
mod giving_way;
mod hearing;
mod jobs_in_turn;
mod lagging;
mod members;
mod merging;
mod node;
mod opening;
mod options;
mod orders;
mod others;
mod pause;
mod presenting;
mod readiness;
mod restoring;
mod returning;
mod routing;
mod shared_exports;
mod shared_parking;
mod shares;
mod store_answers;
mod store_copies;
mod store_queries;
mod successor;
mod supervisor;
mod together;
mod transfer;

pub use backup_directory::{
    BACKUP_ID_MAX, BackupError, BackupState, RuntimeBackup, backup_numbers, remove_backup_files, restore,
};
pub use backup_file::FileSum;
pub use cluster::{
    BootstrapError, IdentityError, JoinError, PeerOptions, Replica, ReplicaGroups, ReplicaPeers,
    SettingDifference, SharedSettings,
};
pub use comparison::Comparison;
pub use engine::WorkLimits;
pub use members::MembersError;
pub use node::Node;
pub use opening::{StartError, find_brokers};
pub use options::Options;
pub use partition::{
    Algorithm, ApplyWatch, DiskOptions, DiskProbe, DiskSpace, FlowControl, FlowControlOptions,
    FlowControlStatus, Health, IngressOptions, JobOptions, Overflow, Partition, PartitionOptions,
    PartitionStatus, SlowBatch, StateHash, StateOptions, ThrottleOptions, WallClock, Worker, WriteLimit,
    WriteLimitOptions, WriteLimitStatus, set_aside,
};
pub use replication::Members;
pub use restoring::{RestoreOrder, RestoreState, finish_restore};
pub use store_queries::{OwnCopy, StoreQueries};
pub use supervisor::{Lives, Supervisor};
pub use transport::{Attachment, Certificates, PeerSecret};
