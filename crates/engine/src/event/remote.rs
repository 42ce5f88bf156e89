//! Message subscriptions whose message and catch event are on different partitions.
//!
//! Messages and subscriptions of a correlation key meet on one partition; the catch event stays with its process
//! instance, which alone knows whether it takes a message. So a message is offered and answered. Channels are in
//! order and
//! without loss or doubles, hence opening and closing need no answers. Every offer has the generation of the
//! subscription: an answer to an older one offers the message anew, once.

use std::ops::Bound;

use planted::Bug;
use protocol::{
    Correlate, CorrelationAnswer, CorrelationOutcome, Key, Name, OpenSubscription, PartitionId,
    PartitionMessage, Rejection, Response, partition_of,
};
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::slices::Slices;
use crate::entity::{KeptMessage, Message, RemoteSubscription, Subscription};
use crate::event::correlate_message::not_correlated;
use crate::event::message::{Reached, SubscriptionAt, by_name};

/// Where a subscription of another partition stands in the order by name.
fn remote_at(opened: &OpenSubscription) -> SubscriptionAt {
    let (tenant, name) = (&opened.tenant_id.0, &opened.message_name.0);
    let (correlation_key, process_id) = (&opened.correlation_key.0, &opened.process_id.0);
    (tenant.clone(), name.clone(), correlation_key.clone(), process_id.clone(), opened.subscription_key)
}

fn answer_to(correlate: &Correlate, outcome: CorrelationOutcome) -> PartitionMessage {
    PartitionMessage::CorrelationAnswer(Box::new(CorrelationAnswer {
        subscription_key: correlate.subscription_key,
        generation: correlate.generation,
        message_key: correlate.message_key,
        process_id: correlate.process_id.clone(),
        outcome,
        process_instance_key: correlate.process_instance_key,
    }))
}

/// On the partition of the process instance.
impl CommandContext<'_> {
    /// Has a subscription wait on the partition of its correlation key, which is another one, as a new generation.
    pub(super) fn open_elsewhere(
        &mut self,
        target: PartitionId,
        key: Key,
        row: &Subscription,
    ) -> Result<(), StateError> {
        let generation = row.generation.map_or(0, |generation| generation + 1);
        let row = Subscription { generation: Some(generation), ..row.clone() };
        let opened = OpenSubscription {
            subscription_key: key,
            generation,
            process_instance_key: row.process_instance_key,
            process_id: row.process_id.clone(),
            message_name: row.message_name.clone(),
            correlation_key: row.correlation_key.clone(),
            tenant_id: row.tenant_id.clone(),
            interrupting: row.interrupting,
            business_id: row.business_id.clone(),
        };
        self.send(target, PartitionMessage::OpenSubscription(Box::new(opened)))?;
        self.tables.subscriptions.put(key, row);
        Ok(())
    }

    /// Ends the wait on another partition, if it is there.
    pub(super) fn close_elsewhere(&mut self, key: Key, row: &Subscription) -> Result<(), StateError> {
        match self.message_partition(&row.correlation_key).filter(|_| row.generation.is_some()) {
            Some(target) => self.send(target, PartitionMessage::CloseSubscription { subscription_key: key }),
            None => Ok(()),
        }
    }

    /// Takes a message that another partition offers, or not, and answers.
    pub(super) fn take_offer(&mut self, source: PartitionId, correlate: &Correlate) -> Result<(), Failure> {
        let outcome = self.outcome_of(correlate)?;
        self.send(source, answer_to(correlate, outcome))?;
        Ok(())
    }

    fn outcome_of(&mut self, correlate: &Correlate) -> Result<CorrelationOutcome, Failure> {
        let key = correlate.subscription_key;
        let Some(row) = self.tables.subscriptions.get(&key)? else { return Ok(CorrelationOutcome::Refused) };
        if row.generation != Some(correlate.generation) {
            return Ok(CorrelationOutcome::Refused);
        }
        if self.tables.halt_of(row.process_instance_key)?.is_some() {
            return Ok(CorrelationOutcome::Halted);
        }
        let has_it = self.deliver(correlate.message_key, &correlate.variables, key, &row)?;
        Ok(if has_it { CorrelationOutcome::Correlated } else { CorrelationOutcome::Refused })
    }

    /// Answers an offer that the engine failed on. Its instance is banned.
    pub fn refuse_offer(&mut self, source: PartitionId, correlate: &Correlate) -> Result<(), Failure> {
        self.send(source, answer_to(correlate, CorrelationOutcome::Halted))?;
        Ok(())
    }
}

/// On the partition of the message.
impl CommandContext<'_> {
    /// Refuses a message that belongs to another partition: its subscriptions are there.
    pub(super) fn refuse_elsewhere(&self, correlation_key: &str) -> Result<(), Failure> {
        let Some(target) = self.message_partition(correlation_key) else { return Ok(()) };
        let reason = format!(
            "Expected a message of partition {}, but correlation key '{correlation_key}' belongs to partition {target}",
            self.options.partition_id
        );
        Err(Rejection::invalid_state(reason).into())
    }

    /// Has a catch event of another partition wait, or wait as a new generation.
    pub(super) fn open_remote(&mut self, opened: &OpenSubscription) -> Result<(), Failure> {
        let key = opened.subscription_key;
        assert_ne!(partition_of(key), self.options.partition_id, "a subscription from here is no remote one");
        if let Some(known) = self.tables.remote_subscriptions.get(&key)? {
            assert!(known.opened.generation < opened.generation, "generations of {key} grow");
            self.tables.subscription_by_name.delete(&remote_at(&known.opened));
        }
        self.tables.subscription_by_name.put(remote_at(opened), ());
        let row = RemoteSubscription { opened: opened.clone(), offered: None, is_halted: false, refused: 0 };
        self.tables.remote_subscriptions.put(key, row);
        self.offer_buffered(key)
    }

    /// Forgets a catch event of another partition. A message that it was offered is answered all the same.
    pub(super) fn close_remote(&mut self, key: Key) -> Result<(), Failure> {
        if let Some(row) = self.tables.remote_subscriptions.get(&key)? {
            self.remove_remote(key, &row);
        }
        Ok(())
    }

    fn remove_remote(&mut self, key: Key, row: &RemoteSubscription) {
        self.tables.subscription_by_name.delete(&remote_at(&row.opened));
        if !planted::has(Bug::KeptSubscriptions) {
            self.tables.remote_subscriptions.delete(&key);
        }
    }

    /// Offers a message to a subscription of another partition, if that can take an offer now.
    pub(super) fn offer(&mut self, message_key: Key, message: &Message, key: Key) -> Result<bool, Failure> {
        let Some(row) = self.tables.remote_subscriptions.get(&key)? else { return Ok(false) };
        let opened = &row.opened;
        let is_free = row.offered.is_none() && !row.is_halted && row.refused < message_key;
        if !is_free || !message.is_for(opened.business_id.as_ref()) {
            return Ok(false);
        }
        let process_id = &opened.process_id.0;
        self.tables.offers.insert((message_key, process_id.clone()), key);
        self.tables.message_correlations.put((message_key, process_id.clone()), ());
        let correlate = Correlate {
            subscription_key: key,
            generation: opened.generation,
            message_key,
            process_id: opened.process_id.clone(),
            variables: message.variables.clone(),
            process_instance_key: opened.process_instance_key,
        };
        self.meter.note_work(message.variables.json_len());
        self.send(partition_of(key), PartitionMessage::Correlate(Box::new(correlate)))?;
        let offered = RemoteSubscription { offered: Some(message_key), ..(*row).clone() };
        self.tables.remote_subscriptions.put(key, offered);
        Ok(true)
    }

    /// Offers the oldest fitting message of the buffer to a subscription of another partition.
    fn offer_buffered(&mut self, key: Key) -> Result<(), Failure> {
        let Some(row) = self.tables.remote_subscriptions.get(&key)? else { return Ok(()) };
        let opened = &row.opened;
        let mut slices =
            Slices::of(by_name(&opened.tenant_id, &opened.message_name, &opened.correlation_key));
        while let Some(messages) = slices.keys(&self.tables.message_by_name)? {
            self.counters.event_rows += messages.len() as u64;
            for (_, _, _, message_key) in messages {
                let correlation = (message_key, opened.process_id.0.clone());
                if self.tables.message_correlations.contains(&correlation)? {
                    continue;
                }
                let Some(message) = self.tables.messages.get(&message_key)? else { continue };
                if message.deadline_ms > self.now_ms() && self.offer(message_key, &message, key)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Takes note of the answer to an offer. A message that was not taken goes to the next subscription.
    pub(super) fn end_offer(&mut self, answer: &CorrelationAnswer) -> Result<(), Failure> {
        let (message_key, key) = (answer.message_key, answer.subscription_key);
        let offer = (message_key, answer.process_id.0.clone());
        if self.tables.offers.get(&offer)?.as_deref() != Some(&key) {
            // A purge has removed what it answers.
            return Ok(());
        }
        self.tables.offers.delete(&offer);
        let is_taken = answer.outcome == CorrelationOutcome::Correlated;
        let message = self.tables.messages.get(&message_key)?;
        let message = message.expect("a message that was offered is kept until the answer");
        if let Some(row) = self.tables.remote_subscriptions.get(&key)?
            && row.opened.generation == answer.generation
        {
            if is_taken && row.opened.interrupting {
                self.remove_remote(key, &row);
            } else {
                let is_halted = answer.outcome == CorrelationOutcome::Halted;
                let is_refused = answer.outcome == CorrelationOutcome::Refused;
                let refused = if is_refused { row.refused.max(message_key) } else { row.refused };
                let opened = row.opened.clone();
                let row = RemoteSubscription { opened, offered: None, is_halted, refused };
                self.tables.remote_subscriptions.put(key, row);
            }
        }
        if is_taken {
            self.answer_correlation(message_key, &message, answer.process_instance_key)?;
        } else {
            self.tables.message_correlations.delete(&offer);
            self.offer_to_next(answer, &message)?;
        }
        self.release_message(message_key)?;
        self.offer_buffered(key)
    }

    /// Hands a message that was refused to another subscription of the process, also to one that was opened
    /// meanwhile, or to the same one as it is now.
    fn offer_to_next(&mut self, answer: &CorrelationAnswer, message: &Message) -> Result<(), Failure> {
        let (message_key, key) = (answer.message_key, answer.subscription_key);
        if let Some(row) = self.tables.remote_subscriptions.get(&key)?
            && row.opened.generation > answer.generation
        {
            let correlation = (message_key, row.opened.process_id.0.clone());
            if !self.tables.message_correlations.contains(&correlation)?
                && self.offer(message_key, message, key)?
            {
                return Ok(());
            }
        }
        let (tenant, name) = (message.tenant_id.0.clone(), message.name.0.clone());
        let at = (tenant, name, message.correlation_key.0.clone(), answer.process_id.0.clone(), 0);
        let next = self.first_subscription((Bound::Included(at), Bound::Unbounded), message)?;
        let Some(next) = next.filter(|next| next.3 == answer.process_id.0) else { return Ok(()) };
        if let Some(Reached::Here(instance_key)) = self.correlate_to_process(message_key, message, next)? {
            self.tables.message_correlations.put((message_key, answer.process_id.0.clone()), ());
            self.answer_correlation(message_key, message, instance_key)?;
        }
        Ok(())
    }

    /// Answers the request that waits for the first instance that has a message.
    fn answer_correlation(
        &mut self,
        message_key: Key,
        message: &Message,
        process_instance_key: Key,
    ) -> Result<(), Failure> {
        let Some(request_id) = message.kept.and_then(|kept| kept.request_id) else { return Ok(()) };
        let tenant_id = message.tenant_id.clone();
        let response = Response::MessageCorrelated { message_key, process_instance_key, tenant_id };
        self.effects.late_responses.push((request_id, Ok(response)));
        let answered = Some(KeptMessage { request_id: None });
        self.tables.messages.update(&message_key, |message| message.kept = answered)?;
        Ok(())
    }

    /// Keeps a message whose time is over, if it was offered to other partitions. Gives whether it was.
    pub(super) fn keep_offered(
        &mut self,
        message_key: Key,
        message: &Message,
        request_id: Option<u64>,
    ) -> Result<bool, Failure> {
        let is_offered = self.is_offered(message_key)?;
        if is_offered {
            let kept = Some(KeptMessage { request_id });
            self.tables.messages.put(message_key, Message { kept, ..message.clone() });
        }
        Ok(is_offered)
    }

    fn is_offered(&self, message_key: Key) -> Result<bool, Failure> {
        let empty = Name::default().0;
        let offers = (message_key, empty.clone())..(message_key + 1, empty);
        Ok(!self.tables.offers.keys(offers, 1)?.is_empty())
    }

    /// Forgets a message whose time is over when no other partition has it any more.
    fn release_message(&mut self, message_key: Key) -> Result<(), Failure> {
        let Some(message) = self.tables.messages.get(&message_key)? else { return Ok(()) };
        if let Some(kept) = message.kept
            && !self.is_offered(message_key)?
        {
            if let Some(request_id) = kept.request_id {
                let refusal = not_correlated(&message);
                self.effects.late_responses.push((request_id, Err(refusal)));
            }
            self.drop_message(message_key, &message)?;
        }
        Ok(())
    }
}
