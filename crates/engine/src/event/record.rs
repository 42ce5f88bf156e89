//! Records of timers, messages, subscriptions and compensation.

use bpmn::Process;
use bpmn::graph::{ElementIndex, ElementType};
use protocol::{
    CompensationSubscriptionRecord, Document, Intent, Key, MessageRecord, MessageStartSubscriptionRecord,
    MessageSubscriptionRecord, Name, TimerRecord, Word,
};
use state::StateError;

use crate::core::context::CommandContext;
use crate::entity::{Compensation, Message, StartSubscription, Subscription, Timer};

/// The type of the element that waits for a catch event, as far as it has no other element of its own.
pub(super) fn awaited_type(process: &Process, event: ElementIndex) -> Word {
    let element_type = if process.is_behind_event_gateway(event) {
        ElementType::EventBasedGateway
    } else {
        process.element(event).element_type
    };
    Word::new(element_type.as_str())
}

impl CommandContext<'_> {
    /// The ID of an element, empty if its definition is gone.
    pub(super) fn element_id(
        &mut self,
        definition_key: Key,
        element: ElementIndex,
    ) -> Result<Name, StateError> {
        let process = self.definitions.find_process(self.tables, definition_key)?;
        Ok(process.map(|process| Name::from(&process.element(element).id)).unwrap_or_default())
    }

    /// The root of a process instance.
    pub(super) fn root_of(&self, process_instance_key: Key) -> Result<Option<Key>, StateError> {
        Ok(self.tables.instances.get(&process_instance_key)?.map(|instance| instance.root_key))
    }

    /// The ID of a catch event, empty if its definition is gone, and the type of the element that waits for it.
    pub(super) fn awaited_element(
        &mut self,
        definition_key: Key,
        event: ElementIndex,
    ) -> Result<(Name, Option<Word>), StateError> {
        let Some(process) = self.definitions.find_process(self.tables, definition_key)? else {
            return Ok((Name::default(), None));
        };
        Ok((Name::from(&process.element(event).id), Some(awaited_type(&process, event))))
    }

    pub(super) fn record_timer(&mut self, key: Key, intent: Intent, timer: &Timer) -> Result<(), StateError> {
        self.try_emit(key, intent, |work| {
            let (target_element_id, element_type) =
                work.awaited_element(timer.definition_key, timer.element)?;
            let root = timer.process_instance_key.map(|key| work.root_of(key)).transpose()?;
            let definition = work.tables.definitions.get(&timer.definition_key)?;
            Ok(TimerRecord {
                element_type,
                root_process_instance_key: root.flatten(),
                bpmn_process_id: definition.map(|definition| definition.process_id.clone()),
                element_instance_key: timer.element_instance_key,
                process_instance_key: timer.process_instance_key,
                process_definition_key: timer.definition_key,
                due_date_ms: timer.due_ms,
                target_element_id,
                repetitions: timer.repetitions,
                tenant_id: timer.tenant_id.clone(),
            })
        })
    }

    pub(super) fn record_message(&mut self, key: Key, intent: Intent, message: &Message) {
        self.meter.note_record(message.variables.json_len() as u64);
        self.emit(key, intent, |_| MessageRecord {
            name: message.name.clone(),
            correlation_key: message.correlation_key.clone(),
            message_id: message.message_id.clone(),
            time_to_live_ms: message.time_to_live_ms,
            deadline_ms: message.deadline_ms,
            variables: message.variables.clone(),
            tenant_id: message.tenant_id.clone(),
            business_id: message.business_id.as_ref().map(|claim| claim.business_id.clone()),
        });
    }

    /// A subscription as the message sees it and as the instance sees it: two records.
    pub(super) fn record_subscription(
        &mut self,
        key: Key,
        intent: Intent,
        subscription: &Subscription,
        message: Option<(Key, &Document)>,
    ) -> Result<(), StateError> {
        let record = |element_id| MessageSubscriptionRecord {
            process_instance_key: subscription.process_instance_key,
            element_instance_key: subscription.element_instance_key,
            message_key: message.map(|(key, _)| key),
            message_name: subscription.message_name.clone(),
            correlation_key: subscription.correlation_key.clone(),
            bpmn_process_id: subscription.process_id.clone(),
            interrupting: subscription.interrupting,
            variables: message.map(|(_, variables)| variables.clone()).unwrap_or_default(),
            tenant_id: subscription.tenant_id.clone(),
            element_id,
            process_definition_key: subscription.definition_key,
            business_id: subscription.business_id.clone(),
            element_type: None,
            root_process_instance_key: None,
        };
        self.emit(key, intent, |_| record(None));
        self.try_emit(key, intent, |work| {
            let (element_id, element_type) =
                work.awaited_element(subscription.definition_key, subscription.element)?;
            Ok(MessageSubscriptionRecord {
                element_type,
                root_process_instance_key: work.root_of(subscription.process_instance_key)?,
                ..record(Some(element_id))
            })
        })
    }

    pub(super) fn record_start_subscription(
        &mut self,
        intent: Intent,
        subscription: &StartSubscription,
        tenant_id: &Name,
        process_id: &Name,
        message_name: &Name,
        started: Option<(Key, Key, &Message)>,
    ) -> Result<(), StateError> {
        self.try_emit(subscription.key, intent, |work| {
            Ok(MessageStartSubscriptionRecord {
                process_definition_key: subscription.definition_key,
                bpmn_process_id: process_id.clone(),
                start_event_id: work.element_id(subscription.definition_key, subscription.element)?,
                message_name: message_name.clone(),
                process_instance_key: started.map(|(instance_key, _, _)| instance_key),
                message_key: started.map(|(_, message_key, _)| message_key),
                correlation_key: started.map(|(_, _, m)| m.correlation_key.clone()).unwrap_or_default(),
                variables: started.map(|(_, _, m)| m.variables.clone()).unwrap_or_default(),
                tenant_id: tenant_id.clone(),
                business_id: started
                    .and_then(|(_, _, m)| m.business_id.as_ref())
                    .map(|claim| claim.business_id.clone()),
            })
        })
    }

    /// A completed activity that can be compensated.
    pub fn record_compensation(
        &mut self,
        key: Key,
        intent: Intent,
        scope_key: Key,
        row: &Compensation,
    ) -> Result<(), StateError> {
        self.try_emit(key, intent, |work| {
            let process = work.definitions.find_process(work.tables, row.definition_key)?;
            let id = |element: Option<u32>| {
                let id = process.as_ref().zip(element).map(|(process, element)| &process.element(element).id);
                id.map(Name::from).unwrap_or_default()
            };
            let thrower = match row.thrower_key {
                Some(key) => work.tables.element_instances.get(&key)?,
                None => None,
            };
            Ok(CompensationSubscriptionRecord {
                tenant_id: row.tenant_id.clone(),
                process_instance_key: row.process_instance_key,
                process_definition_key: row.definition_key,
                compensable_activity_id: id(Some(row.activity)),
                throw_event_id: id(thrower.map(|thrower| thrower.element)),
                throw_event_instance_key: row.thrower_key,
                compensation_handler_id: id(row.handler),
                compensation_handler_instance_key: row.handler_instance_key,
                compensable_activity_scope_key: scope_key,
                compensable_activity_instance_key: row.activity_instance_key,
                variables: row.variables.clone(),
            })
        })
    }
}
