//! Evaluating decisions.

use grpc as pb;
use protocol::{
    Command, DecisionRef, EvaluateDecision, EvaluatedDecisionRecord, MatchedRuleRecord, Response,
};
use tonic::Status;

use super::field;
use super::status::unexpected_response;

/// Reads an evaluation: by the key, or else the latest of the ID.
pub(super) fn evaluate(request: pb::EvaluateDecisionRequest) -> Result<Command, Status> {
    let decision = match (request.decision_key, request.decision_id.as_str()) {
        (key, "") if key > 0 => DecisionRef::Key(field::key("decisionKey", key)?),
        (0 | -1, id) if !id.is_empty() => DecisionRef::Id(field::name("decisionId", request.decision_id)?),
        _ => {
            return Err(Status::invalid_argument(
                "Expected exactly one of 'decisionKey' and 'decisionId' to be set",
            ));
        }
    };
    Ok(Command::EvaluateDecision(EvaluateDecision {
        decision,
        variables: field::variables("variables", request.variables)?,
        tenant_id: field::tenant("tenantId", &request.tenant_id)?,
    }))
}

/// Writes the answer. A failed evaluation is one, too.
pub(super) fn evaluated(response: Response) -> Result<pb::EvaluateDecisionResponse, Status> {
    let Response::DecisionEvaluated { evaluation_key, evaluation } = response else {
        return Err(unexpected_response("EVALUATE"));
    };
    Ok(pb::EvaluateDecisionResponse {
        decision_key: evaluation.decision_key as i64,
        decision_id: evaluation.decision_id.to_string(),
        decision_name: evaluation.decision_name.to_string(),
        decision_version: evaluation.decision_version as i32,
        decision_requirements_id: evaluation.decision_requirements_id.to_string(),
        decision_requirements_key: evaluation.decision_requirements_key as i64,
        decision_output: evaluation.decision_output.as_str().to_owned(),
        evaluated_decisions: evaluation.evaluated_decisions.iter().map(decision).collect(),
        failed_decision_id: evaluation.failed_decision_id.to_string(),
        failure_message: evaluation.evaluation_failure_message.to_string(),
        tenant_id: evaluation.tenant_id.to_string(),
        // The older name of the next.
        decision_instance_key: evaluation_key as i64,
        decision_evaluation_key: evaluation_key as i64,
    })
}

fn decision(decision: &EvaluatedDecisionRecord) -> pb::EvaluatedDecision {
    pb::EvaluatedDecision {
        decision_key: decision.decision_key as i64,
        decision_id: decision.decision_id.to_string(),
        decision_name: decision.decision_name.to_string(),
        decision_version: decision.decision_version as i32,
        decision_type: decision.decision_type.to_string(),
        decision_output: decision.decision_output.as_str().to_owned(),
        matched_rules: decision.matched_rules.iter().map(rule).collect(),
        evaluated_inputs: decision
            .evaluated_inputs
            .iter()
            .map(|input| pb::EvaluatedDecisionInput {
                input_id: input.input_id.to_string(),
                input_name: input.input_name.to_string(),
                input_value: input.input_value.as_str().to_owned(),
            })
            .collect(),
        tenant_id: decision.tenant_id.to_string(),
        decision_evaluation_instance_key: decision.decision_evaluation_instance_key.to_string(),
    }
}

fn rule(rule: &MatchedRuleRecord) -> pb::MatchedDecisionRule {
    pb::MatchedDecisionRule {
        rule_id: rule.rule_id.to_string(),
        rule_index: rule.rule_index as i32,
        evaluated_outputs: rule
            .evaluated_outputs
            .iter()
            .map(|output| pb::EvaluatedDecisionOutput {
                output_id: output.output_id.to_string(),
                output_name: output.output_name.to_string(),
                output_value: output.output_value.as_str().to_owned(),
            })
            .collect(),
    }
}
