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
        let of_instance = (process_instance_key, 0)..(process_instance_key + 1, 0);
        let mut room = self.options.max_children_per_step;
        for (_, key) in self.tables.agents_by_instance.keys(of_instance, room)? {
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
            if let Some(agent) = self.tables.agent_instances.get(&key)? {
                let ended = AgentInstance { status: AgentStatus::Completed, ..(*agent).clone() };
                self.tables.agent_instances.delete(&key);
                self.record_agent(key, Intent::Completed, &ended);
            }
            if room == 0 {
                break;
            }
        }
        let of_instance = (process_instance_key, 0)..(process_instance_key + 1, 0);
        if !self.tables.agents_by_instance.keys(of_instance, 1)?.is_empty() {
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
        let rest = (process_instance_key, after + 1)..(process_instance_key + 1, 0);
        let keys = self.tables.agents_by_instance.keys(rest, limit)?;
        let last = keys.last().map(|(_, key)| *key).filter(|_| keys.len() == limit);
        for (_, key) in keys {
            if let Some(agent) = self.tables.agent_instances.get(&key)? {
                self.record_agent(key, Intent::Migrated, &agent);
            }
        }
        if let Some(after) = last {
            self.steps.push_back(Step::TellMigratedAgents { process_instance_key, after });
        }
        Ok(())
    }
}
