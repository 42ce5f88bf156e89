//! Which lists and instances a record is shown by.

use std::collections::HashSet;

use protocol::{Key, Record, RecordValue};
use search::{List, Touch};

use crate::replay::process_instance;

/// What the records of a flush were about.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    touches: HashSet<Touch>,
    /// Whether there were records that nobody wanted to know of.
    has_gaps: bool,
}

impl Touched {
    /// Adds records, if somebody wants to know.
    pub(crate) fn add(&mut self, records: &[Record], is_watched: bool) {
        if is_watched {
            self.touches.extend(records.iter().filter_map(touch));
        } else {
            self.has_gaps |= !records.is_empty();
        }
    }

    /// What there was. `None`: some of it is not known.
    pub(crate) fn touches(&self) -> Option<&HashSet<Touch>> {
        (!self.has_gaps).then_some(&self.touches)
    }

    pub(crate) fn clear(&mut self) {
        self.touches.clear();
        self.has_gaps = false;
    }
}

fn touch(record: &Record) -> Option<Touch> {
    let of = |list: List| Touch {
        list: Some(list),
        process_instance_key: process_instance(record).unwrap_or(0),
        ..Touch::default()
    };
    let batch = |key: Key| Touch { batch_operation_key: key, ..of(List::BatchOperations) };
    Some(match &record.value {
        RecordValue::ProcessInstance(value) => Touch {
            list: (&*value.bpmn_element_type == "PROCESS").then_some(List::ProcessInstances),
            process_definition_key: value.instance.process_definition_key,
            definition_id: value.instance.bpmn_process_id.clone(),
            tenant_id: value.instance.tenant_id.clone(),
            ..of(List::ProcessInstances)
        },
        RecordValue::Variable(value) => Touch {
            process_definition_key: value.instance.process_definition_key,
            definition_id: value.instance.bpmn_process_id.clone(),
            tenant_id: value.instance.tenant_id.clone(),
            ..of(List::Variables)
        },
        RecordValue::Job(value) => Touch {
            process_definition_key: value.instance.process_definition_key,
            definition_id: value.instance.bpmn_process_id.clone(),
            tenant_id: value.tenant_id.clone(),
            ..of(List::Jobs)
        },
        RecordValue::Incident(value) => Touch {
            process_definition_key: value.process_definition_key,
            definition_id: value.bpmn_process_id.clone(),
            tenant_id: value.tenant_id.clone(),
            ..of(List::Incidents)
        },
        RecordValue::UserTask(value) => Touch {
            process_definition_key: value.process_definition_key,
            definition_id: value.bpmn_process_id.clone(),
            tenant_id: value.tenant_id.clone(),
            ..of(List::UserTasks)
        },
        RecordValue::ProcessMessageSubscription(value) => Touch {
            process_definition_key: value.process_definition_key,
            definition_id: value.bpmn_process_id.clone(),
            tenant_id: value.tenant_id.clone(),
            ..of(List::Messages)
        },
        RecordValue::MessageStartEventSubscription(value) => Touch {
            process_definition_key: value.process_definition_key,
            definition_id: value.bpmn_process_id.clone(),
            tenant_id: value.tenant_id.clone(),
            ..of(List::Messages)
        },
        RecordValue::DecisionEvaluation(value) => Touch {
            definition_id: value.decision_id.clone(),
            tenant_id: value.tenant_id.clone(),
            ..of(List::DecisionInstances)
        },
        RecordValue::Process(value) => Touch {
            process_definition_key: value.process_definition_key,
            definition_id: value.bpmn_process_id.clone(),
            tenant_id: value.tenant_id.clone(),
            ..of(List::ProcessDefinitions)
        },
        RecordValue::Decision(value) => Touch {
            definition_id: value.decision_id.clone(),
            tenant_id: value.tenant_id.clone(),
            ..of(List::DecisionDefinitions)
        },
        RecordValue::BatchOperationCreation(value) => batch(value.batch_operation_key),
        RecordValue::BatchOperationInitialization(value) => batch(value.batch_operation_key),
        RecordValue::BatchOperationExecution(value) => batch(value.batch_operation_key),
        RecordValue::BatchOperationLifecycleManagement(value) => batch(value.batch_operation_key),
        RecordValue::BatchOperationChunk(value) => batch(value.batch_operation_key),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::testing;

    #[test]
    fn records_that_nobody_wanted_leave_a_gap() {
        let mut touched = Touched::default();
        touched.add(&[testing::instance(1, 8), testing::instance(2, 8)], true);
        assert_eq!(touched.touches().map(HashSet::len), Some(1));
        touched.add(&[], false);
        assert!(touched.touches().is_some());
        touched.add(&[testing::instance(3, 9)], false);
        assert!(touched.touches().is_none());
        touched.clear();
        assert_eq!(touched.touches().map(HashSet::len), Some(0));
    }
}
