//! Responses: what a command answers once it is applied.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::{JobKind, JobListenerEventType};
use std::sync::Arc;

use crate::{
    BatchOperationCreated, CreatedHistoryItem, DecisionEvaluationRecord, Document, GlobalListener, Key, Name,
    SavedView, UserTaskProperties, UserView,
};

/// The answer to an accepted command.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum Response {
    /// Done; there is nothing more to tell.
    #[n(0)]
    Done,
    /// Begun; the response comes later, under the number of the request.
    #[n(1)]
    Pending,
    /// A listener of all user tasks was created or changed.
    #[n(2)]
    GlobalListener(#[n(0)] GlobalListener),
    /// A user was created or changed.
    #[n(3)]
    User(#[n(0)] UserView),
    /// An authorization was created.
    #[n(4)]
    AuthorizationCreated {
        #[n(0)]
        authorization_key: Key,
    },
    /// A variable of the cluster or of a tenant was created, changed or deleted.
    #[n(5)]
    ClusterVariable(#[n(0)] crate::ClusterVariableView),
    /// Answer to a deployment.
    #[n(6)]
    Deployed(#[n(0)] DeploymentCreated),
    /// Answer to a creation that waits for nothing.
    #[n(7)]
    InstanceCreated(#[n(0)] InstanceCreated),
    /// Answer to a creation that waits for the result.
    #[n(8)]
    InstanceCompleted {
        #[n(0)]
        instance: InstanceCreated,
        /// Its variables at the end.
        #[n(1)]
        variables: Document,
    },
    /// A change of the cluster was begun.
    #[n(18)]
    ChangeBegun {
        #[n(0)]
        change_id: u64,
    },
    /// A message was published.
    #[n(9)]
    MessagePublished {
        #[n(0)]
        message_key: Key,
        #[n(1)]
        tenant_id: Name,
    },
    /// A message was correlated.
    #[n(10)]
    MessageCorrelated {
        #[n(0)]
        message_key: Key,
        /// The instance it went to.
        #[n(1)]
        process_instance_key: Key,
        #[n(2)]
        tenant_id: Name,
    },
    /// A decision was evaluated, or failed.
    #[n(11)]
    DecisionEvaluated {
        #[n(0)]
        evaluation_key: Key,
        #[n(1)]
        evaluation: Box<DecisionEvaluationRecord>,
    },
    /// A batch operation was created.
    #[n(12)]
    BatchOperationCreated(#[n(0)] BatchOperationCreated),
    /// A signal was broadcast.
    #[n(13)]
    SignalBroadcast {
        #[n(0)]
        signal_key: Key,
        #[n(1)]
        tenant_id: Name,
    },
    /// Conditional start events were evaluated.
    #[n(14)]
    ConditionalsEvaluated {
        /// Key of the evaluation.
        #[n(0)]
        key: Key,
        #[n(1)]
        tenant_id: Name,
        /// Definition and key of each new instance.
        #[n(2)]
        instances: Vec<(Key, Key)>,
    },
    /// An agent instance was created or changed.
    #[n(16)]
    AgentInstance {
        #[n(0)]
        agent_instance_key: Key,
        /// The items of its history that were sent, in their order.
        #[n(1)]
        history: Vec<CreatedHistoryItem>,
    },
    #[n(15)]
    VariablesSet {
        /// Key of the change.
        #[n(0)]
        key: Key,
    },
    /// A view was created or changed.
    #[n(17)]
    SavedView(#[n(0)] SavedView),
    /// Messages of another partition were received.
    #[n(19)]
    MessagesReceived {
        /// Number of the last one that has had its effect.
        #[n(0)]
        up_to: u64,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct DeploymentCreated {
    #[n(0)]
    pub deployment_key: Key,
    /// Owner of the definitions.
    #[n(1)]
    pub tenant_id: Name,
    /// The processes of the deployment, new or already known.
    #[n(2)]
    pub processes: Vec<DeployedProcess>,
    #[n(3)]
    pub decisions: Vec<DeployedDecision>,
    /// The decision requirements graphs.
    #[n(4)]
    pub decision_requirements: Vec<DeployedRequirements>,
    #[n(5)]
    pub forms: Vec<DeployedFile>,
    #[n(6)]
    pub resources: Vec<DeployedFile>,
}

/// One decision of a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct DeployedDecision {
    /// ID of the decision.
    #[n(0)]
    pub id: Name,
    /// Name of the decision.
    #[n(1)]
    pub name: Name,
    #[n(2)]
    pub version: u32,
    /// Key of the decision.
    #[n(3)]
    pub key: Key,
    /// ID of the graph it is part of.
    #[n(4)]
    pub requirements_id: Name,
    /// Key of the graph.
    #[n(5)]
    pub requirements_key: Key,
    #[n(6)]
    pub tenant_id: Name,
}

/// One decision requirements graph of a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct DeployedRequirements {
    /// ID of the graph.
    #[n(0)]
    pub id: Name,
    /// Name of the graph.
    #[n(1)]
    pub name: Name,
    #[n(2)]
    pub version: u32,
    /// Key of the graph.
    #[n(3)]
    pub key: Key,
    #[n(4)]
    pub resource_name: Name,
    #[n(5)]
    pub tenant_id: Name,
}

/// One form or other resource of a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct DeployedFile {
    /// ID of the form or resource.
    #[n(0)]
    pub id: Name,
    #[n(1)]
    pub version: u32,
    /// Key of the form or resource.
    #[n(2)]
    pub key: Key,
    #[n(3)]
    pub resource_name: Name,
    #[n(4)]
    pub tenant_id: Name,
}

/// One process of a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct DeployedProcess {
    #[n(0)]
    pub process_id: Name,
    #[n(1)]
    pub version: u32,
    #[n(2)]
    pub process_definition_key: Key,
    #[n(3)]
    pub resource_name: Name,
    #[n(4)]
    pub tenant_id: Name,
}

/// A new process instance.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct InstanceCreated {
    #[n(0)]
    pub process_definition_key: Key,
    #[n(1)]
    pub process_id: Name,
    /// Version of the definition.
    #[n(2)]
    pub version: u32,
    #[n(3)]
    pub process_instance_key: Key,
    #[n(4)]
    pub tenant_id: Name,
    #[n(5)]
    pub tags: Vec<Name>,
    #[n(6)]
    pub business_id: Option<Name>,
}

/// A job in the hands of a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivatedJob {
    /// Key of the job.
    pub key: Key,
    pub job_type: Name,
    pub process_instance_key: Key,
    /// The instance at the top of the call hierarchy.
    pub root_process_instance_key: Key,
    pub process_id: Name,
    pub process_definition_version: u32,
    pub process_definition_key: Key,
    pub element_id: Name,
    pub element_instance_key: Key,
    /// Task headers as a JSON object.
    pub custom_headers_json: Arc<str>,
    pub worker: Name,
    pub retries: i32,
    /// When the worker loses it, Unix milliseconds.
    pub deadline_ms: i64,
    pub variables: Document,
    pub tenant_id: Name,
    pub kind: JobKind,
    pub listener_event_type: JobListenerEventType,
    /// Tags of the process instance.
    pub tags: Vec<Name>,
    /// The user task, if it is the job of a task listener.
    pub user_task: Option<Box<UserTaskProperties>>,
    /// Business ID of the process instance.
    pub business_id: Option<Name>,
    pub priority: i32,
    /// Token of this activation, if the worker asked for one.
    pub lease: Option<Name>,
}
