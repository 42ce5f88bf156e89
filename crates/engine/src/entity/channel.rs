//! Rows of messages between partitions.

use minicbor::{Decode, Encode};
use protocol::{DistributedRow, Key, OpenSubscription, PartitionMessage};
use state::minicbor_value;

/// The ends of the channels to and from another partition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub struct Channel {
    /// Number of the last message to it.
    #[n(0)]
    pub sent: u64,
    /// Number of the last message to it that it has received.
    #[n(1)]
    pub acknowledged: u64,
    /// Number of the last message from it.
    #[n(2)]
    pub received: u64,
    /// Messages from it that had no effect, since the engine failed on them.
    #[n(3)]
    pub failed: u64,
}
minicbor_value!(Channel);

/// A message on its way to another partition.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Outgoing {
    #[n(0)]
    pub message: PartitionMessage,
    /// When it was written, Unix milliseconds of the log's clock.
    #[n(1)]
    pub since_ms: i64,
}
minicbor_value!(Outgoing, weight = |row| size_of::<Outgoing>() + bytes(&row.message));

/// Memory of what a message holds outside of itself, by estimate.
fn bytes(message: &PartitionMessage) -> usize {
    match message {
        PartitionMessage::Rows(rows) => {
            let row = |row: &DistributedRow| 64 + row.key.len() + row.value.as_ref().map_or(0, Vec::len);
            rows.rows.iter().map(row).sum()
        }
        PartitionMessage::Correlate(correlate) => 128 + correlate.variables.json_len(),
        PartitionMessage::Publish(publish) => 256 + publish.variables.json_len(),
        PartitionMessage::Signal(signal) => 128 + signal.variables.json_len(),
        PartitionMessage::BatchItem(_) => 1024,
        PartitionMessage::OpenSubscription(_)
        | PartitionMessage::CorrelationAnswer(_)
        | PartitionMessage::BatchItemDone(_) => 256,
        PartitionMessage::Drained { .. }
        | PartitionMessage::CloseSubscription { .. }
        | PartitionMessage::Clock(_)
        | PartitionMessage::Purge { .. } => 0,
    }
}

/// A catch event of another partition that waits for a message here.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct RemoteSubscription {
    #[n(0)]
    pub opened: OpenSubscription,
    /// The message that it was offered, until the answer.
    #[n(1)]
    pub offered: Option<Key>,
    /// Its process instance stands still: it takes nothing until it is opened anew.
    #[n(2)]
    pub is_halted: bool,
    /// The last message that it has refused in this generation; 0 for none. It is not offered again.
    #[n(3)]
    pub refused: Key,
}
minicbor_value!(RemoteSubscription);
