//! `POST /v2/decision-definitions/evaluation`

use protocol::{
    Command, DecisionEvaluationRecord, DecisionRef, EvaluateDecision, EvaluatedDecisionRecord, Key,
    MatchedRuleRecord, Name, Response,
};

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_key, write_list, write_text};
use super::{Call, unexpected};

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
    member("decisionDefinitionId", out);
    write_text(&evaluation.decision_id, out);
    member("decisionDefinitionKey", out);
    write_key(evaluation.decision_key, out);
    member("decisionDefinitionName", out);
    write_text(&evaluation.decision_name, out);
    member("decisionDefinitionVersion", out);
    write_integer(evaluation.decision_version, out);
    // The second is the older name of the first.
    for name in ["decisionEvaluationKey", "decisionInstanceKey"] {
        member(name, out);
        write_key(key, out);
    }
    member("decisionRequirementsId", out);
    write_text(&evaluation.decision_requirements_id, out);
    member("decisionRequirementsKey", out);
    write_key(evaluation.decision_requirements_key, out);
    member("output", out);
    write_text(evaluation.decision_output.as_str(), out);
    member("failedDecisionDefinitionId", out);
    write_or_null(&evaluation.failed_decision_id, out);
    member("failureMessage", out);
    write_or_null(&evaluation.evaluation_failure_message, out);
    member("tenantId", out);
    write_text(&evaluation.tenant_id, out);
    member("evaluatedDecisions", out);
    write_list(&evaluation.evaluated_decisions, out, write_decision);
}

fn write_or_null(text: &Name, out: &mut Vec<u8>) {
    if text.is_empty() {
        out.extend_from_slice(b"null");
    } else {
        write_text(text, out);
    }
}

fn write_decision(decision: &EvaluatedDecisionRecord, out: &mut Vec<u8>) {
    out.push(b'{');
    member("decisionDefinitionId", out);
    write_text(&decision.decision_id, out);
    member("decisionDefinitionKey", out);
    write_key(decision.decision_key, out);
    member("decisionDefinitionName", out);
    write_text(&decision.decision_name, out);
    member("decisionDefinitionVersion", out);
    write_integer(decision.decision_version, out);
    member("decisionDefinitionType", out);
    write_text(&decision.decision_type, out);
    member("decisionEvaluationInstanceKey", out);
    write_text(&decision.decision_evaluation_instance_key, out);
    member("output", out);
    write_text(decision.decision_output.as_str(), out);
    member("tenantId", out);
    write_text(&decision.tenant_id, out);
    member("evaluatedInputs", out);
    write_list(&decision.evaluated_inputs, out, |input, out| {
        out.push(b'{');
        member("inputId", out);
        write_text(&input.input_id, out);
        member("inputName", out);
        write_text(&input.input_name, out);
        member("inputValue", out);
        write_text(input.input_value.as_str(), out);
        out.push(b'}');
    });
    member("matchedRules", out);
    write_list(&decision.matched_rules, out, write_rule);
    out.push(b'}');
}

fn write_rule(rule: &MatchedRuleRecord, out: &mut Vec<u8>) {
    out.push(b'{');
    member("ruleId", out);
    write_text(&rule.rule_id, out);
    member("ruleIndex", out);
    write_integer(rule.rule_index, out);
    member("evaluatedOutputs", out);
    write_list(&rule.evaluated_outputs, out, |output, out| {
        out.push(b'{');
        member("outputId", out);
        write_text(&output.output_id, out);
        member("outputName", out);
        write_text(&output.output_name, out);
        member("outputValue", out);
        write_text(output.output_value.as_str(), out);
        member("ruleId", out);
        write_text(&rule.rule_id, out);
        member("ruleIndex", out);
        write_integer(rule.rule_index, out);
        out.push(b'}');
    });
    out.push(b'}');
}
