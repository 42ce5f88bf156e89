//! Decisions that were evaluated: one row for each decision of an evaluation.

use json::write_string;
use protocol::{DecisionEvaluationRecord, EvaluatedDecisionRecord, Intent, Json, Name, Record};
use search::Value;
use search::model::decision_instance as decision;

use crate::change::{Batch, RowId};

pub(super) fn apply(record: &Record, value: &DecisionEvaluationRecord, batch: &mut Batch) {
    if !matches!(record.intent, Intent::Evaluated | Intent::Failed) {
        return;
    }
    for evaluated in &value.evaluated_decisions {
        let is_failed = record.intent == Intent::Failed && evaluated.decision_id == value.failed_decision_id;
        let id = RowId::Text(evaluated.decision_evaluation_instance_key.clone());
        batch
            .insert(&decision::ENTITY, id)
            .set(decision::DECISION_ID, &evaluated.decision_id)
            .set(decision::DECISION_KEY, evaluated.decision_key)
            .set(decision::NAME, &evaluated.decision_name)
            .set(decision::TYPE, kind(&evaluated.decision_type))
            .set(decision::VERSION, evaluated.decision_version)
            .set(decision::EVALUATION_KEY, record.key)
            .set(decision::ELEMENT_KEY, value.element_instance_key)
            .set(decision::DATE, record.timestamp_ms)
            .set(decision::FAILURE, is_failed.then(|| value.evaluation_failure_message.clone()))
            .set(decision::PROCESS_ID, Value::non_empty(&value.bpmn_process_id))
            .set(decision::DEFINITION_KEY, value.process_definition_key)
            .set(decision::INSTANCE_KEY, value.process_instance_key)
            .set(decision::RESULT, Name::from(&*evaluated.decision_output.canonical()))
            .set(decision::ROOT_DECISION_KEY, value.decision_key)
            .set(decision::ROOT_INSTANCE_KEY, value.root_process_instance_key)
            .set(decision::STATE, if is_failed { "FAILED" } else { "EVALUATED" })
            .set(decision::TENANT, &evaluated.tenant_id)
            .set(decision::REQUIREMENTS_KEY, value.decision_requirements_key)
            .set(decision::EVALUATED_INPUTS, inputs(evaluated))
            .set(decision::MATCHED_RULES, rules(evaluated))
            .set(decision::BUSINESS_ID, &value.business_id);
    }
}

/// The API's name of a type; some have none.
fn kind(decision_type: &Name) -> &'static str {
    match &**decision_type {
        "DECISION_TABLE" => "DECISION_TABLE",
        "LITERAL_EXPRESSION" => "LITERAL_EXPRESSION",
        _ => "UNKNOWN",
    }
}

fn text(name: &str, value: &str, out: &mut Vec<u8>) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    write_string(name, out);
    out.push(b':');
    write_string(value, out);
}

fn list<T>(items: &[T], out: &mut Vec<u8>, mut write: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.push(b'{');
        write(item, out);
        out.push(b'}');
    }
    out.push(b']');
}

fn json(out: Vec<u8>) -> String {
    Json::from_valid(out).as_str().to_owned()
}

fn inputs(evaluated: &EvaluatedDecisionRecord) -> String {
    let mut out = Vec::new();
    list(&evaluated.evaluated_inputs, &mut out, |input, out| {
        text("inputId", &input.input_id, out);
        text("inputName", &input.input_name, out);
        text("inputValue", &input.input_value.canonical(), out);
    });
    json(out)
}

fn rules(evaluated: &EvaluatedDecisionRecord) -> String {
    let mut out = Vec::new();
    list(&evaluated.matched_rules, &mut out, |rule, out| {
        text("ruleId", &rule.rule_id, out);
        let index = format!(",\"ruleIndex\":{}", rule.rule_index);
        out.extend_from_slice(index.as_bytes());
        out.extend_from_slice(b",\"evaluatedOutputs\":");
        list(&rule.evaluated_outputs, out, |output, out| {
            text("outputId", &output.output_id, out);
            text("outputName", &output.output_name, out);
            text("outputValue", &output.output_value.canonical(), out);
            text("ruleId", &rule.rule_id, out);
            out.extend_from_slice(index.as_bytes());
        });
    });
    json(out)
}
