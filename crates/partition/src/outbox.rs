//! The outbox of a partition as its senders see it: which targets have new messages, and the messages themselves.

use std::sync::Arc;

use broker_api::SubmitError;
use engine::OutboxStatus;
use protocol::{Command, Parcel, PartitionId, Response};

use crate::partition::Partition;

/// Messages of one parcel, and their bytes by estimate, at the most; the first one fits always.
const PARCEL_MESSAGES: usize = 256;
const PARCEL_BYTES: usize = 512 * 1024;

impl Partition {
    /// Resolves when there are new messages to another partition, or were since the last call.
    pub async fn outbox_grew(&self, target: PartitionId) {
        let signal = Arc::clone(self.shared.outbox.of(target));
        signal.notified().await;
    }

    /// The next messages to another partition, after one of them; `None`: after the last that it has received, as far
    /// as is known here.
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

    /// Counts the messages to other partitions, and publishes how many there are. One that does not lead has nothing
    /// to send.
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
