//! Evaluates a decision outside of any process. That it fails is an answer, too.

use protocol::{EvaluateDecision, Intent, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::definition::expression::Scope;

impl CommandContext<'_> {
    pub(super) fn evaluate_decision_alone(
        &mut self,
        evaluate: &EvaluateDecision,
    ) -> Result<Response, Failure> {
        let (decision_key, _) = self.find_decision(&evaluate.decision, &evaluate.tenant_id)?;
        let evaluation_key = self.next_key();
        let scope = Scope { extra: Some(&evaluate.variables), ..Scope::of(0) };
        let (_, mut evaluation) = self.trace_decision(evaluation_key, decision_key, &scope)?;
        evaluation.variables = evaluate.variables.clone();
        let failed = !evaluation.evaluation_failure_message.is_empty();
        self.counters.count_decision(!failed, evaluation.evaluated_decisions.len());
        let intent = if failed { Intent::Failed } else { Intent::Evaluated };
        self.emit(evaluation_key, intent, |_| evaluation.clone());
        Ok(Response::DecisionEvaluated { evaluation_key, evaluation: Box::new(evaluation) })
    }
}
