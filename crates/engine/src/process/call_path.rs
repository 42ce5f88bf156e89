//! How one gets from the top of a call hierarchy down to an element instance, as records tell it.

use bpmn::Process;
use bpmn::graph::ElementType;
use protocol::Key;
use state::StateError;

use crate::core::context::CommandContext;

/// A way down, with an entry for each process instance.
#[derive(Debug, Default)]
pub(crate) struct CallPath {
    /// Key of the process instance, of the scopes in it, and of what leads further or is the end.
    pub element_instances: Vec<Vec<Key>>,
    pub definitions: Vec<Key>,
    /// The call activities on the way, as places in the sorted IDs of those of their process. One less than the others.
    pub calling_elements: Vec<u32>,
}

impl CommandContext<'_> {
    /// The way to an element instance. It is as long as calls are nested, which is limited.
    pub(super) fn call_path(
        &mut self,
        process_instance_key: Key,
        element_instance_key: Key,
    ) -> Result<CallPath, StateError> {
        let mut path = CallPath::default();
        let (mut instance_key, mut element_key) = (process_instance_key, element_instance_key);
        // A caller lives as long as what it called.
        while let Some((instance, _)) = self.instance(instance_key)? {
            path.element_instances.push(self.scopes_down_to(instance_key, element_key)?);
            path.definitions.push(instance.definition_key);
            let Some(parent) = instance.parent else { break };
            (instance_key, element_key) = (parent.process_instance_key, parent.element_instance_key);
            path.calling_elements.push(self.calling_element(instance_key, element_key)?);
        }
        path.element_instances.reverse();
        path.definitions.reverse();
        path.calling_elements.reverse();
        Ok(path)
    }

    /// A process instance, the scopes inside it, and an element instance.
    fn scopes_down_to(
        &self,
        process_instance_key: Key,
        element_instance_key: Key,
    ) -> Result<Vec<Key>, StateError> {
        let mut keys = Vec::new();
        let mut key = element_instance_key;
        while key != process_instance_key {
            keys.push(key);
            match self.tables.element_instances.get(&key)? {
                Some(row) if row.scope_key != 0 => key = row.scope_key,
                _ => break,
            }
        }
        keys.push(process_instance_key);
        keys.reverse();
        Ok(keys)
    }

    fn calling_element(
        &mut self,
        process_instance_key: Key,
        element_instance_key: Key,
    ) -> Result<u32, StateError> {
        let row = self.tables.element_instances.get(&element_instance_key)?;
        Ok(match (row, self.instance(process_instance_key)?) {
            (Some(row), Some((_, process))) => place_of_call(&process, &process.element(row.element).id),
            _ => 0,
        })
    }
}

/// The place of a call activity in the sorted IDs of those of its process.
fn place_of_call(process: &Process, id: &str) -> u32 {
    let calls = process.elements.iter().filter(|element| element.element_type == ElementType::CallActivity);
    let before = calls.filter(|element| *element.id < *id);
    before.count() as u32
}
