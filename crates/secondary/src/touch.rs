//! Which lists and instances a record is shown by.

use std::collections::{BTreeSet, HashSet};

use protocol::{Key, Name, Record, RecordValue, RecordedInstance};
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

fn touch(record: &Record) -> Option<Touch> {
    let process_instance_key = process_instance(record).unwrap_or(0);
    let of = |list: List, definition_key: Key, definition_id: &Name, tenant_id: &Name| Touch {
        list: Some(list),
        process_instance_key,
        process_definition_key: definition_key,
        definition_id: definition_id.clone(),
        tenant_id: tenant_id.clone(),
        ..Touch::default()
    };
    let of_instance = |list, instance: &RecordedInstance, tenant_id: &Name| {
        of(list, instance.process_definition_key, &instance.bpmn_process_id, tenant_id)
    };
    let batch = |batch_operation_key| Touch {
        list: Some(List::BatchOperations),
        batch_operation_key,
        ..Touch::default()
    };
    let of_list = |list| Touch { list: Some(list), ..Touch::default() };
    Some(match &record.value {
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
        RecordValue::BatchOperationCreation(value) => batch(value.batch_operation_key),
        RecordValue::BatchOperationInitialization(value) => batch(value.batch_operation_key),
        RecordValue::BatchOperationExecution(value) => batch(value.batch_operation_key),
        RecordValue::BatchOperationLifecycleManagement(value) => batch(value.batch_operation_key),
        RecordValue::BatchOperationChunk(value) => batch(value.batch_operation_key),
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
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{ClusterVariableRecord, Document, Intent, Json, testing};

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
