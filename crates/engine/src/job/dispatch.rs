//! The commands of jobs, each to the code that carries it out.

use protocol::{Command, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;

impl CommandContext<'_> {
    pub fn perform_job_command(&mut self, command: &Command) -> Result<Response, Failure> {
        match command {
            Command::CompleteJob(complete) => self.complete_job(complete),
            Command::FailJob(fail) => self.fail_job(fail),
            Command::ThrowError(throw) => self.throw_job_error(throw),
            Command::UpdateJob(update) => self.update_job(update),
            _ => unreachable!("{command:?} is no command of jobs"),
        }
    }
}
