//! Messages of other partitions: each once, in order, in a transaction with its effect.
//!
//! A message that the engine fails on, or refuses, stops nothing: it is counted, recorded and answered, if its sender
//! waits for an answer, and the next one follows.

use planted::Bug;
use protocol::{FIRST_PARTITION, Parcel, PartitionId, PartitionMessage, Rejection, Response};

use super::transaction::Attempt;
use crate::Engine;
use crate::core::context::CommandContext;
use crate::core::effects::{Effects, Outcome};
use crate::core::failure::{ApplyError, Failure};

impl Engine {
    /// Takes messages of another partition, as far as there is fuel. Those that were received before are passed over.
    pub(crate) fn receive(
        &mut self,
        parcel: &Parcel,
        effects: &mut Effects,
    ) -> Result<Option<Outcome>, ApplyError> {
        let source = parcel.source;
        if source == self.options.partition_id
            || !(FIRST_PARTITION..=self.options.partitions.count).contains(&source)
        {
            let reason = format!("Expected messages of another partition, but partition {source} is none");
            return Ok(Some(Err(Rejection::invalid_argument(reason))));
        }
        let mut received = self.tables.channel(source)?.received;
        if parcel.first > received + 1 {
            let reason = format!(
                "Expected message {} of partition {source}, but the first one is {}",
                received + 1,
                parcel.first
            );
            return Ok(Some(Err(Rejection::invalid_state(reason))));
        }
        let mut is_first = true;
        for (number, message) in (parcel.first..).zip(&parcel.messages) {
            if number <= received && !planted::has(Bug::ReceivedTwice) {
                continue;
            }
            // The first one always has its turn.
            if !std::mem::take(&mut is_first) && self.meter.is_spent() {
                break;
            }
            self.receive_one(source, number, message, effects)?;
            received = number;
        }
        Ok(Some(Ok(Response::MessagesReceived { up_to: received })))
    }

    fn receive_one(
        &mut self,
        source: PartitionId,
        number: u64,
        message: &PartitionMessage,
        effects: &mut Effects,
    ) -> Result<(), ApplyError> {
        if matches!(message, PartitionMessage::Purge { .. }) {
            self.purge_as_told(effects)?;
        }
        let budget = self.options.max_steps_per_command;
        let attempt = self.attempt_with_steps(effects, budget, |work| {
            work.note_received(source, number)?;
            if planted::has(Bug::ReceivedWithoutEffect) && number.is_multiple_of(16) {
                return Ok(());
            }
            work.receive(source, message)
        })?;
        let (instance_key, reason) = match attempt {
            Attempt::Done(_) => return Ok(()),
            Attempt::Refused(failure) => (0, failure.into_rejection().reason),
            Attempt::Panicked { instance_key, reason, .. } => (instance_key, reason),
        };
        self.ban(instance_key, &reason, effects)?;
        let attempt = self.attempt(effects, |work| {
            work.note_received(source, number)?;
            work.note_failed(source)?;
            work.answer_failed(source, message, &reason)
        })?;
        match attempt {
            Attempt::Done(()) => Ok(()),
            Attempt::Refused(_) | Attempt::Panicked { .. } => {
                unreachable!("a note and an answer are written whatever the message says")
            }
        }
    }
}

impl CommandContext<'_> {
    fn note_received(&mut self, source: PartitionId, number: u64) -> Result<(), Failure> {
        let mut channel = self.tables.channel(source)?;
        let is_next = channel.received + 1 == number || planted::has(Bug::ReceivedTwice);
        assert!(
            is_next,
            "messages of partition {source} come in order, each once: {number} after {channel:?}"
        );
        channel.received = channel.received.max(number);
        self.tables.channels.put(source, channel);
        Ok(())
    }

    fn note_failed(&mut self, source: PartitionId) -> Result<(), Failure> {
        let mut channel = self.tables.channel(source)?;
        channel.failed += 1;
        self.tables.channels.put(source, channel);
        Ok(())
    }

    /// Has a message take its effect.
    fn receive(&mut self, source: PartitionId, message: &PartitionMessage) -> Result<(), Failure> {
        match message {
            PartitionMessage::Rows(_) | PartitionMessage::Drained { .. } => {
                self.receive_definition(source, message)
            }
            PartitionMessage::OpenSubscription(_)
            | PartitionMessage::CloseSubscription { .. }
            | PartitionMessage::Correlate(_)
            | PartitionMessage::CorrelationAnswer(_)
            | PartitionMessage::Publish(_)
            | PartitionMessage::Signal(_) => self.receive_event(source, message),
            PartitionMessage::BatchItem(_) | PartitionMessage::BatchItemDone(_) => {
                self.receive_batch(source, message)
            }
            PartitionMessage::Clock(clock) => {
                self.set_clock_here(clock);
                Ok(())
            }
            // The data are gone already.
            PartitionMessage::Purge { change_id } => {
                self.record_purge(*change_id);
                Ok(())
            }
        }
    }

    /// Answers a message that had no effect.
    fn answer_failed(
        &mut self,
        source: PartitionId,
        message: &PartitionMessage,
        reason: &str,
    ) -> Result<(), Failure> {
        match message {
            PartitionMessage::Correlate(correlate) => self.refuse_offer(source, correlate),
            PartitionMessage::BatchItem(item) => self.fail_remote_item(source, item, reason),
            PartitionMessage::Rows(_)
            | PartitionMessage::Drained { .. }
            | PartitionMessage::OpenSubscription(_)
            | PartitionMessage::CloseSubscription { .. }
            | PartitionMessage::CorrelationAnswer(_)
            | PartitionMessage::Publish(_)
            | PartitionMessage::Signal(_)
            | PartitionMessage::Clock(_)
            | PartitionMessage::Purge { .. }
            | PartitionMessage::BatchItemDone(_) => Ok(()),
        }
    }
}
