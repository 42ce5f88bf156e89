//! Records of process instances, their elements, variables and incidents.

use bpmn::graph::{ElementType, EventType};
use protocol::{
    ActivateElement, AdHocSubProcessInstructionRecord, IncidentRecord, Intent, Json, Key,
    MultiInstanceRecord, Name, ProcessInstanceBatchRecord, ProcessInstanceIntent, ProcessInstanceRecord,
    VariableRecord, Word,
};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::counters::ElementAction;
use crate::core::recorded::unknown_instance;
use crate::definition::expression::to_json;
use crate::entity::Incident;

impl CommandContext<'_> {
    /// A step in the life of an element instance.
    pub fn record_element(&mut self, at: &ActiveElement, intent: Intent) {
        let element_type = at.element().element_type;
        if let Some(action) = ProcessInstanceIntent::of(intent).and_then(counted_as) {
            self.counters.count_element(element_type, at.element().event_type, action);
            if element_type == ElementType::Process && at.instance.root_key == at.process_instance_key {
                self.counters.count_root(action);
            }
        }
        self.emit(at.key, intent, |work| {
            let element = at.element();
            ProcessInstanceRecord {
                instance: work.recorded.of(at.process_instance_key, &at.instance),
                element_id: Name::from(&element.id),
                flow_scope_key: (at.scope_key != 0).then_some(at.scope_key),
                bpmn_element_type: Word::new(element_type.as_str()),
                bpmn_event_type: Word::new(element.event_type.as_str()),
            }
        });
    }

    /// A sequence flow was taken.
    pub(super) fn record_flow(&mut self, at: &ActiveElement, flow: bpmn::graph::FlowIndex) {
        let key = self.next_key();
        self.emit(key, Intent::SequenceFlowTaken, |work| ProcessInstanceRecord {
            instance: work.recorded.of(at.process_instance_key, &at.instance),
            element_id: Name::from(&at.process.flow(flow).id),
            flow_scope_key: Some(at.scope_key),
            bpmn_element_type: Word::new(ElementType::SequenceFlow.as_str()),
            bpmn_event_type: Word::new(EventType::Unspecified.as_str()),
        });
    }

    pub(super) fn record_variable(
        &mut self,
        key: Key,
        intent: Intent,
        scope_key: Key,
        process_instance_key: Key,
        name: &Name,
        value: &Json,
    ) -> Result<(), StateError> {
        self.meter.note_record(value.as_bytes().len() as u64);
        self.try_emit(key, intent, |work| {
            let instance = match work.instance(process_instance_key)? {
                Some((instance, _)) => work.recorded.of(process_instance_key, &instance),
                None => unknown_instance(process_instance_key),
            };
            Ok(VariableRecord { instance, name: name.clone(), value: value.clone(), scope_key })
        })
    }

    pub(super) fn record_incident(
        &mut self,
        key: Key,
        intent: Intent,
        incident: &Incident,
    ) -> Result<(), StateError> {
        self.try_emit(key, intent, |work| {
            let row = work.tables.element_instances.get(&incident.element_instance_key)?;
            let found = work.instance(incident.process_instance_key)?;
            let element_id = match (&found, row) {
                (Some((_, process)), Some(row)) => Name::from(&process.element(row.element).id),
                _ => Name::default(),
            };
            let instance = found.map(|(instance, _)| instance);
            let path = work.call_path(incident.process_instance_key, incident.element_instance_key)?;
            Ok(IncidentRecord {
                element_instance_path: path.element_instances,
                process_definition_path: path.definitions,
                calling_element_path: path.calling_elements,
                error_type: Name::from(incident.error_type.as_str()),
                error_message: incident.error_message.clone(),
                bpmn_process_id: instance.as_ref().map(|i| i.process_id.clone()).unwrap_or_default(),
                process_definition_key: instance.as_ref().map_or(0, |i| i.definition_key),
                process_instance_key: incident.process_instance_key,
                element_id,
                element_instance_key: incident.element_instance_key,
                job_key: incident.job_key,
                variable_scope_key: incident.element_instance_key,
                tenant_id: instance.as_ref().map(|i| i.tenant_id.clone()).unwrap_or_default(),
                root_process_instance_key: instance
                    .as_ref()
                    .map_or(incident.process_instance_key, |i| i.root_key),
            })
        })
    }

    /// A slice of the children of a scope is activated or terminated.
    pub(super) fn record_batch(
        &mut self,
        scope_key: Key,
        process_instance_key: Key,
        intent: Intent,
        index: u64,
    ) -> Result<(), StateError> {
        let key = self.next_key();
        self.try_emit(key, intent, |work| {
            let instance = work.instance(process_instance_key)?;
            Ok(ProcessInstanceBatchRecord {
                process_instance_key,
                batch_element_instance_key: scope_key,
                index,
                tenant_id: instance.map(|(instance, _)| instance.tenant_id.clone()).unwrap_or_default(),
            })
        })
    }

    /// The collection of a multi-instance body is known.
    pub(super) fn record_collection(&mut self, at: &ActiveElement, collection: &feel::List) {
        let key = self.next_key();
        self.emit(key, Intent::InputCollectionEvaluated, |_| MultiInstanceRecord {
            process_instance_key: at.process_instance_key,
            process_definition_key: at.instance.definition_key,
            bpmn_process_id: at.instance.process_id.clone(),
            element_id: Name::from(&at.element().id),
            element_instance_key: at.key,
            input_collection: to_json(&feel::Value::List(collection.clone())),
            tenant_id: at.instance.tenant_id.clone(),
        });
    }

    /// Something is to be done inside an ad-hoc sub-process.
    pub(super) fn record_instruction(
        &mut self,
        at: &ActiveElement,
        intent: Intent,
        elements: &[ActivateElement],
        cancel_remaining: bool,
    ) {
        self.emit(at.key, intent, |_| AdHocSubProcessInstructionRecord {
            ad_hoc_sub_process_instance_key: at.key,
            activate_elements: elements.to_vec(),
            cancel_remaining_instances: cancel_remaining,
            completion_condition_fulfilled: intent == Intent::Completed,
            tenant_id: at.instance.tenant_id.clone(),
        });
    }
}

/// The counter of a step in the life of an element instance.
const fn counted_as(intent: ProcessInstanceIntent) -> Option<ElementAction> {
    match intent {
        ProcessInstanceIntent::ElementActivated => Some(ElementAction::Activated),
        ProcessInstanceIntent::ElementCompleted => Some(ElementAction::Completed),
        ProcessInstanceIntent::ElementTerminated => Some(ElementAction::Terminated),
        ProcessInstanceIntent::ElementActivating
        | ProcessInstanceIntent::ElementCompleting
        | ProcessInstanceIntent::ElementTerminating
        | ProcessInstanceIntent::SequenceFlowTaken
        | ProcessInstanceIntent::ElementMigrated
        | ProcessInstanceIntent::AncestorMigrated
        | ProcessInstanceIntent::Suspended
        | ProcessInstanceIntent::Resumed
        | ProcessInstanceIntent::BusinessIdAssigned => None,
    }
}

#[cfg(test)]
mod tests {
    use bpmn::graph::{ElementType, EventType};
    use protocol::Word;

    #[test]
    fn types_of_elements_and_events_are_words_of_records() {
        // It asserts that the text is known.
        let elements = ElementType::ALL.iter().map(|of| Word::new(of.as_str()));
        let events = EventType::ALL.iter().map(|of| Word::new(of.as_str()));
        assert!(elements.chain(events).all(|word| !word.is_empty()));
    }
}
