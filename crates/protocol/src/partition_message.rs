//! Messages between partitions. The sender numbers them per target, without gaps; the receiver's log takes them as a
//! command, in order, each once.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::{BatchAction, Caller, Clock, Document, HistoryOwner, Key, Name, PartitionId, PublishMessage};

/// A message from one partition to another.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum PartitionMessage {
    /// Rows that partition 1 gives to all: definitions, identity, cluster variables, listeners.
    #[n(0)]
    Rows(#[n(0)] Box<DistributedRows>),
    /// No instance of a definition that is being deleted runs on the sender any more.
    #[n(1)]
    Drained {
        #[n(0)]
        definition_key: Key,
    },
    /// A catch event waits for a message, or waits for it as another generation.
    #[n(2)]
    OpenSubscription(#[n(0)] Box<OpenSubscription>),
    /// A catch event does not wait any more.
    #[n(3)]
    CloseSubscription {
        #[n(0)]
        subscription_key: Key,
    },
    /// A message for a catch event. A [`PartitionMessage::CorrelationAnswer`] follows.
    #[n(4)]
    Correlate(#[n(0)] Box<Correlate>),
    /// The fate of a message for a catch event.
    #[n(5)]
    CorrelationAnswer(#[n(0)] Box<CorrelationAnswer>),
    /// A message that an element has sent.
    #[n(6)]
    Publish(#[n(0)] Box<PublishMessage>),
    /// A signal that was broadcast on the sender.
    #[n(7)]
    Signal(#[n(0)] Box<BroadcastElsewhere>),
    /// The clock was pinned, moved or reset.
    #[n(8)]
    Clock(#[n(0)] Clock),
    /// All data are removed, as a change of the cluster.
    #[n(9)]
    Purge {
        #[n(0)]
        change_id: u64,
    },
    /// An item of a batch operation. A [`PartitionMessage::BatchItemDone`] follows.
    #[n(10)]
    BatchItem(#[n(0)] Box<RemoteBatchItem>),
    /// The outcome of an item of a batch operation.
    #[n(11)]
    BatchItemDone(#[n(0)] Box<RemoteBatchOutcome>),
}

/// See [`PartitionMessage::Rows`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct DistributedRows {
    /// Position of the command on partition 1 that has changed them.
    #[n(0)]
    pub position: u64,
    #[n(1)]
    pub rows: Vec<DistributedRow>,
}

/// A row as a command on partition 1 left it.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct DistributedRow {
    /// Number of the table.
    #[n(0)]
    pub table: u32,
    /// Encoded key.
    #[cbor(n(1), with = "minicbor::bytes")]
    pub key: Vec<u8>,
    /// Encoded value; `None`: there is no such row any more.
    #[cbor(n(2), with = "minicbor::bytes")]
    pub value: Option<Vec<u8>>,
}

/// See [`PartitionMessage::OpenSubscription`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct OpenSubscription {
    /// Key of the subscription on the partition of its process instance.
    #[n(0)]
    pub subscription_key: Key,
    /// Number of this opening: it grows when the subscription is migrated or its instance is resumed.
    #[n(1)]
    pub generation: u32,
    #[n(2)]
    pub process_instance_key: Key,
    #[n(3)]
    pub process_id: Name,
    #[n(4)]
    pub message_name: Name,
    #[n(5)]
    pub correlation_key: Name,
    #[n(6)]
    pub tenant_id: Name,
    #[n(7)]
    pub interrupting: bool,
    /// Business ID of the instance when the catch event began to wait.
    #[n(8)]
    pub business_id: Option<Name>,
}

/// See [`PartitionMessage::Correlate`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Correlate {
    #[n(0)]
    pub subscription_key: Key,
    #[n(1)]
    pub generation: u32,
    #[n(2)]
    pub message_key: Key,
    /// The process whose instance the message is correlated to: each process takes it once.
    #[n(3)]
    pub process_id: Name,
    #[n(4)]
    pub variables: Document,
    #[n(5)]
    pub process_instance_key: Key,
}

/// See [`PartitionMessage::CorrelationAnswer`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct CorrelationAnswer {
    #[n(0)]
    pub subscription_key: Key,
    #[n(1)]
    pub generation: u32,
    #[n(2)]
    pub message_key: Key,
    #[n(3)]
    pub process_id: Name,
    #[n(4)]
    pub outcome: CorrelationOutcome,
    #[n(5)]
    pub process_instance_key: Key,
}

/// The fate of a message for a catch event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum CorrelationOutcome {
    /// The catch event has it.
    #[n(0)]
    Correlated,
    /// The catch event does not wait any more, or takes nothing now.
    #[n(1)]
    Refused,
    /// The process instance stands still. It opens the subscription anew when it goes on.
    #[n(2)]
    Halted,
}

/// See [`PartitionMessage::Signal`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct BroadcastElsewhere {
    #[n(0)]
    pub name: Name,
    #[n(1)]
    pub tenant_id: Name,
    #[n(2)]
    pub variables: Document,
}

/// See [`PartitionMessage::BatchItem`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct RemoteBatchItem {
    #[n(0)]
    pub batch_operation_key: Key,
    #[n(1)]
    pub item_key: Key,
    /// Action of the batch operation.
    #[n(2)]
    pub action: BatchAction,
    /// The creator of the batch operation, whose permissions are checked.
    #[n(3)]
    pub caller: Option<Caller>,
    #[n(4)]
    pub process_instance_key: Key,
    /// Owner of an item that has ended.
    #[n(5)]
    pub owner: Option<HistoryOwner>,
    /// Echoed in the records of the action.
    #[n(6)]
    pub operation_reference: Option<u64>,
}

/// See [`PartitionMessage::BatchItemDone`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct RemoteBatchOutcome {
    #[n(0)]
    pub batch_operation_key: Key,
    #[n(1)]
    pub item_key: Key,
    /// `None`: it is done.
    #[n(2)]
    pub failure: Option<Name>,
    /// Whether its subject had ended before.
    #[n(3)]
    pub is_gone: bool,
}

/// Messages of one partition to another, in order.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Parcel {
    /// The sender.
    #[n(0)]
    pub source: PartitionId,
    /// Number of the first message.
    #[n(1)]
    pub first: u64,
    #[n(2)]
    pub messages: Vec<PartitionMessage>,
}
