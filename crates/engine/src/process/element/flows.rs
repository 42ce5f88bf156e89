//! Which of its outgoing flows a gateway takes by their conditions.

use bpmn::graph::FlowIndex;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::entity::ErrorType;

impl CommandContext<'_> {
    /// Whether a gateway takes one of its flows. A flow without a condition is taken if it is the only one.
    pub(super) fn takes(&self, at: &ActiveElement, flow: FlowIndex, scope: &Scope) -> Result<bool, Failure> {
        match &at.process.flow(flow).condition {
            Some(condition) => self.evaluate_condition(condition, scope),
            None => Ok(at.element().outgoing.len() == 1),
        }
    }
}

/// The incident of a gateway that takes no flow and has none by default.
pub(super) fn no_flow_taken() -> Failure {
    Failure::incident(
        ErrorType::ConditionError,
        "Expected at least one condition to evaluate to true, or to have a default flow",
    )
}
