//! Facts about a command that do not depend on what it does.

use super::{Command, CompleteJob, CorrelateMessage, FailJob, PublishMessage, ThrowError, UpdateJob};
use crate::{
    AGENT_VERSION, BUSINESS_ID_VERSION, ClusterVariable, FIRST_ACTIVE_VERSION, IDEMPOTENCY_VERSION, Key,
    METADATA_VERSION, PRIORITY_VERSION, SUSPENSION_VERSION,
};

impl Command {
    /// The client's operation reference: a number that the records of the command repeat.
    pub fn operation_reference(&self) -> Option<u64> {
        match self.asked() {
            Self::CreateInstance(create) => create.operation_reference,
            Self::CancelInstance { operation_reference, .. }
            | Self::SuspendInstance { operation_reference, .. }
            | Self::ResumeInstance { operation_reference, .. }
            | Self::ResolveIncident { operation_reference, .. } => *operation_reference,
            Self::ModifyInstance(modify) => modify.operation_reference,
            Self::MigrateInstance(migrate) => migrate.operation_reference,
            Self::SetVariables(set) => set.operation_reference,
            Self::UpdateJob(update) => update.operation_reference,
            Self::DeleteResource(delete) => delete.operation_reference,
            Self::DeleteHistory(delete) => delete.operation_reference,
            Self::CreateBatchOperation(create) => create.operation_reference,
            _ => None,
        }
    }

    /// The first version of the engine that knows the command.
    pub fn since_version(&self) -> u16 {
        let needs = match self.asked() {
            Self::SuspendInstance { .. } | Self::ResumeInstance { .. } | Self::AssignBusinessId { .. } => {
                SUSPENSION_VERSION
            }
            Self::CreateAgentInstance(_) | Self::UpdateAgentInstance(_) => AGENT_VERSION,
            Self::CompleteJob(CompleteJob { lease, business_id, .. })
                if lease.is_some() || business_id.is_some() =>
            {
                PRIORITY_VERSION
            }
            Self::FailJob(FailJob { lease: Some(_), .. })
            | Self::ThrowError(ThrowError { lease: Some(_), .. })
            | Self::UpdateJob(UpdateJob { lease: Some(_), .. } | UpdateJob { priority: Some(_), .. }) => {
                PRIORITY_VERSION
            }
            Self::PublishMessage(PublishMessage { business_id: Some(_), .. })
            | Self::CorrelateMessage(CorrelateMessage { business_id: Some(_), .. }) => BUSINESS_ID_VERSION,
            Self::ClusterVariable(
                ClusterVariable { metadata: Some(_), .. } | ClusterVariable { kind: Some(_), .. },
            ) => METADATA_VERSION,
            Self::CreateBatchOperation(create) => create.action.since_version(),
            Self::Identity(command) => command.since_version(),
            _ => FIRST_ACTIVE_VERSION,
        };
        if matches!(self, Self::Idempotent { .. }) { needs.max(IDEMPOTENCY_VERSION) } else { needs }
    }

    /// The job that a worker answers with it.
    pub fn answered_job(&self) -> Option<Key> {
        match self.asked() {
            Self::CompleteJob(complete) => Some(complete.job_key),
            Self::FailJob(fail) => Some(fail.job_key),
            Self::ThrowError(throw) => Some(throw.job_key),
            _ => None,
        }
    }

    /// Number of the request that waits for a response which may come later than the command is applied.
    pub fn request_id(&self) -> Option<u64> {
        match self.asked() {
            Self::UserTask(command) => command.request_id,
            Self::SetVariables(command) => command.request_id,
            Self::CreateInstance(command) => command.await_result.as_ref().map(|wait| wait.request_id),
            _ => None,
        }
    }

    /// Where the number of the waiting request goes, if the response may come later than the command is applied.
    pub fn request_id_mut(&mut self) -> Option<&mut Option<u64>> {
        match self.asked_mut() {
            Self::UserTask(command) => Some(&mut command.request_id),
            Self::SetVariables(command) => Some(&mut command.request_id),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Name};

    #[test]
    fn members_that_earlier_versions_would_pass_over_need_their_version() {
        let plain = CompleteJob::of(1, Document::empty());
        assert_eq!(Command::CompleteJob(plain.clone()).since_version(), FIRST_ACTIVE_VERSION);
        let leased = CompleteJob { lease: Some(Name::from("a")), ..plain };
        assert_eq!(Command::CompleteJob(leased).since_version(), PRIORITY_VERSION);
        let update = |priority| {
            let (retries, timeout_ms, operation_reference, lease) = (Some(1), None, None, None);
            Command::UpdateJob(UpdateJob {
                job_key: 1,
                retries,
                timeout_ms,
                operation_reference,
                priority,
                lease,
            })
        };
        assert_eq!(update(None).since_version(), FIRST_ACTIVE_VERSION);
        assert_eq!(update(Some(0)).since_version(), PRIORITY_VERSION);
    }
}
