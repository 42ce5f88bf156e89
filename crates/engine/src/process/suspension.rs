//! Suspension: a process instance stands still until it is resumed.
//!
//! Its steps are set aside as those of a banned instance, due timers and queued jobs are held when their turn comes,
//! messages pass it by, signals are lost. The suspension itself thus costs the same for an instance of any size; the
//! resumption goes through its element instances, a slice at a time. Called instances are instances of their own and
//! go on.

use protocol::{Intent, Key, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::Phase;

impl CommandContext<'_> {
    pub(super) fn suspend_instance(&mut self, key: Key) -> Result<Response, Failure> {
        let purpose = format!("suspend process instance with key '{key}'");
        let Some((at, row)) = self.at(key)?.filter(|(at, _)| at.scope_key == 0) else {
            return Err(no_instance(&purpose));
        };
        self.blame(key);
        if self.tables.is_suspended(key)? {
            return Err(not_in_state(&purpose, "it is suspended already"));
        }
        self.refuse_halted(key, &purpose)?;
        if row.phase == Phase::Terminating {
            return Err(not_in_state(&purpose, "it is about to be terminated"));
        }
        self.tables.suspended.put(key, self.now_ms());
        self.record_element(&at, Intent::Suspended);
        Ok(Response::Done)
    }

    pub(super) fn resume_instance(&mut self, key: Key) -> Result<Response, Failure> {
        let purpose = format!("resume process instance with key '{key}'");
        let Some((at, _)) = self.at(key)?.filter(|(at, _)| at.scope_key == 0) else {
            return Err(no_instance(&purpose));
        };
        self.blame(key);
        if !self.tables.is_suspended(key)? {
            return Err(not_in_state(&purpose, "it is not suspended"));
        }
        if self.tables.is_banned(key)? {
            return Err(not_in_state(&purpose, "it is banned: release or cancel it first"));
        }
        self.steps_stand_alone = true;
        self.record_element(&at, Intent::Resumed);
        self.lift_suspension(key)?;
        Ok(Response::Done)
    }
}

fn no_instance(purpose: &str) -> Failure {
    Rejection::not_found(format!("Expected to {purpose}, but no such process instance was found")).into()
}

fn not_in_state(purpose: &str, state: &str) -> Failure {
    Rejection::invalid_state(format!("Expected to {purpose}, but {state}")).into()
}
