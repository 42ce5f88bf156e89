//! Tells what an agent does now, and for which element instance.

use protocol::{Intent, Key, Rejection, Response, UpdateAgentInstance};

use super::refused;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::AgentInstance;

impl CommandContext<'_> {
    pub(super) fn update_agent_instance(
        &mut self,
        update: &UpdateAgentInstance,
    ) -> Result<Response, Failure> {
        let (key, element_key) = (update.agent_instance_key, update.element_instance_key);
        let purpose = format!("update agent instance with key '{key}'");
        let Some(before) = self.tables.agent_instances.get(&key)? else {
            let reason = format!("Expected to {purpose}, but no such agent instance was found");
            return Err(Rejection::not_found(reason).into());
        };
        let mut agent = (*before).clone();
        let joins = self.joins_element(key, &agent, element_key, &purpose)?;
        if let Some(writer) = self.other_writer(&agent, element_key)? {
            let reason =
                format_args!("the worker of job '{writer}' of another element instance is at work for it");
            return Err(refused(&purpose, reason));
        }
        let teller = match &update.job {
            Some(job) => Some(self.teller(job, element_key, &purpose)?),
            None => None,
        };
        if joins {
            agent.element_instance_keys.push(element_key);
            self.tables.element_instances.update(&element_key, |row| row.agent_instance_key = Some(key))?;
        }
        if let Some(job) = &update.job {
            agent.writer_job = Some(job.key);
        }
        // The word of another activation on the agent counts no more; the tokens that it has used do.
        if teller.as_ref().is_none_or(|teller| !teller.is_stale) {
            agent.status = update.status.unwrap_or(agent.status);
            agent.tools = update.tools.clone().unwrap_or_else(|| agent.tools.clone());
        }
        agent.metrics = agent.metrics.plus(update.metrics);
        let history =
            self.take_history(key, &mut agent, teller.as_ref(), update.job.as_ref(), &update.history, false)?;
        if agent != *before {
            self.record_agent(key, Intent::Updated, &agent);
            self.tables.agent_instances.put(key, agent);
        }
        Ok(Response::AgentInstance { agent_instance_key: key, history })
    }

    /// Whether an agent goes on with an element instance that it has not worked for yet.
    fn joins_element(
        &mut self,
        key: Key,
        agent: &AgentInstance,
        element_key: Key,
        purpose: &str,
    ) -> Result<bool, Failure> {
        let at = self.agent_element(element_key, purpose)?;
        if at.process_instance_key != agent.process_instance_key || at.index != agent.element {
            let reason = format!(
                "Expected to {purpose}, but element instance '{element_key}' is not of element '{}' of process instance \
                 '{}'",
                agent.element_id, agent.process_instance_key
            );
            return Err(Rejection::invalid_argument(reason).into());
        }
        let row = self.tables.element_instances.get(&element_key)?;
        match row.and_then(|row| row.agent_instance_key) {
            None => Ok(true),
            Some(of) if of == key => Ok(false),
            Some(of) => {
                let reason = format_args!("element instance '{element_key}' has agent instance '{of}'");
                Err(refused(purpose, reason))
            }
        }
    }
}
