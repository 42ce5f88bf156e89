//! Cancels a process instance.

use protocol::{Key, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::Phase;

impl CommandContext<'_> {
    pub(super) fn cancel_instance(&mut self, key: Key) -> Result<Response, Failure> {
        let Some(instance) = self.tables.instances.get(&key)? else {
            return Err(Rejection::not_found(format!(
                "Expected to cancel a process instance with key '{key}', but no such process was found"
            ))
            .into());
        };
        if instance.parent.is_some() {
            return Err(Rejection::invalid_state(format!(
                "Expected to cancel a process instance with key '{key}', but it is created by a parent process instance. \
                 Cancel the root process instance '{}' instead.",
                instance.root_key
            ))
            .into());
        }
        self.blame(key);
        self.steps_stand_alone = true;
        let root = self.tables.element_instances.get(&key)?;
        // Now, so that the steps that wait find it ending.
        if self.tables.is_banned(key)? {
            self.erase_instance(key)?;
        } else {
            self.terminate(key)?;
        }
        if root.is_some_and(|root| root.phase == Phase::Terminating) {
            // It was on its way already; the engine may have failed on one that it called.
            self.steps.push_back(Step::EraseBanned { root_key: key, after: 0 });
        }
        Ok(Response::Done)
    }
}
