//! About how much memory a record takes.

use protocol::{ActivateElement, DecisionEvaluationRecord, Document, JobResult, Record, RecordValue};

/// Of the boxed value with its short texts, most of which are shared.
const VALUE_BYTES: usize = 320;

/// About how many bytes a record keeps in memory.
pub(crate) fn weight(record: &Record) -> usize {
    let json = |document: &Document| document.json_len();
    let elements = |elements: &[ActivateElement]| -> usize {
        elements.iter().map(|element| VALUE_BYTES + json(&element.variables)).sum()
    };
    size_of::<Record>()
        + VALUE_BYTES
        + match &record.value {
            RecordValue::Job(job) => {
                let result = match job.result.as_deref() {
                    Some(JobResult::AdHocSubProcess { activate_elements, .. }) => elements(activate_elements),
                    Some(JobResult::UserTask { .. }) => VALUE_BYTES,
                    None => 0,
                };
                json(&job.variables) + job.custom_headers.len() + job.error_message.len() + result
            }
            RecordValue::Message(message) => json(&message.variables),
            RecordValue::MessageSubscription(subscription)
            | RecordValue::ProcessMessageSubscription(subscription) => json(&subscription.variables),
            RecordValue::MessageStartEventSubscription(subscription) => json(&subscription.variables),
            RecordValue::Variable(variable) => variable.value.as_bytes().len(),
            RecordValue::ProcessInstanceCreation(creation) => json(&creation.variables),
            RecordValue::Incident(incident) => incident.error_message.len(),
            RecordValue::Error(error) => error.exception_message.len() + error.stacktrace.len(),
            RecordValue::Process(process) => process.resource.len(),
            RecordValue::Deployment(deployment) => {
                deployment.processes_metadata.iter().map(|process| VALUE_BYTES + process.resource.len()).sum()
            }
            RecordValue::MultiInstance(body) => body.input_collection.as_bytes().len(),
            RecordValue::AdHocSubProcessInstruction(instruction) => elements(&instruction.activate_elements),
            RecordValue::DecisionEvaluation(evaluation) => evaluation_weight(evaluation),
            RecordValue::Signal(signal) => json(&signal.variables),
            RecordValue::ConditionalEvaluation(evaluation) => json(&evaluation.variables),
            RecordValue::UserTask(task) => json(&task.variables) + task.custom_headers.len(),
            RecordValue::VariableDocument(set) => json(&set.variables),
            RecordValue::DecisionRequirements(requirements) => requirements.resource.len(),
            RecordValue::Form(form) => form.resource.len(),
            RecordValue::Resource(resource) => resource.resource.len(),
            RecordValue::AgentInstance(agent) => {
                agent.tools.as_bytes().len() + agent.definition.system_prompt.as_bytes().len()
            }
            RecordValue::AgentHistory(item) => {
                let texts = [&item.content, &item.tool_calls, &item.system_prompt, &item.tools];
                texts.iter().map(|text| text.as_bytes().len()).sum()
            }
            _ => 0,
        }
}

/// A part of the trail of an evaluation, with its short texts.
const PART_BYTES: usize = 160;

/// The trail may be far larger than the result.
fn evaluation_weight(evaluation: &DecisionEvaluationRecord) -> usize {
    let trail = evaluation.evaluated_decisions.iter().map(|decision| {
        let inputs =
            decision.evaluated_inputs.iter().map(|input| PART_BYTES + input.input_value.as_bytes().len());
        let rules = decision.matched_rules.iter().map(|rule| {
            let outputs = rule.evaluated_outputs.iter();
            PART_BYTES
                + outputs.map(|output| PART_BYTES + output.output_value.as_bytes().len()).sum::<usize>()
        });
        VALUE_BYTES + decision.decision_output.as_bytes().len() + inputs.sum::<usize>() + rules.sum::<usize>()
    });
    evaluation.variables.json_len() + evaluation.decision_output.as_bytes().len() + trail.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use protocol::{EvaluatedDecisionRecord, EvaluatedInputRecord, Intent, Json, Name};

    use super::*;

    #[test]
    fn the_trail_of_an_evaluation_weighs() {
        let evaluation = |input: &str| {
            let input = EvaluatedInputRecord {
                input_id: Name::from("i"),
                input_name: Name::default(),
                input_value: Json::string(input),
            };
            let decision = EvaluatedDecisionRecord {
                decision_id: Name::from("d"),
                decision_name: Name::default(),
                decision_key: 1,
                decision_version: 1,
                decision_type: Name::default(),
                decision_output: Json::null(),
                evaluated_inputs: vec![input],
                matched_rules: vec![],
                tenant_id: Name::default(),
                decision_evaluation_instance_key: Name::default(),
            };
            let value = DecisionEvaluationRecord {
                business_id: None,
                decision_key: 1,
                decision_id: Name::from("d"),
                decision_name: Name::default(),
                decision_version: 1,
                decision_requirements_id: Name::default(),
                decision_requirements_key: 1,
                decision_output: Json::null(),
                variables: Document::empty(),
                bpmn_process_id: Name::default(),
                process_definition_key: None,
                process_instance_key: None,
                root_process_instance_key: None,
                element_id: Name::default(),
                element_instance_key: None,
                evaluated_decisions: vec![decision],
                evaluation_failure_message: Name::default(),
                failed_decision_id: Name::default(),
                tenant_id: Name::default(),
            };
            let like = protocol::testing::variable(1, 8);
            weight(&Record { intent: Intent::Evaluated, value: value.into(), ..like })
        };
        assert_eq!(evaluation(&"x".repeat(10_000)), evaluation("") + 10_000);
    }
}
