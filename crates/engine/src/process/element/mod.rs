//! Behaviours: what each kind of element does at each point of its life. One file each.
//!
//! To add one, write its file and its line in [`behavior`].

mod ad_hoc;
mod call_activity;
mod catch_event;
mod compensate;
mod complex;
mod decision;
mod end_event;
mod event_based;
mod exclusive;
mod flows;
mod inclusive;
mod job_task;
mod multi_instance;
mod pass_through;
mod process;
mod receive;
mod script;
mod standard_loop;
mod start_event;
mod sub_process;
mod throw;
mod user_task;

use bpmn::graph::ElementKind;
use protocol::{Document, Rejection};

pub(crate) use crate::entity::Leave;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;

/// Next step after an activation.
pub(crate) enum Next {
    Wait,
    /// The element waits for its start listeners; it is not active yet.
    Listen,
    /// It is done already, and its work brought this.
    Complete(Document),
}

/// One kind of element.
///
/// An `Err` with an incident must leave nothing half done: evaluate first, then write.
pub(crate) trait Behavior: Sync {
    /// Local variables that are there before input mappings and start listeners. It may be asked again.
    fn prepare(&self, _work: &mut CommandContext, _at: &ActiveElement) -> Result<(), Failure> {
        Ok(())
    }

    /// Input mappings are applied. `trigger` is set if the element is a catch event whose event has happened.
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        trigger: Option<&Document>,
    ) -> Result<Next, Failure>;

    /// Comes to life around an element that is activated inside it from outside: it waits for its events, but starts
    /// nothing. Only scopes that can do so have it.
    fn enter(&self, _work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        Err(Rejection::invalid_argument(format!("'{}' cannot be entered from outside", at.element().id))
            .into())
    }

    /// `variables` is what the work of the element brought.
    fn complete(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        variables: &Document,
    ) -> Result<Leave, Failure> {
        work.apply_outputs(at, variables)?;
        Ok(Leave::All)
    }

    /// Its end listeners are done; its rows still stand.
    fn leaving(&self, _work: &mut CommandContext, _at: &ActiveElement) -> Result<(), Failure> {
        Ok(())
    }

    /// The element has ended and its rows are gone; its flows are not taken yet.
    fn completed(&self, _work: &mut CommandContext, _at: &ActiveElement) -> Result<(), Failure> {
        Ok(())
    }

    /// The element has ended, one way or the other, and its rows go: those that only this kind has go with them.
    fn removed(&self, _work: &mut CommandContext, _at: &ActiveElement) -> Result<(), Failure> {
        Ok(())
    }

    /// Nothing is left inside this scope. Whether it completes now; if not, something else will have to end it.
    fn completes_when_empty(&self, _work: &mut CommandContext, _at: &ActiveElement) -> Result<bool, Failure> {
        Ok(true)
    }

    /// Whether this scope wants to know of the end of its children: the next two are called only then.
    fn watches_children(&self) -> bool {
        false
    }

    /// A child of this scope is about to complete: its outputs are written, its variables still there. A failure is an
    /// incident of the child, whose completion is then tried again.
    fn child_completing(
        &self,
        _work: &mut CommandContext,
        _scope: &ActiveElement,
        _child: &ActiveElement,
    ) -> Result<(), Failure> {
        Ok(())
    }

    /// A child of this scope has completed or was terminated. Its rows are gone; the scope still counts it.
    fn child_ended(
        &self,
        _work: &mut CommandContext,
        _scope: &ActiveElement,
        _child: &ActiveElement,
        _completed: bool,
    ) -> Result<(), Failure> {
        Ok(())
    }
}

/// The behaviour of a kind.
pub(crate) fn behavior(kind: &ElementKind) -> &'static dyn Behavior {
    match kind {
        ElementKind::Process => &process::Process,
        ElementKind::SubProcess { .. } | ElementKind::EventSubProcess { .. } => &sub_process::SubProcess,
        ElementKind::StartEvent(_) => &start_event::StartEvent,
        ElementKind::IntermediateCatch(_) | ElementKind::Boundary(_) => &catch_event::CatchEvent,
        ElementKind::Compensate { .. } => &compensate::Compensate,
        ElementKind::Throw(_) => &throw::Throw,
        ElementKind::EndEvent(_) => &end_event::EndEvent,
        ElementKind::Job(_) => &job_task::JobTask,
        ElementKind::UserTask(_) => &user_task::UserTask,
        ElementKind::Receive(_) => &receive::Receive,
        ElementKind::Script { .. } => &script::Script,
        ElementKind::Decision(_) => &decision::Decision,
        ElementKind::PassThrough
        | ElementKind::IntermediateThrow
        | ElementKind::LinkCatch { .. }
        | ElementKind::Parallel => &pass_through::PassThrough,
        ElementKind::Call(_) => &call_activity::CallActivity,
        ElementKind::Exclusive { .. } => &exclusive::Exclusive,
        ElementKind::Complex { .. } => &complex::Complex,
        ElementKind::Inclusive { .. } => &inclusive::Inclusive,
        ElementKind::EventBased => &event_based::EventBased,
        ElementKind::AdHoc(_) => &ad_hoc::AdHocSubProcess,
        ElementKind::AdHocInner => &ad_hoc::AdHocInner,
        ElementKind::Loop(_) => &standard_loop::StandardLoopBody,
        ElementKind::MultiInstance(_) => &multi_instance::MultiInstanceBody,
    }
}
