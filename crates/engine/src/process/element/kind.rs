//! One kind of element: its work at each point of the life of an element.

use protocol::{Document, Rejection};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::Leave;

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
