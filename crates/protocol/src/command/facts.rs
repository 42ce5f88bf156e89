//! Facts about a command that do not depend on what it does: one table, from which all others read. A new command has
//! its line there, or nothing compiles.

use super::Command;
use crate::{
    ActivateElement, BatchAction, CompleteJob, Document, FIRST_ACTIVE_VERSION, JobResult, Json, Key, Name,
    Resource, UserTaskOperation,
};

/// Limits of flow control that a command is under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandClass {
    /// It begins work, so it is refused first.
    New,
    /// It goes on with work that has begun, or ends it, or operates the cluster.
    Begun,
    /// It is written by the leader, and no client sends it.
    Leader,
}

/// The row without which a command is refused with NOT_FOUND, whatever its other fields say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Job(Key),
    /// A job that the command of its worker ends.
    AnsweredJob(Key),
    Instance(Key),
    ElementInstance(Key),
    Incident(Key),
    UserTask(Key),
    AgentInstance(Key),
}

impl Subject {
    pub fn key(self) -> Key {
        match self {
            Self::Job(key)
            | Self::AnsweredJob(key)
            | Self::Instance(key)
            | Self::ElementInstance(key)
            | Self::Incident(key)
            | Self::UserTask(key)
            | Self::AgentInstance(key) => key,
        }
    }
}

/// The part of a command that may be large, and is measured and named in refusals.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// The set of variables that a command brings for itself.
    Variables(&'a Document),
    /// Variables, and the result of a job.
    Completion(&'a CompleteJob),
    Resources(&'a [Resource]),
    Elements(&'a [ActivateElement]),
    Value(&'a Json),
    /// No field is larger than others by its nature.
    Whole,
}

/// When the request of a command is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerTime {
    /// When the command is applied.
    Applied,
    /// When the instance that it creates has its result, if the client waits for that: under this number.
    Result(Option<u64>),
    /// When listeners or another partition have done their part, if they have one: under this number.
    Later(Option<u64>),
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub struct CommandFacts<'a> {
    pub class: CommandClass,
    /// `None`: the command has no subject, or one that may come back under its key.
    pub subject: Option<Subject>,
    /// The tenant that a client named.
    pub tenant_id: Option<&'a Name>,
    pub content: Content<'a>,
    /// The client's operation reference: a number that the records of the command repeat.
    pub operation_reference: Option<u64>,
    pub answer: AnswerTime,
    /// The first version of the engine that knows the command. It waits until that is active.
    pub since_version: u16,
}

impl<'a> CommandFacts<'a> {
    /// The set of variables that a command brings, if it has one for itself.
    pub fn variables(&self) -> Option<&'a Document> {
        match self.content {
            Content::Variables(variables) => Some(variables),
            Content::Completion(complete) => Some(&complete.variables),
            Content::Resources(_) | Content::Elements(_) | Content::Value(_) | Content::Whole => None,
        }
    }
}

impl Command {
    /// The facts of the command that is asked for.
    #[rustfmt::skip]
    #[expect(clippy::match_same_arms, reason = "a table has a line for each")]
    pub fn facts(&self) -> CommandFacts<'_> {
        use AnswerTime::{Applied, Later, Result};
        use CommandClass::{Begun, Leader, New};
        use Content::{Completion, Elements, Resources, Value, Variables, Whole};
        const V1: u16 = FIRST_ACTIVE_VERSION;
        let answered = |key| Some(Subject::AnsweredJob(key));
        let instance = |key| Some(Subject::Instance(key));
        let element = |key| Some(Subject::ElementInstance(key));
        let (since_version, class, subject, tenant_id, content, operation_reference, answer) = match self.asked() {
            Self::Deploy(it) => (V1, New, None, Some(&it.tenant_id), Resources(&it.resources), None, Applied),
            Self::DeleteResource(it) => (V1, Begun, None, None, Whole, it.operation_reference, Applied),
            Self::DeleteHistory(it) => (V1, Begun, None, None, Whole, it.operation_reference, Applied),
            Self::CreateInstance(it) => (
                V1, New, None, Some(&it.tenant_id), Variables(&it.variables), it.operation_reference,
                Result(it.await_result.as_ref().map(|wait| wait.request_id)),
            ),
            Self::CancelInstance { process_instance_key: key, operation_reference }
            | Self::SuspendInstance { process_instance_key: key, operation_reference }
            | Self::ResumeInstance { process_instance_key: key, operation_reference } =>
                (V1, Begun, instance(*key), None, Whole, *operation_reference, Applied),
            Self::AssignBusinessId { process_instance_key: key, .. }
            | Self::ResolveInstanceIncidents { process_instance_key: key } =>
                (V1, Begun, instance(*key), None, Whole, None, Applied),
            Self::CreateAgentInstance(it) => (V1, Begun, element(it.element_instance_key), None, Whole, None, Applied),
            Self::UpdateAgentInstance(it) =>
                (V1, Begun, Some(Subject::AgentInstance(it.agent_instance_key)), None, Whole, None, Applied),
            Self::CompleteJob(it) => (V1, Begun, answered(it.job_key), None, Completion(it), None, Applied),
            Self::FailJob(it) => (V1, Begun, answered(it.job_key), None, Variables(&it.variables), None, Applied),
            Self::ThrowError(it) => (V1, Begun, answered(it.job_key), None, Variables(&it.variables), None, Applied),
            Self::UpdateJob(it) =>
                (V1, Begun, Some(Subject::Job(it.job_key)), None, Whole, it.operation_reference, Applied),
            Self::PublishMessage(it) => (V1, New, None, Some(&it.tenant_id), Variables(&it.variables), None, Applied),
            Self::CorrelateMessage(it) => (V1, New, None, Some(&it.tenant_id), Variables(&it.variables), None, Later(it.request_id)),
            Self::ResolveIncident { incident_key, operation_reference } =>
                (V1, Begun, Some(Subject::Incident(*incident_key)), None, Whole, *operation_reference, Applied),
            Self::SetVariables(it) =>
                (V1, New, element(it.element_instance_key), None, Variables(&it.variables), it.operation_reference,
                 Later(it.request_id)),
            Self::Clock(_) => (V1, Begun, None, None, Whole, None, Applied),
            Self::Tick | Self::Continue { .. } | Self::AcknowledgeExport { .. } | Self::ParkRecord(_)
            | Self::UnparkRecords { .. } | Self::Configure { .. } | Self::ActivateVersion { .. }
            | Self::AddBatchItems(_) | Self::YieldJobs { .. } | Self::Receive(_) | Self::AcknowledgeMessages { .. } =>
                 (V1, Leader, None, None, Whole, None, Applied),
            // A full cluster can be emptied, and mended.
            Self::Purge { .. } | Self::EndChange(_) | Self::Unban { .. } | Self::ForgetExporter { .. } =>
                (V1, Begun, None, None, Whole, None, Applied),
            Self::BroadcastSignal(it) => (V1, New, None, Some(&it.tenant_id), Variables(&it.variables), None, Applied),
            Self::EvaluateConditionals(it) =>
                (V1, New, None, Some(&it.tenant_id), Variables(&it.variables), None, Applied),
            Self::ActivateAdHoc(it) =>
                (V1, Begun, element(it.element_instance_key), None, Elements(&it.elements), None, Applied),
            Self::MigrateInstance(it) =>
                (V1, Begun, instance(it.process_instance_key), None, Whole, it.operation_reference, Applied),
            Self::CreateBatchOperation(it) =>
                (V1, class_of(&it.action), None, None, Whole, it.operation_reference, Applied),
            // It stops what has begun, or goes on with it.
            Self::ChangeBatchOperation { .. } => (V1, Begun, None, None, Whole, None, Applied),
            Self::ModifyInstance(it) =>
                (V1, Begun, instance(it.process_instance_key), None, Whole, it.operation_reference, Applied),
            Self::EvaluateDecision(it) => (V1, New, None, Some(&it.tenant_id), Variables(&it.variables), None, Applied),
            Self::UserTask(it) =>
                (V1, Begun, Some(Subject::UserTask(it.user_task_key)), None, it.operation.content(), None,
                 Later(it.request_id)),
            Self::GlobalListener(_) => (V1, New, None, None, Whole, None, Applied),
            Self::ClusterVariable(it) => (V1, New, None, it.tenant_id.as_ref(), Value(&it.value), None, Applied),
            Self::Identity(it) => (it.since_version(), New, None, None, Whole, None, Applied),
            Self::Asked { .. } | Self::Idempotent { .. } => unreachable!("what is asked for is neither of them"),
        };
        CommandFacts { class, subject, tenant_id, content, operation_reference, answer, since_version }
    }

    /// The field that takes most of the command's bytes, with them. `command` stands for all fields together, where
    /// none is larger by its nature.
    pub fn payload(&self) -> (&'static str, usize) {
        match self.facts().content {
            Content::Variables(variables) => ("variables", variables.json_len()),
            Content::Completion(complete) => {
                let of_result = complete.result.as_ref().map_or(0, |result| result_bytes(result));
                let field = if of_result == 0 { "variables" } else { "variables and result" };
                (field, complete.variables.json_len() + of_result)
            }
            Content::Resources(resources) => {
                ("resources", resources.iter().map(|resource| resource.content.len()).sum())
            }
            Content::Elements(elements) => ("elements", elements_bytes(elements)),
            Content::Value(value) => ("value", value.as_bytes().len()),
            Content::Whole => ("command", self.asked().encoded_bytes()),
        }
    }

    /// The job that a worker answers with it.
    pub fn answered_job(&self) -> Option<Key> {
        match self.facts().subject {
            Some(Subject::AnsweredJob(key)) => Some(key),
            Some(
                Subject::Job(_)
                | Subject::Instance(_)
                | Subject::ElementInstance(_)
                | Subject::Incident(_)
                | Subject::UserTask(_)
                | Subject::AgentInstance(_),
            )
            | None => None,
        }
    }

    /// Number of the request that waits for a response which may come later than the command is applied.
    pub fn request_id(&self) -> Option<u64> {
        match self.facts().answer {
            AnswerTime::Applied => None,
            AnswerTime::Result(number) | AnswerTime::Later(number) => number,
        }
    }

    /// Where the number of the waiting request goes, if the answer may come later than the command is applied.
    pub fn request_id_mut(&mut self) -> Option<&mut Option<u64>> {
        match self.facts().answer {
            AnswerTime::Applied | AnswerTime::Result(_) => None,
            AnswerTime::Later(_) => match self.asked_mut() {
                Self::UserTask(command) => Some(&mut command.request_id),
                Self::SetVariables(command) => Some(&mut command.request_id),
                Self::CorrelateMessage(command) => Some(&mut command.request_id),
                other => unreachable!("{other:?} may be answered later, and has no place for the number"),
            },
        }
    }
}

/// Batch operations that end work or free room are taken where others are refused.
fn class_of(action: &BatchAction) -> CommandClass {
    match action {
        BatchAction::Cancel
        | BatchAction::DeleteHistory(_)
        | BatchAction::DeleteWithResource(_)
        | BatchAction::Suspend => CommandClass::Begun,
        BatchAction::Resolve
        | BatchAction::Migrate(_)
        | BatchAction::Modify(_)
        | BatchAction::Resume
        | BatchAction::UpdateJobs(_) => CommandClass::New,
    }
}

impl UserTaskOperation {
    fn content(&self) -> Content<'_> {
        match self {
            Self::Complete { variables } => Content::Variables(variables),
            Self::Assign { .. } | Self::Update(_) => Content::Whole,
        }
    }
}

fn result_bytes(result: &JobResult) -> usize {
    match result {
        JobResult::AdHocSubProcess { activate_elements, .. } => elements_bytes(activate_elements),
        JobResult::UserTask { .. } => 0,
    }
}

fn elements_bytes(elements: &[ActivateElement]) -> usize {
    elements.iter().map(|element| element.variables.json_len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CreateBatchOperation, DecisionRef, Document, ElementSource, EvaluateDecision, ModifyInstance, Name,
    };

    #[test]
    fn new_work_is_told_from_work_that_ends_others() {
        let evaluate = EvaluateDecision {
            decision: DecisionRef::Key(1),
            tenant_id: Name::default_tenant(),
            variables: Document::parse(bytes::Bytes::from_static(br#"{"a":"0123456789"}"#)).unwrap(),
        };
        let size = evaluate.variables.json_len();
        assert!(size > 10, "{size}");
        let command = Command::EvaluateDecision(evaluate);
        assert_eq!((command.facts().class, command.payload()), (CommandClass::New, ("variables", size)));
        let batch = |action| {
            let (operation_reference, search) = (None, None);
            Command::CreateBatchOperation(CreateBatchOperation { action, operation_reference, search })
        };
        assert_eq!(batch(BatchAction::Resolve).facts().class, CommandClass::New);
        assert_eq!(batch(BatchAction::Cancel).facts().class, CommandClass::Begun);
        assert_eq!(Command::Tick.facts().class, CommandClass::Leader);
    }

    #[test]
    fn commands_without_a_large_field_count_as_a_whole() {
        let mut modify = ModifyInstance::of(1);
        modify.terminate = (0..100).map(ElementSource::Key).collect();
        let command = Command::ModifyInstance(modify);
        assert_eq!(command.payload(), ("command", command.encoded_bytes()));
        assert!(command.encoded_bytes() > 100);
    }
}
