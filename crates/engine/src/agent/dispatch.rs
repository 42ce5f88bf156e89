//! The commands and steps of agents, each to the code that carries it out.

use protocol::{Command, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;

impl CommandContext<'_> {
    pub fn perform_agent_command(&mut self, command: &Command) -> Result<Response, Failure> {
        match command {
            Command::CreateAgentInstance(create) => self.create_agent_instance(create),
            Command::UpdateAgentInstance(update) => self.update_agent_instance(update),
            _ => unreachable!("{command:?} is no command of agents"),
        }
    }

    pub fn run_agent_step(&mut self, step: Step) -> Result<(), Failure> {
        match step {
            Step::SettleHistory { job_key, lease, is_completed } => {
                self.settle_items(job_key, lease, is_completed)
            }
            Step::EndAgents { process_instance_key } => self.end_agents(process_instance_key),
            Step::TellMigratedAgents { process_instance_key, after } => {
                self.tell_migrated_agents(process_instance_key, after)
            }
            _ => unreachable!("{step:?} is no step of agents"),
        }
    }
}
