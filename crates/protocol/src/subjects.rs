//! Subjects of commands: value types of the records that name an actor.

use crate::{BatchAction, Command, IdentityCommand, ValueType};

impl Command {
    /// Subjects of the records of exactly this command; records of its consequences tell nothing of who
    /// asked. Nothing for commands that are not kept in the audit log.
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
            // The server asks for that by itself; and views have no records.
            Self::Identity(IdentityCommand::SetUp | IdentityCommand::SavedView(_)) => &[],
            Self::Identity(_) => &[V::User, V::Group, V::Role, V::Tenant, V::MappingRule, V::Authorization],
            _ => &[],
        }
    }
}

impl BatchAction {
    /// The same of what is done to one item.
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
