//! Process instances as records show them.

use std::sync::Arc;

use protocol::{Key, RecordedInstance};

use crate::entity::Instance;

/// The instance that was described last: most records of a command are of one instance.
#[derive(Default)]
pub(crate) struct LastRecorded(Option<(Key, Arc<Instance>, Arc<RecordedInstance>)>);

impl LastRecorded {
    /// The instance of a record, as records show it.
    pub fn of(&mut self, key: Key, instance: &Arc<Instance>) -> Arc<RecordedInstance> {
        if let Some((known, row, recorded)) = &self.0
            && *known == key
            && Arc::ptr_eq(row, instance)
        {
            return Arc::clone(recorded);
        }
        let recorded = Arc::new(RecordedInstance {
            bpmn_process_id: instance.process_id.clone(),
            version: instance.version,
            process_definition_key: instance.definition_key,
            process_instance_key: key,
            parent_process_instance_key: instance.parent.map(|parent| parent.process_instance_key),
            parent_element_instance_key: instance.parent.map(|parent| parent.element_instance_key),
            root_process_instance_key: instance.root_key,
            tenant_id: instance.tenant_id.clone(),
            tags: instance.tags.clone(),
            business_id: instance.business_id.clone(),
        });
        self.0 = Some((key, Arc::clone(instance), Arc::clone(&recorded)));
        recorded
    }
}

/// An instance of which nothing is known but its key.
pub(crate) fn unknown_instance(key: Key) -> Arc<RecordedInstance> {
    Arc::new(RecordedInstance {
        process_instance_key: key,
        root_process_instance_key: key,
        ..RecordedInstance::default()
    })
}
