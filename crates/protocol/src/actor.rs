//! Actors: the principals of the audit log.

use minicbor::{Decode, Encode};

use crate::intent::named;
use crate::{BatchAction, Caller, Command, EntityType, IdentityCommand, Name, ValueType};

named! {
    /// Kinds of actors.
    ActorType { Anonymous = 0 "ANONYMOUS", User = 1 "USER", Client = 2 "CLIENT", Unknown = 3 "UNKNOWN" }
}

/// The actor of a command.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Actor {
    /// Its kind.
    #[n(0)]
    pub actor_type: ActorType,
    /// Name of the user or ID of the client.
    #[n(1)]
    pub id: Option<Name>,
}

impl Actor {
    /// Somebody who was not asked for a name.
    pub const ANONYMOUS: Self = Self { actor_type: ActorType::Anonymous, id: None };

    /// The actor of a command, if known.
    pub fn of(caller: Option<&Caller>) -> Self {
        let Some(Caller { principal, .. }) = caller else { return Self::ANONYMOUS };
        let actor_type = match principal.entity_type {
            EntityType::User => ActorType::User,
            EntityType::Client => ActorType::Client,
            EntityType::Group | EntityType::Role | EntityType::MappingRule => ActorType::Unknown,
        };
        Self { actor_type, id: Some(principal.id.clone()) }
    }
}

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
            Self::CancelInstance { .. } => &[V::ProcessInstance],
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
            // The server asks for that by itself.
            Self::Identity(IdentityCommand::SetUp) => &[],
            Self::Identity(_) => &[V::User, V::Group, V::Role, V::Tenant, V::MappingRule, V::Authorization],
            _ => &[],
        }
    }
}

impl BatchAction {
    /// The same of what is done to one item.
    pub const fn subjects(&self) -> &'static [ValueType] {
        match self {
            Self::Cancel => &[ValueType::ProcessInstance],
            Self::Resolve => &[ValueType::Incident],
            Self::Migrate(_) => &[ValueType::ProcessInstanceMigration],
            Self::Modify(_) => &[ValueType::ProcessInstanceModification],
            Self::DeleteHistory(_) | Self::DeleteWithResource(_) => &[ValueType::HistoryDeletion],
        }
    }
}
