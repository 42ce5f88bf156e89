//! `POST /v2/decision-definitions/evaluation`

use protocol::{
    Command, DecisionEvaluationRecord, DecisionRef, EvaluateDecision, EvaluatedDecisionRecord, Key,
    MatchedRuleRecord, Response,
};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, given, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let decision = match call.fields.key("decisionDefinitionKey")? {
        Some(key) => DecisionRef::Key(key),
        None => DecisionRef::Id(call.fields.name_or_empty("decisionDefinitionId")),
    };
    let evaluate = EvaluateDecision {
        decision,
        variables: call.document("variables")?,
        tenant_id: call.fields.tenant(),
    };
    let answer = call.submit("EVALUATE", Command::EvaluateDecision(evaluate)).await?;
    let Response::DecisionEvaluated { evaluation_key, evaluation } = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(512 + 512 * evaluation.evaluated_decisions.len());
    write_evaluation(*evaluation_key, evaluation, &mut out);
    Ok(Reply::json(out).timed(answer.timing))
}

fn write_evaluation(key: Key, evaluation: &DecisionEvaluationRecord, out: &mut Vec<u8>) {
    object(out)
        .with("decisionDefinitionId", &evaluation.decision_id)
        .with("decisionDefinitionKey", Digits(evaluation.decision_key))
        .with("decisionDefinitionName", &evaluation.decision_name)
        .with("decisionDefinitionVersion", evaluation.decision_version)
        .with("decisionEvaluationKey", Digits(key))
        // The older name of the former.
        .with("decisionInstanceKey", Digits(key))
        .with("decisionRequirementsId", &evaluation.decision_requirements_id)
        .with("decisionRequirementsKey", Digits(evaluation.decision_requirements_key))
        .with("output", evaluation.decision_output.as_str())
        .with("failedDecisionDefinitionId", given(&evaluation.failed_decision_id))
        .with("failureMessage", given(&evaluation.evaluation_failure_message))
        .with("tenantId", &evaluation.tenant_id)
        .list("evaluatedDecisions", &evaluation.evaluated_decisions, write_decision)
        .end();
}

fn write_decision(decision: &EvaluatedDecisionRecord, out: &mut Vec<u8>) {
    object(out)
        .with("decisionDefinitionId", &decision.decision_id)
        .with("decisionDefinitionKey", Digits(decision.decision_key))
        .with("decisionDefinitionName", &decision.decision_name)
        .with("decisionDefinitionVersion", decision.decision_version)
        .with("decisionDefinitionType", &decision.decision_type)
        .with("decisionEvaluationInstanceKey", &decision.decision_evaluation_instance_key)
        .with("output", decision.decision_output.as_str())
        .with("tenantId", &decision.tenant_id)
        .list("evaluatedInputs", &decision.evaluated_inputs, |input, out| {
            object(out)
                .with("inputId", &input.input_id)
                .with("inputName", &input.input_name)
                .with("inputValue", input.input_value.as_str())
                .end();
        })
        .list("matchedRules", &decision.matched_rules, write_rule)
        .end();
}

fn write_rule(rule: &MatchedRuleRecord, out: &mut Vec<u8>) {
    object(out)
        .with("ruleId", &rule.rule_id)
        .with("ruleIndex", rule.rule_index)
        .list("evaluatedOutputs", &rule.evaluated_outputs, |output, out| {
            object(out)
                .with("outputId", &output.output_id)
                .with("outputName", &output.output_name)
                .with("outputValue", output.output_value.as_str())
                .with("ruleId", &rule.rule_id)
                .with("ruleIndex", rule.rule_index)
                .end();
        })
        .end();
}
