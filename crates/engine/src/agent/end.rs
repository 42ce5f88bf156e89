//! Agents end with their process instance.

use std::sync::Arc;

use protocol::{AgentStatus, Intent, Key};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::AgentInstance;

impl CommandContext<'_> {
    /// Ends the agents of a process instance, each once nothing is left of its history.
    pub(super) fn end_agents(&mut self, process_instance_key: Key) -> Result<(), Failure> {
        let mut room = self.options.max_children_per_step;
        for (key, agent) in self.tables.agents_of(process_instance_key, 0, room)? {
            let known = (key, Arc::from(""))..(key + 1, Arc::from(""));
            let ids = self.tables.known_history.keys(known, room)?;
            room -= ids.len();
            for at in ids {
                self.tables.known_history.delete(&at);
            }
            if room == 0 {
                break;
            }
            room -= 1;
            self.tables.agents_by_instance.delete(&(process_instance_key, key));
            self.tables.agent_instances.delete(&key);
            let ended = AgentInstance { status: AgentStatus::Completed, ..(*agent).clone() };
            self.record_agent(key, Intent::Completed, &ended);
            if room == 0 {
                break;
            }
        }
        if !self.tables.agents_of(process_instance_key, 0, 1)?.is_empty() {
            self.steps.push_back(Step::EndAgents { process_instance_key });
        }
        Ok(())
    }

    /// Tells of agents that have a new definition, a slice at a time.
    pub(super) fn tell_migrated_agents(
        &mut self,
        process_instance_key: Key,
        after: Key,
    ) -> Result<(), Failure> {
        let limit = self.options.max_children_per_step;
        let agents = self.tables.agents_of(process_instance_key, after, limit)?;
        let last = agents.last().map(|(key, _)| *key).filter(|_| agents.len() == limit);
        for (key, agent) in agents {
            self.record_agent(key, Intent::Migrated, &agent);
        }
        if let Some(after) = last {
            self.steps.push_back(Step::TellMigratedAgents { process_instance_key, after });
        }
        Ok(())
    }
}
