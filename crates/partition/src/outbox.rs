//! The outbox of a partition as its senders see it: which targets have new messages, and the messages themselves.

use std::sync::Arc;

use broker_api::SubmitError;
use engine::OutboxStatus;
use parking_lot::Mutex;
use protocol::{Command, Parcel, PartitionId, Response};
use tokio::sync::Notify;

use crate::partition::Partition;

/// Messages of one parcel, and their bytes by estimate, at the most; the first one fits always.
const PARCEL_MESSAGES: usize = 256;
const PARCEL_BYTES: usize = 512 * 1024;

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
                 the limit of {} (limits.max_outbox_messages)",
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

    fn of(&self, target: PartitionId) -> &Arc<Notify> {
        &self.targets[usize::from(target) - 1]
    }
}

impl Partition {
    /// Resolves when there are new messages to another partition, or were since the last call.
    pub async fn outbox_grew(&self, target: PartitionId) {
        let signal = Arc::clone(self.shared.outbox.of(target));
        signal.notified().await;
    }

    /// The next messages to another partition, after one of them; `None`: after the last that it has received, as far as
    /// is known here.
    pub fn next_parcel(&self, target: PartitionId, after: Option<u64>) -> Result<Option<Parcel>, String> {
        let engine = self.engine.lock();
        let failed = |error: state::StateError| error.to_string();
        let acknowledged = engine.acknowledged_by(target).map_err(failed)?;
        // A former leader may have told more than this one remembers.
        let after = after.unwrap_or(0).max(acknowledged);
        let messages = engine.outbox_slice(target, after, PARCEL_MESSAGES, PARCEL_BYTES).map_err(failed)?;
        let parcel = Parcel { source: self.number(), first: after + 1, messages };
        Ok((!parcel.messages.is_empty()).then_some(parcel))
    }

    /// Takes messages of another partition. Gives the number of the last that has had its effect.
    pub async fn receive(&self, parcel: Parcel) -> Result<u64, SubmitError> {
        let answer = self.run_own(Command::Receive(Box::new(parcel))).await?;
        match answer.response {
            Response::MessagesReceived { up_to } => Ok(up_to),
            response => unreachable!("{response:?} is no answer to messages"),
        }
    }

    /// Forgets messages that another partition has received.
    pub async fn acknowledge_messages(&self, target: PartitionId, up_to: u64) -> Result<(), SubmitError> {
        self.run_own(Command::AcknowledgeMessages { target, up_to }).await.map(drop)
    }

    /// Channels to other partitions.
    pub fn outbox(&self) -> Result<Vec<OutboxStatus>, String> {
        self.engine.lock().outbox().map_err(|error| error.to_string())
    }

    /// Counts the messages to other partitions, and publishes how many there are. One that does not lead has nothing to
    /// send.
    pub(crate) fn look_at_outbox(&self) {
        if !self.shared.outbox.has_targets() {
            return;
        }
        let Some(channels) = self.engine.try_lock().and_then(|engine| engine.outbox().ok()) else { return };
        let channels = if self.leads() { channels } else { Vec::new() };
        self.shared.outbox.note(&channels);
        self.shared.counts.metrics.outbox(&channels, self.clock_ms());
    }

    /// Position on partition 1 of the last command whose rows are here.
    pub fn distributed(&self) -> u64 {
        *self.shared.applied.distributed().borrow()
    }

    /// Resolves when rows up to a command of partition 1 are here.
    pub async fn until_distributed(&self, position: u64) {
        let mut distributed = self.shared.applied.distributed();
        // Without a sender the partition is gone, and whoever waits finds that out.
        let _ = distributed.wait_for(|known| *known >= position).await;
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
