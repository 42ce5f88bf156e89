//! Which of its outgoing flows a gateway takes by their conditions.

use bpmn::graph::FlowIndex;

use crate::core::failure::Failure;
use crate::core::work::{At, Work};
use crate::definition::expression::Scope;
use crate::entity::ErrorType;

impl Work<'_> {
    /// Whether a gateway takes one of its flows. A flow without a condition is taken if it is the only one.
    pub(super) fn takes(&self, at: &At, flow: FlowIndex, scope: &Scope) -> Result<bool, Failure> {
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
