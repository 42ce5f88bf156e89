//! Signals: who waits for one, and how everybody is told.
//!
//! A broadcast goes in slices: a step tells some of those who wait and leaves the rest to the next, each one of them in
//! a step of its own, so that whoever cannot take it harms nobody else. Keys grow, so those who began to wait after the
//! broadcast are told apart by theirs.

use bpmn::graph::{ElementIndex, Trigger};
use bpmn::{Process, graph::Text};
use protocol::{
    BroadcastElsewhere, Document, Intent, Key, Name, PartitionMessage, SignalRecord, SignalSubscriptionRecord,
};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::slices::{Slices, next_text};
use crate::core::step::Step;
use crate::definition::expression::Scope;
use crate::entity::tables::Tables;
use crate::entity::{Definition, Instance, SignalSubscription, StartSubscription};
use crate::event::awaited::{Awaited, Rows};
use crate::event::record::awaited_type;

impl Awaited for SignalSubscription {
    fn tables(tables: &Tables) -> Rows<'_, Self> {
        (&tables.signal_subscriptions, &tables.signal_by_owner)
    }

    fn element(&self) -> ElementIndex {
        self.element
    }

    fn close(&self, work: &mut CommandContext, key: Key) -> Result<(), StateError> {
        let by_name = (self.tenant_id.0.clone(), self.signal_name.0.clone(), key);
        work.tables.signal_by_name.delete(&by_name);
        work.tables.signal_by_owner.delete(&(self.element_instance_key, key));
        work.tables.signal_subscriptions.delete(&key);
        work.record_signal_subscription(key, Intent::Deleted, self)
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
            ..self.clone()
        };
        work.record_signal_subscription(key, Intent::Migrated, &subscription)?;
        work.tables.signal_subscriptions.put(key, subscription);
        Ok(())
    }
}

impl CommandContext<'_> {
    /// Triggers all subscriptions to a signal that exist now, on all partitions. Gives its key.
    pub fn broadcast(&mut self, name: Name, tenant_id: Name, variables: Document) -> Result<Key, StateError> {
        if self.has_others() {
            let signal = BroadcastElsewhere {
                name: name.clone(),
                tenant_id: tenant_id.clone(),
                variables: variables.clone(),
            };
            self.send_to_all(&PartitionMessage::Signal(Box::new(signal)))?;
        }
        let signal_key = self.next_key();
        self.emit(signal_key, Intent::Broadcasted, |_| SignalRecord {
            signal_name: name.clone(),
            variables: variables.clone(),
            tenant_id: tenant_id.clone(),
        });
        self.steps.push_back(Step::BroadcastSignal { signal_key, name, tenant_id, variables, after: 0 });
        Ok(signal_key)
    }

    /// Triggers the subscriptions of this partition to a signal that was broadcast on another one, which has recorded
    /// it.
    pub(super) fn broadcast_here(&mut self, signal: &BroadcastElsewhere) {
        let BroadcastElsewhere { name, tenant_id, variables } = signal.clone();
        let signal_key = self.next_key();
        self.steps.push_back(Step::BroadcastSignal { signal_key, name, tenant_id, variables, after: 0 });
    }

    /// Triggers the next slice of subscriptions.
    pub(super) fn broadcast_slice(
        &mut self,
        signal_key: Key,
        name: Name,
        tenant_id: Name,
        variables: Document,
        after: Key,
    ) -> Result<(), Failure> {
        if after == 0 {
            self.start_all_by_signal(&name, &tenant_id, &variables)?;
        }
        let limit = self.options.max_children_per_step;
        let of = |key: Key| (tenant_id.0.clone(), name.0.clone(), key);
        let slice = self.tables.signal_by_name.keys(of(after + 1)..of(signal_key), limit)?;
        let last = slice.last().map(|(_, _, key)| *key);
        let more = slice.len() == limit;
        for (_, _, subscription_key) in slice {
            self.steps.push_back(Step::TriggerSignal { subscription_key, variables: variables.clone() });
        }
        if let Some(after) = last.filter(|_| more) {
            self.steps.push_back(Step::BroadcastSignal { signal_key, name, tenant_id, variables, after });
        }
        Ok(())
    }

    fn start_all_by_signal(
        &mut self,
        name: &Name,
        tenant_id: &Name,
        variables: &Document,
    ) -> Result<(), Failure> {
        let empty = std::sync::Arc::<str>::from("");
        let at = |name| (tenant_id.0.clone(), name, empty.clone(), 0);
        let mut slices = Slices::of(at(name.0.clone())..at(next_text(&name.0)));
        while let Some(starts) = slices.rows(&self.tables.signal_starts)? {
            self.counters.event_rows += starts.len() as u64;
            for (_, subscription) in starts {
                self.steps.push_back(Step::StartBySignal {
                    definition_key: subscription.definition_key,
                    element: subscription.element,
                    variables: variables.clone(),
                });
            }
        }
        Ok(())
    }

    /// Starts an instance at a start event whose signal was broadcast.
    pub(super) fn start_by_signal(
        &mut self,
        definition_key: Key,
        element: ElementIndex,
        variables: Document,
    ) -> Result<(), Failure> {
        let Some(definition) = self.tables.definitions.get(&definition_key)? else { return Ok(()) };
        if definition.state != crate::entity::DefinitionState::Active {
            return Ok(());
        }
        let key = self.next_key();
        let instance = Instance::root(
            key,
            definition_key,
            definition.process_id.clone(),
            definition.version,
            definition.tenant_id.clone(),
            self.now_ms(),
        );
        self.has_started_others = true;
        self.start_instance(key, instance, Document::empty(), Some((element, variables)))
    }

    /// Triggers one subscription.
    pub(super) fn trigger_signal(
        &mut self,
        subscription_key: Key,
        variables: &Document,
    ) -> Result<(), Failure> {
        let Some(row) = self.tables.signal_subscriptions.get(&subscription_key)? else { return Ok(()) };
        let host = row.element_instance_key;
        if self.accepts(host, row.element)? {
            self.trigger(host, row.element, variables)?;
        }
        Ok(())
    }

    pub(super) fn open_signal_subscription(
        &mut self,
        subscription: SignalSubscription,
    ) -> Result<(), StateError> {
        let key = self.next_key();
        self.record_signal_subscription(key, Intent::Created, &subscription)?;
        let (tenant, name) = (subscription.tenant_id.0.clone(), subscription.signal_name.0.clone());
        self.tables.signal_by_name.insert((tenant, name, key), ());
        self.tables.signal_by_owner.insert((subscription.element_instance_key, key), ());
        self.tables.signal_subscriptions.insert(key, subscription);
        Ok(())
    }

    /// Records a step in the life of a subscription.
    pub(super) fn record_signal_subscription(
        &mut self,
        key: Key,
        intent: Intent,
        row: &SignalSubscription,
    ) -> Result<(), StateError> {
        self.try_emit(key, intent, |work| {
            let (catch_event_id, element_type) = work.awaited_element(row.definition_key, row.element)?;
            Ok(SignalSubscriptionRecord {
                element_type,
                process_instance_key: Some(row.process_instance_key),
                root_process_instance_key: work.root_of(row.process_instance_key)?,
                process_definition_key: row.definition_key,
                bpmn_process_id: row.process_id.clone(),
                signal_name: row.signal_name.clone(),
                catch_event_id,
                catch_event_instance_key: Some(row.element_instance_key),
                tenant_id: row.tenant_id.clone(),
            })
        })
    }

    /// Lets a start event wait for its signal.
    pub(super) fn arm_signal(
        &mut self,
        definition_key: Key,
        definition: &Definition,
        model: &Process,
        element: ElementIndex,
        name: &Text,
    ) -> Result<(), Failure> {
        let name = self.evaluate_text(name, &Scope::of(0))?;
        let key = self.next_key();
        self.record_signal_start(key, Intent::Created, definition_key, definition, model, element, &name);
        let subscription = StartSubscription { key, definition_key, element };
        self.tables.signal_starts.put(start_key(definition, &name, element), subscription);
        Ok(())
    }

    /// Stops the start events of a definition from waiting for signals.
    pub(super) fn disarm_signals(
        &mut self,
        definition_key: Key,
        definition: &Definition,
        model: &Process,
    ) -> Result<(), Failure> {
        for (element, start) in model.triggered_starts() {
            let Trigger::Signal(name) = &start.trigger else { continue };
            let name = self.evaluate_text(name, &Scope::of(0))?;
            let at = start_key(definition, &name, element);
            let Some(row) = self.tables.signal_starts.get(&at)? else { continue };
            if row.definition_key == definition_key {
                self.tables.signal_starts.delete(&at);
                let intent = Intent::Deleted;
                self.record_signal_start(row.key, intent, definition_key, definition, model, element, &name);
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "each is a field of the record")]
    fn record_signal_start(
        &mut self,
        key: Key,
        intent: Intent,
        process_definition_key: Key,
        definition: &Definition,
        model: &Process,
        element: ElementIndex,
        name: &Name,
    ) {
        self.emit(key, intent, |_| SignalSubscriptionRecord {
            element_type: Some(awaited_type(model, element)),
            process_instance_key: None,
            root_process_instance_key: None,
            process_definition_key,
            bpmn_process_id: definition.process_id.clone(),
            signal_name: name.clone(),
            catch_event_id: Name::from(&model.element(element).id),
            catch_event_instance_key: None,
            tenant_id: definition.tenant_id.clone(),
        });
    }
}

type StartKey = (std::sync::Arc<str>, std::sync::Arc<str>, std::sync::Arc<str>, ElementIndex);

fn start_key(definition: &Definition, name: &Name, element: ElementIndex) -> StartKey {
    (definition.tenant_id.0.clone(), name.0.clone(), definition.process_id.0.clone(), element)
}
