//! Elements that throw: throw and end events with a signal, an escalation, a link or a message, send tasks.

use bpmn::graph::{ElementKind, Throw as Thrown};
use protocol::Document;

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::entity::Leave;

pub(super) struct Throw;

impl Behavior for Throw {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let process = std::sync::Arc::clone(&at.process);
        match &process.element(at.index).kind {
            ElementKind::Throw(Thrown::Signal(name)) => {
                let name = work.evaluate_text(name, &Scope::of(at.key))?;
                let variables = work.tables.local_variables(at.key)?.into_iter().collect();
                work.broadcast(name, at.instance.tenant_id.clone(), variables)?;
            }
            ElementKind::Throw(Thrown::Message(message)) => work.send_message(at, message)?,
            ElementKind::Throw(Thrown::Escalation(code)) => {
                let code = work.evaluate_text(code, &Scope::of(at.key))?;
                if work.throw_escalation(at, &code)? {
                    // It goes with the scope that was interrupted.
                    return Ok(Next::Wait);
                }
            }
            _ => {}
        }
        Ok(Next::Complete(Document::empty()))
    }

    fn complete(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        variables: &Document,
    ) -> Result<Leave, Failure> {
        work.apply_outputs(at, variables)?;
        match at.element().kind {
            ElementKind::Throw(Thrown::Link { target, .. }) => Ok(Leave::ByLink(target)),
            _ => Ok(Leave::All),
        }
    }
}
