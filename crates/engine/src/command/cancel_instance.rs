//! Cancels a process instance.

use protocol::{Key, Rejection, Response};

use crate::failure::Failure;
use crate::work::Work;

impl Work<'_> {
    pub(crate) fn cancel_instance(&mut self, key: Key) -> Result<Response, Failure> {
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
        // Now, so that the steps that wait or were set aside find it ending: what failed once must not be tried again.
        self.terminate(key)?;
        self.lift_ban(key)?;
        Ok(Response::Done)
    }
}
