//! Steps of process instances that do not go on: banned ones, until they are released, and suspended ones, until they
//! are resumed.

use protocol::{Key, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;

impl CommandContext<'_> {
    /// Lets the commands of a banned instance run again.
    pub(super) fn unban(&mut self, key: Key) -> Result<Response, Failure> {
        if !self.tables.is_banned(key)? {
            return Err(Rejection::not_found(format!(
                "Expected to release process instance with key '{key}', but it is not banned"
            ))
            .into());
        }
        self.blame(key);
        self.lift_ban(key)?;
        Ok(Response::Done)
    }

    /// Takes back a ban, if there is one, and queues the steps that were skipped meanwhile.
    fn lift_ban(&mut self, key: Key) -> Result<(), Failure> {
        if !self.tables.is_banned(key)? {
            return Ok(());
        }
        self.tables.banned.delete(&key);
        self.queue_set_aside(key)?;
        self.steps.push_back(Step::AnnounceJobs { scope_key: key, after: 0 });
        Ok(())
    }

    /// Takes back a suspension, if there is one: the steps that were set aside come first, then what was held.
    pub fn lift_suspension(&mut self, key: Key) -> Result<(), Failure> {
        if !self.tables.is_suspended(key)? {
            return Ok(());
        }
        self.tables.suspended.delete(&key);
        self.queue_set_aside(key)?;
        self.steps.push_back(Step::Revive { scope_key: key, after: 0 });
        Ok(())
    }

    /// Keeps a step of an instance that is banned or suspended.
    pub(super) fn set_step_aside(&mut self, instance_key: Key, step: Step) {
        let step = self.origin.noted_with(step);
        self.meta.pending_counter += 1;
        self.tables.banned_steps.insert((instance_key, self.meta.pending_counter), step);
    }

    /// Queues the steps of an instance that were set aside, in their order.
    fn queue_set_aside(&mut self, instance_key: Key) -> Result<(), Failure> {
        for (at, step) in
            self.tables.banned_steps.scan((instance_key, 0)..(instance_key + 1, 0), usize::MAX)?
        {
            self.tables.banned_steps.delete(&at);
            self.steps.push_back((*step).clone());
        }
        Ok(())
    }
}
