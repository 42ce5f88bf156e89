//! `POST /v2/decision-definitions/evaluation`

use protocol::{
    Command, DecisionEvaluationRecord, DecisionRef, EvaluateDecision, EvaluatedDecisionRecord, Key,
    MatchedRuleRecord, Response,
};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{integer_member, key_member, member, text_member, text_or_null_member, write_list};

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
    out.push(b'{');
    write_evaluation(*evaluation_key, evaluation, &mut out);
    out.push(b'}');
    Ok(Reply::json(out).timed(answer.timing))
}

fn write_evaluation(key: Key, evaluation: &DecisionEvaluationRecord, out: &mut Vec<u8>) {
    text_member("decisionDefinitionId", &evaluation.decision_id, out);
    key_member("decisionDefinitionKey", evaluation.decision_key, out);
    text_member("decisionDefinitionName", &evaluation.decision_name, out);
    integer_member("decisionDefinitionVersion", evaluation.decision_version, out);
    // The second is the older name of the first.
    for name in ["decisionEvaluationKey", "decisionInstanceKey"] {
        key_member(name, key, out);
    }
    text_member("decisionRequirementsId", &evaluation.decision_requirements_id, out);
    key_member("decisionRequirementsKey", evaluation.decision_requirements_key, out);
    text_member("output", evaluation.decision_output.as_str(), out);
    text_or_null_member("failedDecisionDefinitionId", &evaluation.failed_decision_id, out);
    text_or_null_member("failureMessage", &evaluation.evaluation_failure_message, out);
    text_member("tenantId", &evaluation.tenant_id, out);
    member("evaluatedDecisions", out);
    write_list(&evaluation.evaluated_decisions, out, write_decision);
}

fn write_decision(decision: &EvaluatedDecisionRecord, out: &mut Vec<u8>) {
    out.push(b'{');
    text_member("decisionDefinitionId", &decision.decision_id, out);
    key_member("decisionDefinitionKey", decision.decision_key, out);
    text_member("decisionDefinitionName", &decision.decision_name, out);
    integer_member("decisionDefinitionVersion", decision.decision_version, out);
    text_member("decisionDefinitionType", &decision.decision_type, out);
    text_member("decisionEvaluationInstanceKey", &decision.decision_evaluation_instance_key, out);
    text_member("output", decision.decision_output.as_str(), out);
    text_member("tenantId", &decision.tenant_id, out);
    member("evaluatedInputs", out);
    write_list(&decision.evaluated_inputs, out, |input, out| {
        out.push(b'{');
        text_member("inputId", &input.input_id, out);
        text_member("inputName", &input.input_name, out);
        text_member("inputValue", input.input_value.as_str(), out);
        out.push(b'}');
    });
    member("matchedRules", out);
    write_list(&decision.matched_rules, out, write_rule);
    out.push(b'}');
}

fn write_rule(rule: &MatchedRuleRecord, out: &mut Vec<u8>) {
    out.push(b'{');
    text_member("ruleId", &rule.rule_id, out);
    integer_member("ruleIndex", rule.rule_index, out);
    member("evaluatedOutputs", out);
    write_list(&rule.evaluated_outputs, out, |output, out| {
        out.push(b'{');
        text_member("outputId", &output.output_id, out);
        text_member("outputName", &output.output_name, out);
        text_member("outputValue", output.output_value.as_str(), out);
        text_member("ruleId", &rule.rule_id, out);
        integer_member("ruleIndex", rule.rule_index, out);
        out.push(b'}');
    });
    out.push(b'}');
}
