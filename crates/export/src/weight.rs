//! About how much memory a record takes.

use protocol::{
    ActivateElement, BatchOperationCreationRecord, DecisionEvaluationRecord, Document, JobRecord, JobResult,
    ProcessInstanceModificationRecord, Record, RecordValue,
};

/// Of the boxed value with its short texts, most of which are shared.
const VALUE_BYTES: usize = 320;

/// About how many bytes a record keeps in memory.
pub(crate) fn weight(record: &Record) -> usize {
    let json = Document::json_len;
    size_of::<Record>()
        + VALUE_BYTES
        + match &record.value {
            RecordValue::Job(job) => job_weight(job),
            RecordValue::Message(message) => json(&message.variables),
            RecordValue::MessageSubscription(subscription)
            | RecordValue::ProcessMessageSubscription(subscription) => json(&subscription.variables),
            RecordValue::MessageStartEventSubscription(subscription) => json(&subscription.variables),
            RecordValue::Variable(variable) => variable.value.as_bytes().len(),
            RecordValue::ProcessInstanceCreation(creation) => json(&creation.variables),
            RecordValue::ProcessInstanceModification(modification) => modification_weight(modification),
            RecordValue::ProcessInstanceMigration(migration) => {
                migration.mapping_instructions.len() * PART_BYTES
            }
            RecordValue::CompensationSubscription(subscription) => json(&subscription.variables),
            RecordValue::ClusterVariable(variable) => {
                variable.value.as_bytes().len() + json(&variable.metadata)
            }
            RecordValue::BatchOperationCreation(creation) => plans_weight(creation),
            RecordValue::BatchOperationChunk(chunk) => size_of_val(&chunk.items[..]),
            RecordValue::BatchOperationExecution(execution) => {
                size_of_val(&execution.item_keys[..]) + execution.error_message.len()
            }
            RecordValue::BatchOperationLifecycleManagement(change) => {
                change.errors.iter().map(|error| error.len()).sum()
            }
            RecordValue::Incident(incident) => incident.error_message.len(),
            RecordValue::Error(error) => error.exception_message.len() + error.stacktrace.len(),
            RecordValue::Process(process) => process.resource.len(),
            RecordValue::Deployment(deployment) => {
                deployment.processes_metadata.iter().map(|process| VALUE_BYTES + process.resource.len()).sum()
            }
            RecordValue::MultiInstance(body) => body.input_collection.as_bytes().len(),
            RecordValue::AdHocSubProcessInstruction(instruction) => {
                elements_weight(&instruction.activate_elements)
            }
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
            // All that these have is keys, names and short texts.
            #[rustfmt::skip]
            RecordValue::ProcessInstance(_) | RecordValue::Timer(_) | RecordValue::ResourceDeletion(_)
            | RecordValue::SignalSubscription(_) | RecordValue::Escalation(_)
            | RecordValue::ConditionalSubscription(_) | RecordValue::RuntimeInstruction(_)
            | RecordValue::Decision(_) | RecordValue::BatchOperationInitialization(_)
            | RecordValue::BatchOperationPartitionLifecycle(_) | RecordValue::HistoryDeletion(_)
            | RecordValue::ProcessInstanceBatch(_) | RecordValue::GlobalListener(_) | RecordValue::Clock(_)
            | RecordValue::User(_) | RecordValue::Group(_) | RecordValue::Role(_) | RecordValue::Tenant(_)
            | RecordValue::MappingRule(_) | RecordValue::Authorization(_) | RecordValue::AgentDefinition(_)
            | RecordValue::Purge(_) => 0,
        }
}

/// A part of a record that has many, with its short texts.
const PART_BYTES: usize = 160;

fn job_weight(job: &JobRecord) -> usize {
    let result = match job.result.as_deref() {
        Some(JobResult::AdHocSubProcess { activate_elements, .. }) => elements_weight(activate_elements),
        Some(JobResult::UserTask { .. }) => VALUE_BYTES,
        None => 0,
    };
    job.variables.json_len() + job.custom_headers.len() + job.error_message.len() + result
}

fn elements_weight(elements: &[ActivateElement]) -> usize {
    elements.iter().map(|element| VALUE_BYTES + element.variables.json_len()).sum()
}

fn plans_weight(creation: &BatchOperationCreationRecord) -> usize {
    let mappings = creation.migration_plan.as_ref().map_or(0, |plan| plan.mapping_instructions.len());
    let moves = creation.modification_plan.as_ref().map_or(0, |plan| plan.move_instructions.len());
    (mappings + moves) * PART_BYTES
}

fn modification_weight(modification: &ProcessInstanceModificationRecord) -> usize {
    let activated = modification.activate_instructions.iter().map(|one| &one.variable_instructions);
    let moved = modification.move_instructions.iter().map(|one| &one.variable_instructions);
    let variables = activated.chain(moved).flat_map(|set| set.iter());
    let parts = modification.activate_instructions.len()
        + modification.move_instructions.len()
        + modification.terminate_instructions.len();
    parts * PART_BYTES + variables.map(|one| PART_BYTES + one.variables.json_len()).sum::<usize>()
}

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
    use protocol::{
        BatchOperationChunkRecord, BatchOperationItem, ClusterVariableRecord, EvaluatedDecisionRecord,
        EvaluatedInputRecord, Intent, Json, Name,
    };

    use super::*;

    #[test]
    fn what_a_client_makes_large_weighs() {
        let of = |intent, value: RecordValue| weight(&protocol::testing::record(7, intent, value));
        let variable = |text: &str| {
            let value = ClusterVariableRecord {
                name: Name::from("a"),
                value: Json::string(text),
                scope: Name::default(),
                tenant_id: Name::default(),
                metadata: Document::empty(),
                kind: Name::default(),
            };
            of(Intent::Created, value.into())
        };
        assert_eq!(variable(&"x".repeat(10_000)), variable("") + 10_000);
        let chunk = |count: u64| {
            let item = |key| BatchOperationItem {
                item_key: key,
                process_instance_key: key,
                root_process_instance_key: key,
            };
            let value = BatchOperationChunkRecord {
                batch_operation_key: 1,
                items: (0..count).map(item).collect(),
                batch_operation_type: Name::default(),
            };
            of(Intent::Created, value.into())
        };
        assert_eq!(chunk(1000), chunk(0) + 24_000);
    }

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
