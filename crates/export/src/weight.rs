//! About how much memory a record takes.

use protocol::{ActivateElement, Document, JobResult, Record, RecordValue};

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
            _ => 0,
        }
}
