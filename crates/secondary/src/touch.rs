//! Which lists and instances a record is shown by.

use std::collections::{BTreeSet, HashSet};

use protocol::{HistoryDeletionRecord, HistoryKind, Key, Name, Record, RecordValue, RecordedInstance};
use search::{List, Touch};

use crate::replay::process_instance;

/// The subjects of the records of a flush.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    touches: HashSet<Touch>,
    /// Whether there were records without a reader of changes.
    has_gaps: bool,
}

impl Touched {
    /// Adds records, if there is a reader of changes.
    pub(crate) fn add(&mut self, records: &[Record], is_watched: bool) {
        if is_watched {
            self.touches.extend(records.iter().filter_map(touch));
        } else {
            self.has_gaps |= !records.is_empty();
        }
    }

    /// Takes those whose rows a flush has written: those of the instances that it left are told with the flush that
    /// writes them, so that a read behind a hint finds what it is about. `None`: some of it is not known.
    pub(crate) fn take_written(&mut self, left: &BTreeSet<Key>) -> Option<HashSet<Touch>> {
        let is_left = |touch: &Touch| left.contains(&touch.process_instance_key);
        let (later, written) = std::mem::take(&mut self.touches).into_iter().partition(is_left);
        self.touches = later;
        let has_gaps = self.has_gaps;
        self.has_gaps &= !left.is_empty();
        (!has_gaps).then_some(written)
    }
}

/// Records whose rows no reader of changes is shown, or which come with the elements that they change.
#[rustfmt::skip]
macro_rules! shown_nowhere {
    () => {
        RecordValue::Deployment(_) | RecordValue::Message(_) | RecordValue::MessageSubscription(_)
        | RecordValue::ProcessInstanceCreation(_) | RecordValue::ProcessInstanceModification(_)
        | RecordValue::ProcessInstanceMigration(_) | RecordValue::Error(_) | RecordValue::ResourceDeletion(_)
        | RecordValue::CompensationSubscription(_) | RecordValue::Signal(_) | RecordValue::Escalation(_)
        | RecordValue::ConditionalEvaluation(_) | RecordValue::RuntimeInstruction(_)
        | RecordValue::DecisionRequirements(_) | RecordValue::Form(_) | RecordValue::Resource(_)
        | RecordValue::BatchOperationPartitionLifecycle(_) | RecordValue::ProcessInstanceBatch(_)
        | RecordValue::MultiInstance(_) | RecordValue::AdHocSubProcessInstruction(_)
        | RecordValue::VariableDocument(_) | RecordValue::Clock(_) | RecordValue::AgentDefinition(_)
        | RecordValue::Purge(_)
    };
}

fn of(list: List, definition_key: Key, definition_id: &Name, tenant_id: &Name) -> Touch {
    Touch { list: Some(list), ..on_page(definition_key, definition_id, tenant_id) }
}

/// The records that only the page of their instance shows name their process alike.
macro_rules! of_page {
    ($value:expr) => {
        on_page($value.process_definition_key, &$value.bpmn_process_id, &$value.tenant_id)
    };
}

/// No list shows it, but the page of its instance does.
fn on_page(process_definition_key: Key, definition_id: &Name, tenant_id: &Name) -> Touch {
    Touch {
        process_definition_key,
        definition_id: definition_id.clone(),
        tenant_id: tenant_id.clone(),
        ..Touch::default()
    }
}

fn of_instance(list: List, instance: &RecordedInstance, tenant_id: &Name) -> Touch {
    of(list, instance.process_definition_key, &instance.bpmn_process_id, tenant_id)
}

fn of_list(list: List) -> Touch {
    Touch { list: Some(list), ..Touch::default() }
}

fn of_batch(batch_operation_key: Key) -> Touch {
    Touch { batch_operation_key, ..of_list(List::BatchOperations) }
}

fn of_deletion(it: &HistoryDeletionRecord) -> Touch {
    if *it.resource_type == *HistoryKind::ProcessInstance.as_str() {
        let list = of(List::ProcessInstances, 0, &it.process_id, &it.tenant_id);
        return Touch { process_instance_key: it.resource_key, ..list };
    }
    of(List::DecisionInstances, 0, &it.decision_definition_id, &it.tenant_id)
}

fn touch(record: &Record) -> Option<Touch> {
    let instance = process_instance(record);
    let touch = match &record.value {
        RecordValue::ProcessInstance(value) => {
            let touch = of_instance(List::ProcessInstances, &value.instance, &value.instance.tenant_id);
            // The list shows nothing of what is inside.
            Touch { list: touch.list.filter(|_| &*value.bpmn_element_type == "PROCESS"), ..touch }
        }
        RecordValue::Variable(value) => {
            of_instance(List::Variables, &value.instance, &value.instance.tenant_id)
        }
        RecordValue::Job(value) => of_instance(List::Jobs, &value.instance, &value.tenant_id),
        RecordValue::Incident(it) => {
            of(List::Incidents, it.process_definition_key, &it.bpmn_process_id, &it.tenant_id)
        }
        RecordValue::UserTask(it) => {
            of(List::UserTasks, it.process_definition_key, &it.bpmn_process_id, &it.tenant_id)
        }
        RecordValue::ProcessMessageSubscription(it) => {
            of(List::Messages, it.process_definition_key, &it.bpmn_process_id, &it.tenant_id)
        }
        RecordValue::MessageStartEventSubscription(it) => {
            of(List::Messages, it.process_definition_key, &it.bpmn_process_id, &it.tenant_id)
        }
        RecordValue::DecisionEvaluation(it) => of(List::DecisionInstances, 0, &it.decision_id, &it.tenant_id),
        RecordValue::Process(it) => {
            of(List::ProcessDefinitions, it.process_definition_key, &it.bpmn_process_id, &it.tenant_id)
        }
        RecordValue::Decision(it) => of(List::DecisionDefinitions, 0, &it.decision_id, &it.tenant_id),
        RecordValue::BatchOperationCreation(value) => of_batch(value.batch_operation_key),
        RecordValue::BatchOperationInitialization(value) => of_batch(value.batch_operation_key),
        RecordValue::BatchOperationExecution(value) => of_batch(value.batch_operation_key),
        RecordValue::BatchOperationLifecycleManagement(value) => of_batch(value.batch_operation_key),
        RecordValue::BatchOperationChunk(value) => of_batch(value.batch_operation_key),
        RecordValue::User(_) => of_list(List::Users),
        RecordValue::Group(_) => of_list(List::Groups),
        RecordValue::Role(_) => of_list(List::Roles),
        RecordValue::Tenant(_) => of_list(List::Tenants),
        RecordValue::MappingRule(_) => of_list(List::MappingRules),
        RecordValue::Authorization(_) => of_list(List::Authorizations),
        RecordValue::ClusterVariable(value) => {
            Touch { tenant_id: value.tenant_id.clone(), ..of_list(List::ClusterVariables) }
        }
        RecordValue::GlobalListener(_) => of_list(List::GlobalTaskListeners),
        // Records of definitions have no page.
        RecordValue::Timer(_)
        | RecordValue::SignalSubscription(_)
        | RecordValue::ConditionalSubscription(_)
            if instance.is_none() =>
        {
            return None;
        }
        RecordValue::AgentInstance(it) => of_page!(it),
        RecordValue::AgentHistory(it) => of_page!(it),
        RecordValue::SignalSubscription(it) => of_page!(it),
        RecordValue::ConditionalSubscription(it) => of_page!(it),
        RecordValue::Timer(it) => {
            let id = it.bpmn_process_id.clone().unwrap_or_default();
            on_page(it.process_definition_key, &id, &it.tenant_id)
        }
        RecordValue::HistoryDeletion(it) => of_deletion(it),
        shown_nowhere!() => return None,
    };
    Some(Touch { process_instance_key: instance.unwrap_or(touch.process_instance_key), ..touch })
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{ClusterVariableRecord, Document, Intent, Json, TimerRecord, testing};

    #[test]
    fn records_that_nobody_wanted_leave_a_gap() {
        let mut touched = Touched::default();
        let written = |touched: &mut Touched| touched.take_written(&BTreeSet::new()).map(|all| all.len());
        touched.add(&[testing::instance(1, 8), testing::instance(2, 8)], true);
        assert_eq!(written(&mut touched), Some(1));
        touched.add(&[], false);
        assert_eq!(written(&mut touched), Some(0));
        touched.add(&[testing::instance(3, 9)], false);
        assert_eq!(written(&mut touched), None);
        assert_eq!(written(&mut touched), Some(0));
    }

    #[test]
    fn instances_that_a_flush_left_are_told_with_their_rows() {
        let mut touched = Touched::default();
        let keys = |touches: Option<HashSet<Touch>>| {
            let touches = touches.into_iter().flatten().map(|touch| touch.process_instance_key);
            touches.collect::<BTreeSet<_>>()
        };
        touched.add(&[testing::instance(1, 8), testing::instance(2, 9)], true);
        assert_eq!(keys(touched.take_written(&[9].into())), [8].into());
        assert_eq!(keys(touched.take_written(&BTreeSet::new())), [9].into());
        // Records of a time without readers may be of an instance that is left.
        touched.add(&[testing::instance(3, 9)], false);
        assert_eq!(touched.take_written(&[9].into()), None);
        assert_eq!(touched.take_written(&BTreeSet::new()), None);
        assert_eq!(touched.take_written(&BTreeSet::new()), Some(HashSet::new()));
    }

    #[test]
    fn records_without_a_list_are_told_to_the_page_of_their_instance() {
        let timer = |process_instance_key| TimerRecord {
            element_instance_key: process_instance_key,
            process_instance_key,
            process_definition_key: 3,
            due_date_ms: 0,
            target_element_id: "e".into(),
            repetitions: 1,
            tenant_id: "t".into(),
            element_type: None,
            root_process_instance_key: process_instance_key,
            bpmn_process_id: Some("p".into()),
        };
        let told = |timer| touch(&testing::record(1, Intent::Created, timer));
        let expected = Touch { process_instance_key: 8, ..on_page(3, &"p".into(), &"t".into()) };
        assert_eq!(told(timer(Some(8))), Some(expected));
        // That of a definition has no page.
        assert_eq!(told(timer(None)), None);
    }

    #[test]
    fn lists_are_told_of_deleted_histories() {
        let deletion = |kind: HistoryKind| HistoryDeletionRecord {
            resource_key: 8,
            resource_type: kind.as_str().into(),
            process_id: "p".into(),
            decision_definition_id: "d".into(),
            tenant_id: "t".into(),
        };
        let told = |kind| touch(&testing::record(1, Intent::Deleted, deletion(kind))).unwrap();
        let instance = told(HistoryKind::ProcessInstance);
        assert_eq!((instance.list, instance.process_instance_key), (Some(List::ProcessInstances), 8));
        assert_eq!((&*instance.definition_id, &*instance.tenant_id), ("p", "t"));
        let decision = told(HistoryKind::DecisionInstance);
        assert_eq!((decision.list, decision.process_instance_key), (Some(List::DecisionInstances), 0));
        assert_eq!(&*decision.definition_id, "d");
    }

    #[test]
    fn cluster_variables_have_a_list_and_belong_to_their_tenant() {
        let variable = ClusterVariableRecord {
            name: "n".into(),
            value: Json::from_valid(vec![b'1']),
            scope: "TENANT".into(),
            tenant_id: "t".into(),
            metadata: Document::default(),
            kind: Name::default(),
        };
        let expected =
            Touch { list: Some(List::ClusterVariables), tenant_id: "t".into(), ..Touch::default() };
        assert_eq!(touch(&testing::record(1, Intent::Created, variable)), Some(expected));
    }
}
