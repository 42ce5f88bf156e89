//! Activates elements of an ad-hoc sub-process from outside.

use protocol::{ActivateAdHoc, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::Phase;
use crate::process::ad_hoc::definition;

impl CommandContext<'_> {
    pub(super) fn activate_ad_hoc_elements(&mut self, activate: &ActivateAdHoc) -> Result<Response, Failure> {
        let key = activate.element_instance_key;
        let found = self.at(key)?.filter(|(at, _)| definition(at).is_some());
        let Some((at, row)) = found else {
            return Err(Rejection::not_found(format!(
                "Expected to activate activities for ad-hoc sub-process but no ad-hoc sub-process instance found with key '{key}'."
            ))
            .into());
        };
        let refused = |reason: String| {
            Rejection::invalid_state(format!(
                "Expected to activate activities for ad-hoc sub-process with key '{key}', but {reason}."
            ))
        };
        if let Some(halt) = self.tables.halt_of(at.process_instance_key)? {
            return Err(
                refused(format!("its process instance '{}' is {halt}", at.process_instance_key)).into()
            );
        }
        let is_done = self.tables.loops.get(&key)?.is_none_or(|state| state.is_done);
        if row.phase != Phase::Activated || row.interrupted || row.pending_event.is_some() || is_done {
            return Err(refused("it is not active".to_owned()).into());
        }
        let elements = self.find_activities(&at, &activate.elements)?;
        self.instruct_ad_hoc(&at, &activate.elements, elements, activate.cancel_remaining_instances)?;
        Ok(Response::Done)
    }
}
