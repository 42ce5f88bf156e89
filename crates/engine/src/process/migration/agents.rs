//! Agents of an instance: they get the definitions that their elements have in the new model.

use bpmn::graph::ElementIndex;
use protocol::Name;

use super::{Migration, refused};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::slices::Slices;
use crate::core::step::Step;
use crate::entity::{AgentInstance, Instance};

impl CommandContext<'_> {
    /// Refuses a migration to elements that are no agents, or others.
    pub(super) fn check_agents(&self, migration: &Migration) -> Result<(), Failure> {
        let key = migration.process_instance_key;
        let mut slices = Slices::of((key, 0)..(key + 1, 0));
        while let Some(agents) = slices.keys(&self.tables.agents_by_instance)? {
            for (_, agent_key) in agents {
                let agent = self.tables.agent(agent_key)?;
                let before = migration.mapping.source_element(agent.element);
                let target = target_of(migration, agent.element);
                let after = target.and_then(|target| migration.mapping.target_element(target).agent);
                if after.is_none() || after != before.agent {
                    let id = &before.id;
                    let reason = format_args!(
                        "agent instance '{agent_key}' works for '{id}', which has no agent of the same type in the target"
                    );
                    return Err(refused(key, reason));
                }
            }
        }
        Ok(())
    }

    /// Moves agents to the definition of their instance.
    pub(super) fn move_agents(&mut self, migration: &Migration, instance: &Instance) -> Result<(), Failure> {
        let process_instance_key = migration.process_instance_key;
        let definition = self.tables.definitions.get(&instance.definition_key)?;
        let version_tag = definition.and_then(|definition| definition.version_tag.clone());
        let (mut slices, mut has_agents) =
            (Slices::of((process_instance_key, 0)..(process_instance_key + 1, 0)), false);
        while let Some(agents) = slices.keys(&self.tables.agents_by_instance)? {
            has_agents |= !agents.is_empty();
            for (_, agent_key) in agents {
                let agent = self.tables.agent(agent_key)?;
                let Some(element) = target_of(migration, agent.element) else { continue };
                let at = (instance.definition_key, element);
                let definition_key =
                    self.tables.agent_definitions.get(&at)?.map_or(agent.definition_key, |key| *key);
                let moved = AgentInstance {
                    definition_key,
                    element,
                    element_id: Name::from(&migration.mapping.target_element(element).id),
                    process_definition_key: instance.definition_key,
                    process_id: instance.process_id.clone(),
                    version: instance.version,
                    version_tag: version_tag.clone(),
                    ..(*agent).clone()
                };
                self.tables.agent_instances.put(agent_key, moved);
            }
        }
        if has_agents {
            self.steps.push_back(Step::TellMigratedAgents { process_instance_key, after: 0 });
        }
        Ok(())
    }
}

/// The element of an agent in the new model: the one that the plan maps its own to, else that of the same ID.
fn target_of(migration: &Migration, element: ElementIndex) -> Option<ElementIndex> {
    let mapping = &migration.mapping;
    let of_same_id = || {
        let id = &mapping.source_element(element).id;
        let target = mapping.target.elements.iter().rposition(|target| target.id == *id);
        target.map(|index| index as ElementIndex)
    };
    mapping.element(element).or_else(of_same_id)
}
