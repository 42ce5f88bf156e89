//! A partition at work: ingress with flow control, batched proposals, leader services, responses and records.
//!
//! Gateways see the broker through [`broker_api::Broker`] only. A command enters at
//! [`Node::submit`](broker_api::Broker::submit), passes flow control (`flow_control`), waits in the ingress until
//! the proposer (`proposer`) takes it into a batch, is committed by `replication`, applied on the partition's
//! thread (`machine`), and answered from there. A query never enters the log: `reads` answers it from the state
//! between two batches.

mod admission;
mod answers;
mod apply_watch;
mod backups;
mod bootstrap;
mod clock;
mod cluster;
mod cluster_clock;
mod cluster_exporting;
mod cluster_pause;
mod cluster_status;
mod comparison;
mod configured;
mod credit;
mod data_directory;
mod demand;
mod disk;
mod divergence;
mod durable_file;
mod entered;
mod exporting;
mod expression;
mod flow_control;
mod flusher;
mod identity;
mod jobs;
mod joining;
mod leading;
mod machine;
mod metric_definitions;
mod node;
mod numbers;
mod opening;
mod options;
mod pause;
mod peer_request;
mod peers;
mod proposer;
mod reads;
mod replica_number;
mod restoring;
mod route;
pub mod set_aside;
mod shared_exports;
mod shared_parking;
mod snapshot_transfer;
mod snapshots;
mod store_copies;
mod store_queries;
mod supervisor;
mod synced_file;
mod tally;
mod transfer;
mod write_limit;

pub use apply_watch::{ApplyWatch, SlowBatch};
pub use backups::{BackupError, BackupState, RuntimeBackup, backup_numbers, remove_backup_files, restore};
pub use bootstrap::BootstrapError;
pub use clock::WallClock;
pub use cluster::Replica;
pub use comparison::{Comparison, StateHash};
pub use demand::Worker;
pub use disk::DiskSpace;
pub use engine::WorkLimits;
pub use flow_control::{Algorithm, FlowControl, FlowControlOptions, FlowControlStatus, Overflow};
pub use identity::IdentityError;
pub use joining::{JoinError, find_brokers};
pub use node::{Health, Node, PartitionStatus};
pub use opening::StartError;
pub use options::{DiskOptions, IngressOptions, JobOptions, Options, PeerOptions, StateOptions};
pub use peers::{ReplicaGroups, ReplicaPeers};
pub use replication::Members;
pub use restoring::{RestoreOrder, RestoreState, finish_restore};
pub use store_queries::{OwnCopy, StoreQueries};
pub use supervisor::{Lives, Supervisor};
pub use transport::{Attachment, Certificates};
pub use write_limit::{ThrottleOptions, WriteLimit, WriteLimitOptions, WriteLimitStatus};
