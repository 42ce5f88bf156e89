//! What element instances wait for: kept where the plan maps it, else closed; what is new in the target is opened.

use bpmn::Process;
use bpmn::graph::{ElementIndex, ElementKind};
use protocol::Intent;

use super::{Migration, Part, refused};
use crate::entity::Phase;
use crate::failure::Failure;
use crate::message::subscription_at;
use crate::work::{At, Work};

/// The catch events that an element waits for besides itself.
pub(super) fn attached_events(process: &Process, index: ElementIndex) -> Vec<ElementIndex> {
    let element = process.element(index);
    let mut events = element.boundary_events.clone();
    events.extend_from_slice(&element.event_starts);
    if matches!(element.kind, ElementKind::EventBased) {
        events.extend(element.outgoing.iter().map(|&flow| process.flow(flow).target));
    }
    events
}

/// Whether an event ends what waits for it.
pub(super) fn is_interrupting(process: &Process, event: ElementIndex) -> bool {
    process.interrupts(event)
}

impl Work<'_> {
    /// Moves what an element instance waits for. `at` is its new place.
    pub(super) fn move_events(&mut self, migration: &Migration, part: &Part, at: &At) -> Result<(), Failure> {
        let mapping = &migration.mapping;
        let source = part.row.element;
        if part.row.subscribed {
            self.move_timers(migration, part, at)?;
            self.move_subscriptions(migration, part, at)?;
            self.move_signals(migration, part, at)?;
            self.move_conditions(migration, part, at)?;
        }
        if !matches!(part.row.phase, Phase::Activated | Phase::Completing) {
            return Ok(());
        }
        let kept: Vec<ElementIndex> = attached_events(&mapping.source, source)
            .into_iter()
            .filter_map(|event| mapping.element(event))
            .collect();
        // What an interrupting event sub-process has ended is not ended by another.
        let is_interrupted = migration.interrupted.contains(&part.key);
        let new: Vec<ElementIndex> = attached_events(&mapping.target, at.index)
            .into_iter()
            .filter(|event| !kept.contains(event))
            .filter(|event| !(is_interrupted && at.element().event_starts.contains(event)))
            .collect();
        match self.subscribe(at, &new) {
            Err(Failure::Incident { message, .. }) => Err(refused(
                migration.process_instance_key,
                format_args!("the events of '{}' cannot be subscribed to: {message}", at.element().id),
            )),
            result => result,
        }
    }

    fn move_timers(&mut self, migration: &Migration, part: &Part, at: &At) -> Result<(), Failure> {
        let owner = part.key;
        for (_, key) in self.tables.timer_by_owner.keys((owner, 0)..(owner + 1, 0), usize::MAX)? {
            let Some(timer) = self.tables.timers.get(&key)? else { continue };
            match migration.mapping.element(timer.element) {
                Some(element) => {
                    let mut timer = (*timer).clone();
                    timer.element = element;
                    timer.definition_key = at.instance.definition_key;
                    self.record_timer(key, Intent::Migrated, &timer);
                    self.tables.timers.put(key, timer);
                }
                None => self.cancel_timer(owner, key)?,
            }
        }
        Ok(())
    }

    fn move_subscriptions(&mut self, migration: &Migration, part: &Part, at: &At) -> Result<(), Failure> {
        let owner = part.key;
        for (_, key) in self.tables.subscription_by_owner.keys((owner, 0)..(owner + 1, 0), usize::MAX)? {
            let Some(subscription) = self.tables.subscriptions.get(&key)? else { continue };
            match migration.mapping.element(subscription.element) {
                Some(element) => {
                    let mut subscription = (*subscription).clone();
                    self.tables.subscription_by_name.delete(&subscription_at(key, &subscription));
                    subscription.element = element;
                    subscription.definition_key = at.instance.definition_key;
                    subscription.process_id = at.instance.process_id.clone();
                    self.tables.subscription_by_name.put(subscription_at(key, &subscription), ());
                    subscription.interrupting = migration.mapping.target.interrupts(element);
                    self.record_subscription(key, Intent::Migrated, &subscription, None);
                    self.tables.subscriptions.put(key, subscription);
                }
                None => self.close_subscription(key, &subscription),
            }
        }
        Ok(())
    }

    fn move_conditions(&mut self, migration: &Migration, part: &Part, at: &At) -> Result<(), Failure> {
        let owner = part.key;
        for (_, key) in self.tables.condition_by_owner.keys((owner, 0)..(owner + 1, 0), usize::MAX)? {
            let Some(subscription) = self.tables.condition_subscriptions.get(&key)? else { continue };
            match migration.mapping.element(subscription.element) {
                Some(element) => {
                    let mut subscription = (*subscription).clone();
                    subscription.element = element;
                    subscription.definition_key = at.instance.definition_key;
                    subscription.process_id = at.instance.process_id.clone();
                    self.record_condition(key, Intent::Migrated, &subscription);
                    self.tables.condition_subscriptions.put(key, subscription);
                }
                None => self.close_condition(key, &subscription),
            }
        }
        Ok(())
    }

    fn move_signals(&mut self, migration: &Migration, part: &Part, at: &At) -> Result<(), Failure> {
        let owner = part.key;
        for (_, key) in self.tables.signal_by_owner.keys((owner, 0)..(owner + 1, 0), usize::MAX)? {
            let Some(subscription) = self.tables.signal_subscriptions.get(&key)? else { continue };
            match migration.mapping.element(subscription.element) {
                Some(element) => {
                    let mut subscription = (*subscription).clone();
                    subscription.element = element;
                    subscription.definition_key = at.instance.definition_key;
                    subscription.process_id = at.instance.process_id.clone();
                    self.record_signal_subscription(key, Intent::Migrated, &subscription);
                    self.tables.signal_subscriptions.put(key, subscription);
                }
                None => self.close_signal(key, &subscription),
            }
        }
        Ok(())
    }
}
