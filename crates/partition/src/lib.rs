//! One partition at work: ingress with flow control, batched proposals, leader services, responses and records.
//!
//! A command enters at [`Partition::submit`], passes flow control (`flow_control`), waits in the ingress until
//! the proposer (`proposer`) takes it into a batch, is committed by `replication`, applied on the partition's
//! thread (`machine`), and answered from there. A query never enters the log: `reads` answers it from the state
//! between two batches. Other brokers are known as [`Others`] only.

mod acknowledging;
mod answers;
mod applied_state;
mod apply_watch;
mod beginning;
mod clock;
mod configured;
mod counts;
mod credit;
mod demand;
mod disk;
mod divergence;
mod entered;
mod exporting;
mod flow_control;
mod flush_state;
mod flusher;
mod hashes;
mod jobs;
mod leadership;
mod leading;
mod local_positions;
mod machine;
mod metric_definitions;
mod numbers;
mod opening;
mod options;
mod others;
mod outbox;
mod outbox_signals;
mod partition;
mod partition_state;
mod pause;
mod proposer;
mod published;
mod publishing;
mod reads;
mod record_state;
mod requests;
mod route;
pub mod set_aside;
mod snapshots;
mod tally;
mod write_limit;

pub use apply_watch::{ApplyWatch, SlowBatch};
pub use clock::{ClusterTime, WallClock};
pub use demand::Worker;
pub use disk::{Disk, DiskSpace};
pub use divergence::{DigestVerdict, Digests};
pub use flow_control::{Algorithm, Class, FlowControl, FlowControlOptions, FlowControlStatus, Overflow};
pub use hashes::{HASH_TIME, HashAnswer, StateHash, WantedHash};
pub use jobs::stream_jobs;
pub use local_positions::LocalPositions;
pub use numbers::is_of;
pub use opening::{OpenError, Surroundings, open_engine};
pub use options::{DiskOptions, DiskProbe, IngressOptions, JobOptions, PartitionOptions, StateOptions};
pub use others::{Fate, Others};
pub use partition::{Health, Partition, PartitionStatus, ReplayedPartition};
pub use partition_state::GiveUp;
pub use record_state::RecordTarget;
pub use route::{PATIENCE, term};
pub use snapshots::StateView;
pub use write_limit::{ThrottleOptions, WriteLimit, WriteLimitOptions, WriteLimitStatus};
