//! Outcome of an evaluation, in the shapes that the API reports.

#![expect(missing_docs, reason = "names say what is held")]

use feel::{Value, Warning};
use std::sync::Arc;

/// The result of a decision, with the trail of evaluated decisions.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The result of the decision.
    pub output: Value,
    /// All decisions that were evaluated, required ones first, the requested decision last.
    pub evaluated_decisions: Vec<EvaluatedDecision>,
    /// Warnings of expressions, which did not end the evaluation.
    pub warnings: Vec<Warning>,
}

/// The failure of a decision.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("Expected to evaluate decision '{decision_id}', but {reason}")]
pub struct Failure {
    pub decision_id: String,
    /// The reason, with the rule if one failed.
    pub reason: String,
    /// The decision that failed: the requested one or one that it requires.
    pub failed_decision_id: String,
    pub failed_rule: Option<FailedRule>,
    /// The decisions evaluated up to the failure; the last one failed.
    pub evaluated_decisions: Vec<EvaluatedDecision>,
    /// Warnings of expressions before the failure.
    pub warnings: Vec<Warning>,
}

/// The rule of a decision table that could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRule {
    /// The ID of the rule.
    pub id: String,
    /// The place of the rule, from 1.
    pub index: usize,
}

/// One decision as it was evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedDecision {
    /// The namespace of its model: that asked, or one that it imports.
    pub namespace: Arc<str>,
    /// The ID of the decision.
    pub id: Arc<str>,
    /// The name of the decision.
    pub name: Arc<str>,
    /// The kind of its logic.
    pub kind: DecisionKind,
    /// The result; null if it failed.
    pub output: Value,
    /// The inputs of its decision table.
    pub inputs: Vec<EvaluatedInput>,
    /// The rules of its decision table that matched.
    pub matched_rules: Vec<MatchedRule>,
}

/// The value of an input of a decision table.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedInput {
    /// The ID of the input.
    pub id: Arc<str>,
    /// The label of the input.
    pub name: Arc<str>,
    /// The value of its expression.
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MatchedRule {
    /// The ID of the rule.
    pub id: Arc<str>,
    /// The place of the rule, from 1.
    pub index: usize,
    pub outputs: Vec<EvaluatedOutput>,
}

/// The value of an output of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedOutput {
    /// The ID of the output column.
    pub id: Arc<str>,
    /// The label of the output column, or its name.
    pub name: Arc<str>,
    pub value: Value,
}

/// The kind of logic that a decision has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionKind {
    DecisionTable,
    LiteralExpression,
    Context,
    /// A call of a business knowledge model.
    Invocation,
    List,
    Relation,
    Unknown,
}

impl DecisionKind {
    /// The name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::DecisionTable => "DECISION_TABLE",
            Self::LiteralExpression => "LITERAL_EXPRESSION",
            Self::Context => "CONTEXT",
            Self::Invocation => "INVOCATION",
            Self::List => "LIST",
            Self::Relation => "RELATION",
            Self::Unknown => "UNKNOWN",
        }
    }
}
