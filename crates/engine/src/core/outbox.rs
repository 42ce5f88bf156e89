//! Messages to other partitions: rows with a number per target, written in the transaction that causes them.
//!
//! The leader sends them after commit, from the rows, until the target has acknowledged them. To itself a partition
//! sends nothing: it takes a step instead.

use std::sync::LazyLock;

use planted::Bug;
use protocol::{
    DistributedRow, DistributedRows, FIRST_PARTITION, PartitionId, PartitionMessage, partition_of_text,
};
use state::{RowChange, StateError, TableSet};

use crate::Engine;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::tables::{GIVEN, GRANTS, Tables};
use crate::entity::{Channel, Outgoing};

/// Bytes of a row above which it is a message of its own: many large ones would not fit into one entry.
const LARGE_ROW: usize = 64 * 1024;

/// Messages to another partition that are not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxStatus {
    /// The other partition.
    pub target: PartitionId,
    /// How many there are.
    pub depth: u64,
    /// When the oldest was written, Unix milliseconds of the log's clock.
    pub since_ms: Option<i64>,
    /// Messages from there that had no effect, since the engine failed on them.
    pub failed: u64,
}

impl CommandContext<'_> {
    /// Whether there are other partitions.
    pub fn has_others(&self) -> bool {
        self.options.partitions.count > 1
    }

    /// The other partitions.
    pub fn other_partitions(&self) -> impl Iterator<Item = PartitionId> + use<> {
        let own = self.options.partition_id;
        (FIRST_PARTITION..=self.options.partitions.count).filter(move |partition| *partition != own)
    }

    /// The partition where messages of a correlation key and their subscriptions meet, if it is another one.
    pub fn message_partition(&self, correlation_key: &str) -> Option<PartitionId> {
        if !self.has_others() {
            return None;
        }
        let partition = partition_of_text(correlation_key, self.options.partitions.of_messages);
        (partition != self.options.partition_id).then_some(partition)
    }

    /// Writes a message to another partition.
    pub fn send(&mut self, target: PartitionId, message: PartitionMessage) -> Result<(), StateError> {
        assert_ne!(target, self.options.partition_id, "to itself a partition takes a step");
        assert!(
            (FIRST_PARTITION..=self.options.partitions.count).contains(&target),
            "there is no partition {target}"
        );
        let mut channel = self.tables.channel(target)?;
        channel.sent += 1;
        let since_ms = self.meta.wall_ms;
        self.tables.outbox.insert((target, channel.sent), Outgoing { message, since_ms });
        self.tables.channels.put(target, channel);
        self.effects.outbox.push(target);
        Ok(())
    }

    /// Writes the same message to all other partitions.
    pub fn send_to_all(&mut self, message: &PartitionMessage) -> Result<(), StateError> {
        for target in self.other_partitions() {
            self.send(target, message.clone())?;
            if planted::has(Bug::DistributedToOne) {
                break;
            }
        }
        Ok(())
    }

    /// Gives rows that the command at hand has changed to all partitions. At the end of its transaction.
    pub fn distribute(&mut self) -> Result<(), Failure> {
        if !self.has_others() || self.options.partition_id != FIRST_PARTITION {
            return Ok(());
        }
        static TABLES: LazyLock<TableSet> = LazyLock::new(|| Tables::set_of(&[GRANTS, GIVEN].concat()));
        let changes = self.tables.changes(*TABLES)?;
        if changes.is_empty() {
            return Ok(());
        }
        let position = self.meta.position;
        let (large, small): (Vec<_>, Vec<_>) = changes.into_iter().map(row_of).partition(is_large);
        // Rows that others name come first, so that a reader between two messages finds them.
        for row in large {
            let rows = Box::new(DistributedRows { position: 0, rows: vec![row] });
            self.send_to_all(&PartitionMessage::Rows(rows))?;
        }
        self.send_to_all(&PartitionMessage::Rows(Box::new(DistributedRows { position, rows: small })))?;
        self.meta.distributed = Some(position);
        Ok(())
    }

    /// Forgets messages that another partition has received.
    pub fn acknowledge_messages(&mut self, target: PartitionId, up_to: u64) -> Result<(), Failure> {
        let mut channel = self.tables.channel(target)?;
        let up_to = up_to.min(channel.sent);
        if !planted::has(Bug::KeptMessages) {
            for number in channel.acknowledged + 1..=up_to {
                self.tables.outbox.delete(&(target, number));
            }
        }
        channel.acknowledged = channel.acknowledged.max(up_to);
        if planted::has(Bug::ReusedMessageNumbers) && channel.acknowledged == channel.sent {
            (channel.sent, channel.acknowledged) = (up_to.saturating_sub(1), up_to.saturating_sub(1));
        }
        self.tables.channels.put(target, channel);
        Ok(())
    }
}

impl Tables {
    /// The ends of the channels to and from another partition.
    pub(crate) fn channel(&self, partition: PartitionId) -> Result<Channel, StateError> {
        let channel = self.channels.get(&partition)?.map_or_else(Channel::default, |channel| *channel);
        assert!(channel.acknowledged <= channel.sent, "only what was sent is acknowledged: {channel:?}");
        Ok(channel)
    }
}

impl Engine {
    /// Messages to another partition after one of them, in order: so many bytes of them, one at least.
    pub fn outbox_slice(
        &self,
        target: PartitionId,
        after: u64,
        max_messages: usize,
        max_bytes: usize,
    ) -> Result<Vec<PartitionMessage>, StateError> {
        let rows = self.tables.outbox.scan((target, after + 1)..=(target, u64::MAX), max_messages)?;
        let mut bytes = 0;
        let mut slice = Vec::new();
        for (number, ((_, at), row)) in (after + 1..).zip(rows) {
            assert_eq!(at, number, "messages to partition {target} have numbers without gaps");
            bytes += state::TableValue::weight(&*row);
            if bytes > max_bytes && !slice.is_empty() {
                break;
            }
            slice.push(row.message.clone());
        }
        Ok(slice)
    }

    /// Number of the last message to another partition that it has received.
    pub fn acknowledged_by(&self, target: PartitionId) -> Result<u64, StateError> {
        Ok(self.tables.channel(target)?.acknowledged)
    }

    /// Channels to other partitions.
    pub fn outbox(&self) -> Result<Vec<OutboxStatus>, StateError> {
        let channels = self.tables.channels.scan(.., usize::from(PartitionId::MAX))?;
        let status = |(target, channel): (PartitionId, std::sync::Arc<Channel>)| {
            let oldest = self.tables.outbox.get(&(target, channel.acknowledged + 1))?;
            Ok(OutboxStatus {
                target,
                depth: channel.sent - channel.acknowledged,
                since_ms: oldest.map(|row| row.since_ms),
                failed: channel.failed,
            })
        };
        channels.into_iter().map(status).collect()
    }

    /// Position on partition 1 of the last command whose rows are here: a request that names this or an earlier one
    /// finds what was deployed and granted there.
    pub fn distributed(&self) -> u64 {
        self.meta.distributed.unwrap_or_default()
    }
}

fn row_of(change: RowChange) -> DistributedRow {
    let RowChange { table, key, value } = change;
    DistributedRow { table, key, value }
}

fn is_large(row: &DistributedRow) -> bool {
    row.value.as_ref().is_some_and(|value| value.len() > LARGE_ROW)
}
