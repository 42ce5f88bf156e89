//! Commands about something that is gone, whose refusal needs no entry of the log.
//!
//! A key is given out once. When the state knows no job, instance, element instance, incident or user task of a key
//! that it has given out already, no command that is still on its way can bring it back, so the refusal holds
//! wherever in the log the command would come to stand. Everything else may change on the way: a ban is lifted, a
//! job becomes activatable, a permission is granted, a message expires. That is decided when the command is
//! applied.
//!
//! The refusal is the one of the command itself, which runs here and is taken back: text and order of the checks are
//! the same. A client learns no more by it, since access to what is not there is not checked.

use protocol::{Command, Rejection, Subject, compose_key};

use crate::Engine;
use crate::core::effects::Effects;
use crate::core::failure::{ApplyError, Failure};

/// The subject without which a command is refused. `None` if it needs none, or if its refusal may depend on anything
/// else.
fn needed(command: &Command) -> Option<Subject> {
    if matches!(command, Command::Idempotent { .. }) {
        // It may be the retry of the very command that ended it.
        return None;
    }
    command.facts().subject
}

/// Whether [`Engine::final_refusal`] can have an answer for commands of this kind.
pub fn may_be_gone(command: &Command) -> bool {
    needed(command).is_some()
}

impl Engine {
    /// The refusal that a command will meet whatever is applied before it, if what it is about is gone. Changes
    /// nothing.
    pub fn final_refusal(&mut self, command: &Command) -> Result<Option<Rejection>, ApplyError> {
        let Some(subject) = needed(command) else { return Ok(None) };
        let last = compose_key(self.options.partition_id, self.meta.key_counter);
        // A later key may be given out by what is on its way.
        if subject.key() > last || self.tables.has(subject)? {
            return Ok(None);
        }
        let before = self.meta;
        let mut refusal = None;
        let mut effects = Effects::default();
        // Refused either way, so that nothing of it is kept.
        self.attempt::<()>(&mut effects, |work| match work.execute(command) {
            Err(Failure::State(error)) => Err(error.into()),
            Err(Failure::Rejected(rejection)) => {
                refusal = Some(rejection.clone());
                Err(rejection.into())
            }
            Err(failure) => Err(failure),
            Ok(_) => Err(Rejection::not_found("it is there").into()),
        })?;
        debug_assert!(refusal.is_some(), "a command about what is gone goes through: {command:?}");
        debug_assert_eq!(self.meta, before, "a look changes nothing");
        debug_assert_eq!(effects, Effects::default(), "a look has no effects");
        Ok(refusal)
    }
}
