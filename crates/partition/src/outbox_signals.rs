//! Senders of messages to other partitions: which of them have new ones, and whether too many wait.

use std::sync::Arc;

use broker_api::SubmitError;
use engine::OutboxStatus;
use parking_lot::Mutex;
use protocol::PartitionId;
use tokio::sync::Notify;

/// Wakes the senders of a partition, and knows how much they have to send.
#[derive(Default)]
pub(crate) struct OutboxSignals {
    targets: Vec<Arc<Notify>>,
    /// Messages to a partition beyond which new work is refused.
    limit: u64,
    /// The partition with the most messages, if these are too many, and how many.
    full: Mutex<Option<(PartitionId, u64)>>,
}

impl OutboxSignals {
    /// For messages to so many partitions, and so many messages to each.
    pub fn new(partitions: PartitionId, limit: u64) -> Self {
        // With one partition nobody sends.
        let count = if partitions > 1 { usize::from(partitions) } else { 0 };
        Self { targets: (0..count).map(|_| Arc::default()).collect(), limit, full: Mutex::default() }
    }

    /// Whether there are other partitions.
    pub fn has_targets(&self) -> bool {
        !self.targets.is_empty()
    }

    /// Notes how many messages wait. They are counted now and then: the limit may be passed by a moment's work.
    pub fn note(&self, channels: &[OutboxStatus]) {
        let fullest = channels.iter().max_by_key(|channel| channel.depth);
        let full = fullest.filter(|channel| channel.depth > self.limit);
        *self.full.lock() = full.map(|channel| (channel.target, channel.depth));
    }

    /// Whether new work may add messages. Work in progress may always.
    pub fn check(&self) -> Result<(), SubmitError> {
        self.full.lock().map_or(Ok(()), |(target, depth)| {
            Err(SubmitError::ResourceExhausted(format!(
                "Expected to handle the command, but {depth} messages to partition {target} have not been received, more than \
                 the limit of {} (cluster.max_outbox_messages)",
                self.limit
            )))
        })
    }

    /// Tells of new messages to some partitions.
    pub fn wake(&self, targets: &[PartitionId]) {
        for target in targets {
            self.of(*target).notify_one();
        }
    }

    pub fn of(&self, target: PartitionId) -> &Arc<Notify> {
        &self.targets[usize::from(target) - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(target: PartitionId, depth: u64) -> OutboxStatus {
        OutboxStatus { target, depth, since_ms: None, failed: 0 }
    }

    #[test]
    fn new_work_is_refused_while_too_many_messages_wait() {
        let outbox = OutboxSignals::new(3, 10);
        outbox.check().unwrap();
        outbox.note(&[channel(2, 10), channel(3, 4)]);
        outbox.check().unwrap();
        outbox.note(&[channel(2, 11), channel(3, 12)]);
        let refused = outbox.check().unwrap_err();
        assert!(matches!(refused, SubmitError::ResourceExhausted(_)));
        assert!(refused.to_string().contains("12 messages to partition 3"), "{refused}");
        outbox.note(&[]);
        outbox.check().unwrap();
    }
}
