//! Agents: what their workers tell of their runs is kept and handed on; the engine runs none.
//!
//! An agent is created for an element instance and goes on with later ones of the same element, until its process
//! instance ends. Each item of its history belongs to an activation of a job: it holds once the job completes with
//! that activation, and else not.

mod create;
mod dispatch;
mod end;
mod history;
mod record;
mod update;

use bpmn::graph::ElementType;
use protocol::{AgentJob, Key, Rejection};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::{AgentInstance, JobState, Phase};

/// The activation of a job whose worker updates an agent.
struct Teller {
    key: Key,
    /// Whether another activation has taken its place.
    is_stale: bool,
}

impl CommandContext<'_> {
    /// The element instance that an agent works for, if it is active and of a kind that has agents.
    fn agent_element(&mut self, key: Key, purpose: &str) -> Result<ActiveElement, Failure> {
        let Some((at, row)) = self.at(key)? else {
            let reason = format!("Expected to {purpose}, but no element instance was found with key '{key}'");
            return Err(Rejection::not_found(reason).into());
        };
        if let Some(halt) = self.tables.halt_of(at.process_instance_key)? {
            let instance = at.process_instance_key;
            return Err(refused(purpose, format_args!("its process instance '{instance}' is {halt}")));
        }
        let (id, element_type) = (&at.element().id, at.element().element_type);
        if !matches!(element_type, ElementType::ServiceTask | ElementType::AdHocSubProcess) {
            let reason = format!(
                "Expected to {purpose}, but element instance '{key}' of '{id}' is neither a service task nor an ad-hoc \
                 sub-process"
            );
            return Err(Rejection::invalid_argument(reason).into());
        }
        if row.phase != Phase::Activated {
            return Err(refused(purpose, format_args!("element instance '{key}' of '{id}' is not active")));
        }
        Ok(at)
    }

    /// The job whose worker updates an agent, if it is at work for the element instance.
    fn teller(&self, asked: &AgentJob, element_key: Key, purpose: &str) -> Result<Teller, Failure> {
        let key = asked.key;
        let found = self.tables.jobs.get(&key)?.filter(|job| job.state == JobState::Activated);
        let Some(job) = found else {
            let reason = format!("Expected to {purpose}, but no activated job was found with key '{key}'");
            return Err(Rejection::not_found(reason).into());
        };
        if job.element_instance_key != element_key {
            let reason = format!(
                "Expected to {purpose}, but the job with key '{key}' is not of element instance '{element_key}'"
            );
            return Err(Rejection::invalid_argument(reason).into());
        }
        let is_stale = job.lease.is_some() && job.lease != asked.lease;
        Ok(Teller { key, is_stale })
    }

    /// Whether the worker that wrote last is still at work, for another element instance.
    fn other_writer(&self, agent: &AgentInstance, element_key: Key) -> Result<Option<Key>, Failure> {
        let Some(key) = agent.writer_job else { return Ok(None) };
        let job = self.tables.jobs.get(&key)?.filter(|job| job.state == JobState::Activated);
        Ok(job.filter(|job| job.element_instance_key != element_key).map(|_| key))
    }
}

/// A refusal because of what something is or does.
fn refused(purpose: &str, reason: impl std::fmt::Display) -> Failure {
    Rejection::invalid_state(format!("Expected to {purpose}, but {reason}")).into()
}
