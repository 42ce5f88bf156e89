//! Definitions of agents: a process has one for each of its elements that are agents. They come and go with it.

use bpmn::Process;
use protocol::{AgentDefinitionRecord, Intent, Key, Name};
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::slices::rows_of_model;
use crate::entity::Definition;

impl CommandContext<'_> {
    /// Adds the agents of a new definition of a process.
    pub(super) fn add_agents(&mut self, key: Key, model: &Process) -> Result<(), StateError> {
        if !model.elements.iter().any(|element| element.agent.is_some()) {
            return Ok(());
        }
        let definition = self.tables.definitions.get(&key)?.expect("the definition has just been added");
        for (index, _) in model.elements.iter().enumerate().filter(|(_, element)| element.agent.is_some()) {
            let index = index as u32;
            let agent_key = self.next_key();
            self.tables.agent_definitions.put((key, index), agent_key);
            self.emit(agent_key, Intent::Created, |_| record(agent_key, key, &definition, model, index));
        }
        Ok(())
    }

    /// Removes the agents of a definition that is about to be removed.
    pub(super) fn remove_agents(&mut self, key: Key, definition: &Definition) -> Result<(), StateError> {
        let rows = rows_of_model(&self.tables.agent_definitions, (key, 0)..=(key, u32::MAX))?;
        if rows.is_empty() {
            return Ok(());
        }
        let model = self.definitions.find_process(self.tables, key)?;
        for (at, agent_key) in rows {
            self.tables.agent_definitions.delete(&at);
            let Some(model) = &model else { continue };
            self.emit(*agent_key, Intent::Deleted, |_| record(*agent_key, key, definition, model, at.1));
        }
        Ok(())
    }
}

fn record(
    agent_definition_key: Key,
    process_definition_key: Key,
    definition: &Definition,
    model: &Process,
    index: u32,
) -> AgentDefinitionRecord {
    let element = model.element(index);
    AgentDefinitionRecord {
        agent_definition_key,
        agent_type: element.agent.map(|agent| Name::from(agent.as_str())).unwrap_or_default(),
        name: Name::from(element.name.as_ref().unwrap_or(&element.id)),
        element_id: Name::from(&element.id),
        bpmn_process_id: definition.process_id.clone(),
        process_definition_key,
        process_definition_version: definition.version,
        version_tag: definition.version_tag.clone().unwrap_or_default(),
        tenant_id: definition.tenant_id.clone(),
        deployment_key: definition.deployment_key,
    }
}
