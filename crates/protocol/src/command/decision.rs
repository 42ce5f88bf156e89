//! The evaluation of a decision.

use minicbor::{Decode, Encode};

use crate::{Document, Key, Name};

/// See [`super::Command::EvaluateDecision`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct EvaluateDecision {
    #[n(0)]
    pub decision: DecisionRef,
    /// Variables of the evaluation.
    #[n(1)]
    pub variables: Document,
    /// Tenant of the decision.
    #[n(2)]
    pub tenant_id: Name,
}

/// Which decision is meant.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum DecisionRef {
    #[n(0)]
    Key(#[n(0)] Key),
    /// The latest version of an ID.
    #[n(1)]
    Id(#[n(0)] Name),
}
