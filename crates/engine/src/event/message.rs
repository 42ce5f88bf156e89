//! Messages: buffered ones, subscriptions, and how the two meet.
//!
//! A message is correlated at most once to each process (over all its versions and instances).

use std::ops::Bound;
use std::sync::Arc;

use bpmn::graph::{ElementIndex, Trigger};
use protocol::{Document, Intent, Key, Name, partition_of};
use state::StateError;

use bpmn::Process;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::slices::{Slices, next_text, rows_of_model};
use crate::core::step::Step;
use crate::definition::expression::Scope;
use crate::entity::tables::Tables;
use crate::entity::{Instance, Message, StartSubscription, Subscription};
use crate::event::awaited::{Awaited, Rows};

/// Where a subscription stands: tenant, message name, correlation key, process ID, key.
pub(super) type SubscriptionAt = (Arc<str>, Arc<str>, Arc<str>, Arc<str>, Key);
type NameRange = (Bound<(Arc<str>, Arc<str>, Arc<str>, Key)>, Bound<(Arc<str>, Arc<str>, Arc<str>, Key)>);

pub(super) fn by_name(tenant: &Name, name: &Name, correlation_key: &Name) -> NameRange {
    let key = |last| (tenant.0.clone(), name.0.clone(), correlation_key.0.clone(), last);
    (Bound::Included(key(0)), Bound::Included(key(Key::MAX)))
}

/// Where a subscription stands in the order by name.
fn subscription_at(key: Key, row: &Subscription) -> SubscriptionAt {
    let (tenant, name) = (&row.tenant_id.0, &row.message_name.0);
    (tenant.clone(), name.clone(), row.correlation_key.0.clone(), row.process_id.0.clone(), key)
}

impl Awaited for Subscription {
    fn tables(tables: &Tables) -> Rows<'_, Self> {
        (&tables.subscriptions, &tables.subscription_by_owner)
    }

    fn element(&self) -> ElementIndex {
        self.element
    }

    fn close(&self, work: &mut CommandContext, key: Key) -> Result<(), StateError> {
        work.remove_subscription(key, self);
        work.close_elsewhere(key, self)?;
        work.record_subscription(key, Intent::Deleted, self, None)
    }

    fn migrate(
        &self,
        work: &mut CommandContext,
        key: Key,
        element: ElementIndex,
        at: &ActiveElement,
    ) -> Result<(), StateError> {
        let subscription = Self {
            element,
            definition_key: at.instance.definition_key,
            process_id: at.instance.process_id.clone(),
            interrupting: at.process.interrupts(element),
            ..self.clone()
        };
        let target = work.message_partition(&self.correlation_key);
        if target.is_none() {
            work.tables.subscription_by_name.delete(&subscription_at(key, self));
            work.tables.subscription_by_name.put(subscription_at(key, &subscription), ());
        }
        work.record_subscription(key, Intent::Migrated, &subscription, None)?;
        // Before its first opening, that comes still.
        match target.filter(|_| self.generation.is_some()) {
            Some(target) => work.open_elsewhere(target, key, &subscription)?,
            None => work.tables.subscriptions.put(key, subscription),
        }
        Ok(())
    }
}

/// Where a message went for a process.
pub(super) enum Reached {
    /// To this instance.
    Here(Key),
    /// It was offered to another partition, which answers.
    Elsewhere,
}

impl CommandContext<'_> {
    /// Correlates a new message with every matching subscription. Returns the first instance that got it; catch
    /// events of other partitions answer later.
    pub(super) fn correlate(&mut self, message_key: Key, message: &Message) -> Result<Option<Key>, Failure> {
        let mut reached: Vec<Name> = Vec::new();
        let mut first = self.correlate_to_starts(message_key, message, &mut reached)?;
        let of = |process_id: &Arc<str>, key: Key| {
            let (tenant, name) = (&message.tenant_id.0, &message.name.0);
            (tenant.clone(), name.clone(), message.correlation_key.0.clone(), process_id.clone(), key)
        };
        // One process after the other, each up to the first that takes it: thousands of the others are not looked at.
        let mut from = Bound::Included(of(&Arc::from(""), 0));
        while let Some(at) = self.first_subscription((from, Bound::Unbounded), message)? {
            let process_id = Name(at.3.clone());
            from = Bound::Excluded(of(&at.3, Key::MAX));
            if reached.contains(&process_id) {
                continue;
            }
            match self.correlate_to_process(message_key, message, at)? {
                Some(Reached::Here(instance_key)) => {
                    reached.push(process_id);
                    first.get_or_insert(instance_key);
                }
                Some(Reached::Elsewhere) | None => {}
            }
        }
        if message.time_to_live_ms > 0 {
            for process_id in reached {
                self.tables.message_correlations.put((message_key, process_id.0), ());
            }
        }
        Ok(first)
    }

    /// The first subscription for a message within bounds.
    pub(super) fn first_subscription(
        &self,
        bounds: (Bound<SubscriptionAt>, Bound<SubscriptionAt>),
        message: &Message,
    ) -> Result<Option<SubscriptionAt>, Failure> {
        let found = self.tables.subscription_by_name.keys(bounds, 1)?.pop();
        Ok(found.filter(|at| {
            at.0 == message.tenant_id.0 && at.1 == message.name.0 && at.2 == message.correlation_key.0
        }))
    }

    /// Hands a message to the first instance of a process that takes it, from this subscription on, or offers it to one
    /// of another partition.
    pub(super) fn correlate_to_process(
        &mut self,
        message_key: Key,
        message: &Message,
        at: SubscriptionAt,
    ) -> Result<Option<Reached>, Failure> {
        let process_id = at.3.clone();
        let mut next = Some(at);
        while let Some(at) = next {
            if partition_of(at.4) != self.options.partition_id {
                if self.offer(message_key, message, at.4)? {
                    return Ok(Some(Reached::Elsewhere));
                }
            } else if let Some(subscription) = self.tables.subscriptions.get(&at.4)?
                && message.is_for(subscription.business_id.as_ref())
                && self.tables.halt_of(subscription.process_instance_key)?.is_none()
                && self.deliver(message_key, &message.variables, at.4, &subscription)?
            {
                return Ok(Some(Reached::Here(subscription.process_instance_key)));
            }
            let after = (Bound::Excluded(at), Bound::Unbounded);
            next = self.first_subscription(after, message)?.filter(|at| at.3 == process_id);
        }
        Ok(None)
    }

    fn correlate_to_starts(
        &mut self,
        message_key: Key,
        message: &Message,
        reached: &mut Vec<Name>,
    ) -> Result<Option<Key>, Failure> {
        let (tenant, empty) = (&message.tenant_id.0, Arc::<str>::from(""));
        let at = |name| (Arc::clone(tenant), name, Arc::clone(&empty), 0);
        let mut first = None;
        let mut slices = Slices::of(at(message.name.0.clone())..at(next_text(&message.name.0)));
        while let Some(starts) = slices.rows(&self.tables.start_subscriptions)? {
            self.counters.event_rows += starts.len() as u64;
            for (key, subscription) in starts {
                let process_id = Name(key.2);
                if reached.contains(&process_id)
                    || self.is_locked(message, &process_id)?
                    || self.is_claimed(message, &process_id)?
                {
                    continue;
                }
                let instance_key = self.start_by_message(message_key, message, &process_id, &subscription)?;
                reached.push(process_id);
                first.get_or_insert(instance_key);
            }
        }
        Ok(first)
    }

    fn is_locked(&self, message: &Message, process_id: &Name) -> Result<bool, Failure> {
        if message.correlation_key.is_empty() {
            return Ok(false);
        }
        let lock = (message.tenant_id.0.clone(), process_id.0.clone(), message.correlation_key.0.clone());
        Ok(self.tables.start_locks.contains(&lock)?)
    }

    fn start_by_message(
        &mut self,
        message_key: Key,
        message: &Message,
        process_id: &Name,
        subscription: &StartSubscription,
    ) -> Result<Key, Failure> {
        let key = self.next_key();
        let version = self.tables.definitions.get(&subscription.definition_key)?.map_or(0, |row| row.version);
        let tenant_id = message.tenant_id.clone();
        let mut instance = Instance::root(
            key,
            subscription.definition_key,
            process_id.clone(),
            version,
            tenant_id.clone(),
            self.now_ms(),
        );
        self.name_started(key, &mut instance, message);
        if !message.correlation_key.is_empty() {
            instance.started_by_key = Some(message.correlation_key.clone());
            let lock = (tenant_id.0.clone(), process_id.0.clone(), message.correlation_key.0.clone());
            self.tables.start_locks.put(lock, key);
        }
        self.record_start_subscription(
            Intent::Correlated,
            subscription,
            &tenant_id,
            process_id,
            &message.name,
            Some((key, message_key, message)),
        )?;
        let start = Some((subscription.element, message.variables.clone()));
        self.has_started_others = true;
        self.start_instance(key, instance, Document::empty(), start)?;
        Ok(key)
    }

    pub(super) fn deliver(
        &mut self,
        message_key: Key,
        variables: &Document,
        subscription_key: Key,
        subscription: &Subscription,
    ) -> Result<bool, Failure> {
        let host = subscription.element_instance_key;
        if !self.accepts(host, subscription.element)? {
            return Ok(false);
        }
        let brought = Some((message_key, variables));
        self.record_subscription(subscription_key, Intent::Correlated, subscription, brought)?;
        if subscription.interrupting {
            self.remove_subscription(subscription_key, subscription);
        }
        self.trigger(host, subscription.element, variables)?;
        Ok(true)
    }

    /// Opens a subscription. A message that waits for it already comes in a step of its own.
    pub(super) fn open_subscription(&mut self, subscription: Subscription) -> Result<(), Failure> {
        let key = self.next_key();
        self.record_subscription(key, Intent::Created, &subscription, None)?;
        let (tenant, name) = (&subscription.tenant_id, &subscription.message_name);
        self.tables.subscription_by_owner.insert((subscription.element_instance_key, key), ());
        if self.message_partition(&subscription.correlation_key).is_some() {
            self.steps.push_back(Step::MatchBuffered { subscription_key: key });
            self.tables.subscriptions.insert(key, subscription);
            return Ok(());
        }
        self.tables.subscription_by_name.insert(subscription_at(key, &subscription), ());
        let range = by_name(tenant, name, &subscription.correlation_key);
        if !self.tables.message_by_name.keys(range, 1)?.is_empty() {
            self.steps.push_back(Step::MatchBuffered { subscription_key: key });
        }
        self.tables.subscriptions.insert(key, subscription);
        Ok(())
    }

    /// Gives the oldest fitting message of the buffer to a subscription, or opens it where its messages are.
    pub(super) fn match_buffered(&mut self, subscription_key: Key) -> Result<(), Failure> {
        let Some(subscription) = self.tables.subscriptions.get(&subscription_key)? else { return Ok(()) };
        if let Some(target) = self.message_partition(&subscription.correlation_key) {
            return Ok(self.open_elsewhere(target, subscription_key, &subscription)?);
        }
        let range =
            by_name(&subscription.tenant_id, &subscription.message_name, &subscription.correlation_key);
        let mut slices = Slices::of(range);
        while let Some(messages) = slices.keys(&self.tables.message_by_name)? {
            self.counters.event_rows += messages.len() as u64;
            for (_, _, _, message_key) in messages {
                let correlation = (message_key, subscription.process_id.0.clone());
                if self.tables.message_correlations.contains(&correlation)? {
                    continue;
                }
                let Some(message) = self.tables.messages.get(&message_key)? else { continue };
                if message.deadline_ms <= self.now_ms() || !message.is_for(subscription.business_id.as_ref())
                {
                    continue;
                }
                if self.deliver(message_key, &message.variables, subscription_key, &subscription)? {
                    self.tables.message_correlations.put(correlation, ());
                }
                if subscription.interrupting {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn remove_subscription(&mut self, key: Key, row: &Subscription) {
        self.tables.subscription_by_name.delete(&subscription_at(key, row));
        self.tables.subscription_by_owner.delete(&(row.element_instance_key, key));
        self.tables.subscriptions.delete(&key);
    }

    /// Keeps a message until its time is over.
    pub(super) fn buffer(&mut self, key: Key, message: Message) {
        let by = (message.tenant_id.0.clone(), message.name.0.clone(), message.correlation_key.0.clone());
        self.tables.message_by_name.insert((by.0.clone(), by.1.clone(), by.2.clone(), key), ());
        if !message.message_id.is_empty() {
            self.tables.message_by_id.put((by.0, by.1, by.2, message.message_id.0.clone()), key);
        }
        self.index_business_id(key, &message);
        self.tables.message_due.insert((message.deadline_ms, key), ());
        self.tables.messages.insert(key, message);
    }

    /// Forgets a message whose time is over.
    pub fn expire_message(&mut self, due_ms: i64, key: Key) -> Result<(), Failure> {
        debug_assert!(due_ms <= self.now_ms(), "message {key} expires at {due_ms}, now is {}", self.now_ms());
        self.tables.message_due.delete(&(due_ms, key));
        let Some(message) = self.tables.messages.get(&key)? else { return Ok(()) };
        let by = (message.tenant_id.0.clone(), message.name.0.clone(), message.correlation_key.0.clone());
        self.tables.message_by_name.delete(&(by.0.clone(), by.1.clone(), by.2.clone(), key));
        if !message.message_id.is_empty() {
            self.tables.message_by_id.delete(&(by.0, by.1, by.2, message.message_id.0.clone()));
        }
        self.forget_business_id(key, &message);
        if self.keep_offered(key, &message, None)? {
            return Ok(());
        }
        self.drop_message(key, &message)
    }

    /// Removes a message that nothing waits for, and what it was correlated to.
    pub(super) fn drop_message(&mut self, key: Key, message: &Message) -> Result<(), Failure> {
        let empty: Arc<str> = Arc::from("");
        let range = (key, Arc::clone(&empty))..(key + 1, empty);
        let mut slices = Slices::of(range);
        while let Some(correlations) = slices.keys(&self.tables.message_correlations)? {
            for correlation in correlations {
                self.tables.message_correlations.delete(&correlation);
            }
        }
        self.tables.messages.delete(&key);
        self.record_message(key, Intent::Expired, message);
        Ok(())
    }

    /// Starts an instance by the next buffered message with a correlation key, after the instance of the former one has
    /// ended.
    pub(super) fn start_from_buffer(
        &mut self,
        tenant: &Name,
        process_id: &Name,
        correlation_key: &Name,
    ) -> Result<(), Failure> {
        let Some(definition_key) = self.latest_definition(tenant, process_id)? else { return Ok(()) };
        let process = self.definitions.process(self.tables, definition_key)?;
        let mut oldest: Option<(Key, StartSubscription)> = None;
        for name in self.start_message_names(&process)? {
            for subscription in self.start_subscriptions_of(tenant, &name, process_id)? {
                let range = by_name(tenant, &name, correlation_key);
                let Some(message_key) = self.oldest_to_start(range, process_id)? else { continue };
                if oldest.as_ref().is_none_or(|(key, _)| message_key < *key) {
                    oldest = Some((message_key, subscription));
                }
            }
        }
        if let Some((message_key, subscription)) = oldest
            && let Some(message) = self.tables.messages.get(&message_key)?
        {
            self.start_by_message(message_key, &message, process_id, &subscription)?;
            self.tables.message_correlations.put((message_key, process_id.0.clone()), ());
        }
        Ok(())
    }

    /// The oldest buffered message of a range that may start an instance of a process.
    fn oldest_to_start(&mut self, range: NameRange, process_id: &Name) -> Result<Option<Key>, Failure> {
        let mut slices = Slices::of(range);
        while let Some(messages) = slices.keys(&self.tables.message_by_name)? {
            self.counters.event_rows += messages.len() as u64;
            for (_, _, _, message_key) in messages {
                let correlated = (message_key, process_id.0.clone());
                if self.tables.message_correlations.contains(&correlated)? {
                    continue;
                }
                let Some(message) = self.tables.messages.get(&message_key)? else { continue };
                if message.deadline_ms > self.now_ms() && !self.is_claimed(&message, process_id)? {
                    return Ok(Some(message_key));
                }
            }
        }
        Ok(None)
    }

    /// Starts an instance by the oldest buffered message that waits for a business ID, which has become free.
    pub(super) fn start_by_business_id(
        &mut self,
        tenant_id: &Name,
        process_id: &Name,
        business_id: &Name,
    ) -> Result<(), Failure> {
        let Some(definition_key) = self.latest_definition(tenant_id, process_id)? else { return Ok(()) };
        let process = self.definitions.process(self.tables, definition_key)?;
        let names = self.start_message_names(&process)?;
        let at = |key| (tenant_id.0.clone(), business_id.0.clone(), key);
        let mut slices = Slices::of(at(0)..=at(Key::MAX));
        while let Some(messages) = slices.keys(&self.tables.message_by_business_id)? {
            self.counters.event_rows += messages.len() as u64;
            for (_, _, key) in messages {
                let Some(message) = self.tables.messages.get(&key)? else { continue };
                let correlation = (key, process_id.0.clone());
                if message.deadline_ms <= self.now_ms()
                    || !names.contains(&message.name)
                    || self.tables.message_correlations.contains(&correlation)?
                    || self.is_locked(&message, process_id)?
                {
                    continue;
                }
                // Another one may have taken it meanwhile; its end comes here again.
                if self.is_claimed(&message, process_id)? {
                    return Ok(());
                }
                let subscriptions = self.start_subscriptions_of(tenant_id, &message.name, process_id)?;
                let Some(subscription) = subscriptions.first() else { continue };
                self.start_by_message(key, &message, process_id, subscription)?;
                self.tables.message_correlations.put(correlation, ());
                return Ok(());
            }
        }
        Ok(())
    }

    fn start_subscriptions_of(
        &self,
        tenant: &Name,
        name: &Name,
        process_id: &Name,
    ) -> Result<Vec<StartSubscription>, Failure> {
        let key = |element| (tenant.0.clone(), name.0.clone(), process_id.0.clone(), element);
        let rows = rows_of_model(&self.tables.start_subscriptions, key(0)..=key(u32::MAX))?;
        Ok(rows.into_iter().map(|(_, row)| (*row).clone()).collect())
    }

    pub(super) fn start_message_names(&self, model: &Process) -> Result<Vec<Name>, Failure> {
        let mut names = Vec::new();
        for (_, start) in model.triggered_starts() {
            if let Trigger::Message(message) = &start.trigger {
                names.push(self.evaluate_text(&message.name, &Scope::of(0))?);
            }
        }
        Ok(names)
    }
}
