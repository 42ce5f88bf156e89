//! End event: none, error, terminate, cancel.

use bpmn::graph::{ElementKind, End};
use protocol::Document;

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::entity::ErrorType;

pub(super) struct EndEvent;

impl Behavior for EndEvent {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let ElementKind::EndEvent(End::Error(code)) = &at.element().kind else {
            return Ok(Next::Complete(Document::empty()));
        };
        let code = work.evaluate_text(code, &Scope::of(at.key))?;
        let caught = work.find_error_catch(at.key, &code)?;
        if work.throw_error(caught, &Document::empty())? {
            return Ok(Next::Wait);
        }
        Err(Failure::incident(
            ErrorType::UnhandledErrorEvent,
            format!("Expected to throw an error event with the code '{code}', but it was not caught."),
        ))
    }

    fn completed(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        match at.element().kind {
            ElementKind::EndEvent(End::Terminate) => work.interrupt_scope(at.scope_key),
            ElementKind::EndEvent(End::Cancel) => work.cancel_transaction(at.scope_key),
            _ => Ok(()),
        }
    }
}
