//! Which commands give a business ID. The leader says in each whether it must be unique.

use super::Command;

impl Command {
    /// Whether the business ID that the command gives must be unique. `None`: it gives none.
    pub fn unique_business_id_mut(&mut self) -> Option<&mut bool> {
        let claim = match self.asked_mut() {
            // One without a business ID says so all the same.
            Self::CreateInstance(create) => return Some(&mut create.unique_business_id),
            Self::AssignBusinessId { claim, .. } => Some(claim),
            Self::CompleteJob(complete) => complete.business_id.as_mut(),
            Self::PublishMessage(publish) => publish.business_id.as_mut(),
            Self::CorrelateMessage(correlate) => correlate.business_id.as_mut(),
            Self::Deploy(_)
            | Self::DeleteResource(_)
            | Self::DeleteHistory(_)
            | Self::CancelInstance { .. }
            | Self::SuspendInstance { .. }
            | Self::ResumeInstance { .. }
            | Self::CreateAgentInstance(_)
            | Self::UpdateAgentInstance(_)
            | Self::FailJob(_)
            | Self::ThrowError(_)
            | Self::UpdateJob(_)
            | Self::YieldJobs { .. }
            | Self::ResolveIncident { .. }
            | Self::SetVariables(_)
            | Self::Clock(_)
            | Self::Tick
            | Self::Continue { .. }
            | Self::AcknowledgeExport { .. }
            | Self::ParkRecord(_)
            | Self::UnparkRecords { .. }
            | Self::Configure { .. }
            | Self::ActivateVersion { .. }
            | Self::Receive(_)
            | Self::AcknowledgeMessages { .. }
            | Self::Purge { .. }
            | Self::EndChange(_)
            | Self::BroadcastSignal(_)
            | Self::EvaluateConditionals(_)
            | Self::Unban { .. }
            | Self::ForgetExporter { .. }
            | Self::ActivateAdHoc(_)
            | Self::MigrateInstance(_)
            | Self::CreateBatchOperation(_)
            | Self::ChangeBatchOperation { .. }
            | Self::ResolveInstanceIncidents { .. }
            | Self::AddBatchItems(_)
            | Self::ModifyInstance(_)
            | Self::EvaluateDecision(_)
            | Self::UserTask(_)
            | Self::GlobalListener(_)
            | Self::ClusterVariable(_)
            | Self::Identity(_) => None,
            Self::Asked { .. } | Self::Idempotent { .. } => {
                unreachable!("what is asked for is neither of them")
            }
        };
        claim.map(|claim| &mut claim.is_unique)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BusinessIdClaim, Caller, CompleteJob, Document, Principal};

    #[test]
    fn a_claim_is_found_in_what_somebody_asks_for() {
        let completion = CompleteJob::of(1, Document::empty());
        let asked = |complete| {
            Command::CompleteJob(complete).asked_by(Some(Caller::unchecked(Principal::user("ann"))))
        };
        assert_eq!(asked(completion.clone()).unique_business_id_mut(), None);
        let claim = Some(BusinessIdClaim::of("b".into()));
        let mut command = asked(CompleteJob { business_id: claim, ..completion });
        *command.unique_business_id_mut().unwrap() = true;
        let Command::CompleteJob(complete) = command.asked() else { unreachable!("just made") };
        assert!(complete.business_id.as_ref().unwrap().is_unique);
    }
}
