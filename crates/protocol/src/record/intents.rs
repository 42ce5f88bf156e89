//! Which intents records of each value have: one table, which the engine keeps to. Values by whose intents consumers
//! decide have an enum of their own, so that a decision names all of them and no others.

use super::RecordValue;
use crate::Intent;

macro_rules! intents {
    ($($(#[$meta:meta])* $type:ident { $($variant:ident),+ $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $type { $(#[doc = stringify!($variant)] $variant),+ }

        impl $type {
            const ALL: &[Intent] = &[$(Intent::$variant),+];

            /// The intent of a record of such a value. `None`: no engine writes it.
            pub fn of(intent: Intent) -> Option<Self> {
                match intent {
                    $(Intent::$variant => Some(Self::$variant),)+
                    other => { debug_assert!(false, "{other} is not among {:?}", Self::ALL); None }
                }
            }
        }
    )*};
}

intents! {
    /// Intents of process instances, their elements and their sequence flows.
    ProcessInstanceIntent {
        ElementActivating, ElementActivated, ElementCompleting, ElementCompleted, ElementTerminating,
        ElementTerminated, SequenceFlowTaken, ElementMigrated, AncestorMigrated, Suspended, Resumed, BusinessIdAssigned,
    }
    /// Intents of jobs.
    JobIntent {
        Created, Activated, Completed, Failed, ErrorThrown, TimedOut, Canceled, Yielded, RecurredAfterBackoff,
        RetriesUpdated, TimeoutUpdated, PriorityUpdated, Updated, Migrated,
    }
    /// Intents of variables.
    VariableIntent { Created, Updated, Migrated }
    /// Intents of incidents.
    IncidentIntent { Created, Resolved, Migrated }
    /// Intents of user tasks.
    UserTaskIntent {
        Creating, Created, Assigning, Claiming, Assigned, AssignmentDenied, Updating, Updated, UpdateDenied, Completing,
        Completed, CompletionDenied, Canceling, Canceled, Corrected, Migrated,
    }
    /// Intents of message subscriptions of element instances.
    MessageSubscriptionIntent { Created, Correlated, Deleted, Migrated }
    /// Intents of message start events that wait.
    MessageStartSubscriptionIntent { Created, Correlated, Deleted }
    /// Intents of timers.
    TimerIntent { Created, Triggered, Canceled, Migrated }
    /// Intents of signal subscriptions.
    SignalSubscriptionIntent { Created, Deleted, Migrated }
    /// Intents of conditional subscriptions.
    ConditionalSubscriptionIntent { Created, Triggered, Deleted, Migrated }
    /// Intents of process definitions, which are deleted when their last instance has ended.
    ProcessIntent { Created, Deleting, Deleted }
    /// Intents of all other that comes with a deployment and is deleted at once.
    DeployedIntent { Created, Deleted }
    /// Intents of users, circles, mapping rules and authorizations; only circles have members.
    IdentityIntent { Created, Updated, Deleted, EntityAdded, EntityRemoved }
    /// Intents of a batch operation as a whole.
    BatchOperationIntent { Suspended, Resumed, Canceled, Completed, Failed }
    /// Intents of agents.
    AgentInstanceIntent { Created, Updated, Migrated, Completed }
    /// Intents of items in the history of an agent.
    AgentHistoryIntent { Created, Committed, Discarded }
}

impl RecordValue {
    /// The intents that records of such a value have.
    pub const fn intents(&self) -> &'static [Intent] {
        match self {
            Self::ProcessInstance(_) => ProcessInstanceIntent::ALL,
            Self::Job(_) => JobIntent::ALL,
            Self::Variable(_) => VariableIntent::ALL,
            Self::Incident(_) => IncidentIntent::ALL,
            Self::UserTask(_) => UserTaskIntent::ALL,
            Self::MessageSubscription(_) | Self::ProcessMessageSubscription(_) => {
                MessageSubscriptionIntent::ALL
            }
            Self::MessageStartEventSubscription(_) => MessageStartSubscriptionIntent::ALL,
            Self::Timer(_) => TimerIntent::ALL,
            Self::SignalSubscription(_) => SignalSubscriptionIntent::ALL,
            Self::ConditionalSubscription(_) => ConditionalSubscriptionIntent::ALL,
            Self::Process(_) => ProcessIntent::ALL,
            Self::Decision(_)
            | Self::DecisionRequirements(_)
            | Self::Form(_)
            | Self::Resource(_)
            | Self::AgentDefinition(_) => DeployedIntent::ALL,
            Self::User(_)
            | Self::Group(_)
            | Self::Role(_)
            | Self::Tenant(_)
            | Self::MappingRule(_)
            | Self::Authorization(_) => IdentityIntent::ALL,
            Self::BatchOperationLifecycleManagement(_) => BatchOperationIntent::ALL,
            Self::AgentInstance(_) => AgentInstanceIntent::ALL,
            Self::AgentHistory(_) => AgentHistoryIntent::ALL,
            Self::Deployment(_)
            | Self::ProcessInstanceCreation(_)
            | Self::Error(_)
            | Self::BatchOperationCreation(_)
            | Self::BatchOperationChunk(_) => &[Intent::Created],
            Self::Message(_) => &[Intent::Published, Intent::Expired],
            Self::ResourceDeletion(_) => &[Intent::Deleting, Intent::Deleted],
            Self::CompensationSubscription(_) => {
                &[Intent::Created, Intent::Triggered, Intent::Completed, Intent::Deleted, Intent::Migrated]
            }
            Self::Signal(_) => &[Intent::Broadcasted],
            Self::Escalation(_) => &[Intent::Escalated, Intent::NotEscalated],
            Self::ConditionalEvaluation(_) => &[Intent::Evaluated],
            Self::DecisionEvaluation(_) => &[Intent::Evaluated, Intent::Failed],
            Self::ProcessInstanceMigration(_) => &[Intent::Migrated],
            Self::ProcessInstanceModification(_) => &[Intent::Modified],
            Self::RuntimeInstruction(_) => &[Intent::Interrupted],
            Self::ClusterVariable(_) | Self::GlobalListener(_) => {
                &[Intent::Created, Intent::Updated, Intent::Deleted]
            }
            Self::BatchOperationExecution(_) => &[Intent::Executed],
            Self::BatchOperationInitialization(_) => &[Intent::Initializing, Intent::Initialized],
            Self::BatchOperationPartitionLifecycle(_) => &[Intent::PartitionCompleted],
            Self::HistoryDeletion(_) => &[Intent::Deleted],
            Self::ProcessInstanceBatch(_) => &[Intent::Activated, Intent::Terminated],
            Self::MultiInstance(_) => &[Intent::InputCollectionEvaluated],
            Self::AdHocSubProcessInstruction(_) => &[Intent::Activated, Intent::Completed],
            Self::VariableDocument(_) => &[Intent::Updating, Intent::Updated, Intent::UpdateDenied],
            Self::Clock(_) => &[Intent::Pinned, Intent::Resetted],
            Self::Purge(_) => &[Intent::Purged],
        }
    }
}
