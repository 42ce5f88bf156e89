//! Responses: what a command answers once it is applied.

#![expect(missing_docs, reason = "names say what is held")]

use crate::{JobKind, JobListenerEventType};
use std::sync::Arc;

use crate::{
    BatchOperationCreated, DecisionEvaluationRecord, Document, GlobalListener, Key, Name, UserTaskProperties,
    UserView,
};

/// The answer to an accepted command.
#[derive(Debug, Clone, PartialEq)]
pub enum Response {
    /// Done; there is nothing more to tell.
    Done,
    /// Begun; the response comes later, under the number of the request.
    Pending,
    /// A listener of all user tasks was created or changed.
    GlobalListener(GlobalListener),
    /// A user was created or changed.
    User(UserView),
    /// An authorization was created.
    AuthorizationCreated { authorization_key: Key },
    /// A variable of the cluster or of a tenant was created, changed or deleted.
    ClusterVariable(crate::ClusterVariableView),
    /// Answer to a deployment.
    Deployed(DeploymentCreated),
    /// Answer to a creation that waits for nothing.
    InstanceCreated(InstanceCreated),
    /// Answer to a creation that waits for the result.
    InstanceCompleted {
        instance: InstanceCreated,
        /// Its variables at the end.
        variables: Document,
    },
    /// A message was published.
    MessagePublished { message_key: Key, tenant_id: Name },
    /// A message was correlated.
    MessageCorrelated {
        message_key: Key,
        /// The instance it went to.
        process_instance_key: Key,
        tenant_id: Name,
    },
    /// A decision was evaluated, or failed.
    DecisionEvaluated { evaluation_key: Key, evaluation: Box<DecisionEvaluationRecord> },
    /// A batch operation was created.
    BatchOperationCreated(BatchOperationCreated),
    /// A signal was broadcast.
    SignalBroadcast { signal_key: Key, tenant_id: Name },
    /// Conditional start events were evaluated.
    ConditionalsEvaluated {
        /// Key of the evaluation.
        key: Key,
        tenant_id: Name,
        /// Definition and key of each new instance.
        instances: Vec<(Key, Key)>,
    },
    VariablesSet {
        /// Key of the change.
        key: Key,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeploymentCreated {
    pub deployment_key: Key,
    /// Owner of the definitions.
    pub tenant_id: Name,
    /// The processes of the deployment, new or already known.
    pub processes: Vec<DeployedProcess>,
    pub decisions: Vec<DeployedDecision>,
    /// The decision requirements graphs.
    pub decision_requirements: Vec<DeployedRequirements>,
    pub forms: Vec<DeployedFile>,
    pub resources: Vec<DeployedFile>,
}

/// One decision of a deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployedDecision {
    /// ID of the decision.
    pub id: Name,
    /// Name of the decision.
    pub name: Name,
    pub version: u32,
    /// Key of the decision.
    pub key: Key,
    /// ID of the graph it is part of.
    pub requirements_id: Name,
    /// Key of the graph.
    pub requirements_key: Key,
    pub tenant_id: Name,
}

/// One decision requirements graph of a deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployedRequirements {
    /// ID of the graph.
    pub id: Name,
    /// Name of the graph.
    pub name: Name,
    pub version: u32,
    /// Key of the graph.
    pub key: Key,
    pub resource_name: Name,
    pub tenant_id: Name,
}

/// One form or other resource of a deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployedFile {
    /// ID of the form or resource.
    pub id: Name,
    pub version: u32,
    /// Key of the form or resource.
    pub key: Key,
    pub resource_name: Name,
    pub tenant_id: Name,
}

/// One process of a deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployedProcess {
    pub process_id: Name,
    pub version: u32,
    pub process_definition_key: Key,
    pub resource_name: Name,
    pub tenant_id: Name,
}

/// A new process instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceCreated {
    pub process_definition_key: Key,
    pub process_id: Name,
    /// Version of the definition.
    pub version: u32,
    pub process_instance_key: Key,
    pub tenant_id: Name,
    pub tags: Vec<Name>,
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
}
