//! Subjects of commands: value types of the records that name an actor.

use crate::{BatchAction, Command, IdentityCommand, ValueType};

impl Command {
    /// Subjects of the records of exactly this command; records of its consequences tell nothing of who
    /// asked. Nothing for commands that are not kept in the audit log.
    #[rustfmt::skip]
    pub fn subjects(&self) -> &'static [ValueType] {
        use ValueType as V;
        match self.asked() {
            Self::Deploy(_) | Self::DeleteResource(_) => &[
                V::Process,
                V::Decision,
                V::DecisionRequirements,
                V::Form,
                V::Resource,
                V::BatchOperationCreation,
            ],
            Self::DeleteHistory(_) => &[V::HistoryDeletion],
            Self::CreateInstance(_) => &[V::ProcessInstanceCreation],
            Self::CancelInstance { .. }
            | Self::SuspendInstance { .. }
            | Self::ResumeInstance { .. }
            | Self::AssignBusinessId { .. } => &[V::ProcessInstance],
            Self::ModifyInstance(_) => &[V::ProcessInstanceModification],
            Self::MigrateInstance(_) => &[V::ProcessInstanceMigration],
            Self::ResolveIncident { .. } => &[V::Incident],
            Self::UpdateJob(_) => &[V::Job],
            Self::SetVariables(_) => &[V::Variable],
            Self::UserTask(_) => &[V::UserTask],
            Self::EvaluateDecision(_) => &[V::DecisionEvaluation],
            Self::CreateBatchOperation(_) | Self::ResolveInstanceIncidents { .. } => {
                &[V::BatchOperationCreation]
            }
            Self::ChangeBatchOperation { .. } => &[V::BatchOperationLifecycleManagement],
            // The server sets up identities by itself; saved views have no records.
            Self::Identity(IdentityCommand::SetUp | IdentityCommand::SavedView(_))
            // Subjects of workers, messages, operators and the leader are not kept.
            | Self::CreateAgentInstance(_) | Self::UpdateAgentInstance(_) | Self::CompleteJob(_) | Self::FailJob(_)
            | Self::ThrowError(_) | Self::YieldJobs { .. } | Self::PublishMessage(_) | Self::CorrelateMessage(_)
            | Self::Clock(_) | Self::Tick | Self::Continue { .. } | Self::AcknowledgeExport { .. }
            | Self::ParkRecord(_) | Self::UnparkRecords { .. } | Self::Configure { .. }
            | Self::ActivateVersion { .. } | Self::Receive(_) | Self::AcknowledgeMessages { .. } | Self::Purge { .. } | Self::EndChange(_) | Self::BroadcastSignal(_)
            | Self::EvaluateConditionals(_) | Self::Unban { .. } | Self::ForgetExporter { .. }
            | Self::ActivateAdHoc(_) | Self::AddBatchItems(_) | Self::GlobalListener(_) | Self::ClusterVariable(_) => &[],
            Self::Identity(_) => &[V::User, V::Group, V::Role, V::Tenant, V::MappingRule, V::Authorization],
            Self::Asked { .. } | Self::Idempotent { .. } => unreachable!("what is asked for is neither of them"),
        }
    }
}

impl BatchAction {
    /// Subjects of the records of the action on one item.
    pub const fn subjects(&self) -> &'static [ValueType] {
        match self {
            Self::Cancel | Self::Suspend | Self::Resume => &[ValueType::ProcessInstance],
            Self::UpdateJobs(_) => &[ValueType::Job],
            Self::Resolve => &[ValueType::Incident],
            Self::Migrate(_) => &[ValueType::ProcessInstanceMigration],
            Self::Modify(_) => &[ValueType::ProcessInstanceModification],
            Self::DeleteHistory(_) | Self::DeleteWithResource(_) => &[ValueType::HistoryDeletion],
        }
    }
}
