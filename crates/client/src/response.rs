//! Answers of the server, in one shape for both protocols.

#![expect(missing_docs, reason = "names say what is held")]

use serde::Serialize;

/// The cluster as its gateway sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Topology {
    pub brokers: Vec<Broker>,
    /// Number of brokers that belong to the cluster.
    pub cluster_size: i32,
    pub partitions_count: i32,
    /// Replicas of each partition.
    pub replication_factor: i32,
    pub gateway_version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Broker {
    /// Number of the broker.
    pub node_id: i32,
    /// Host it can be reached at.
    pub host: String,
    /// Port it can be reached at.
    pub port: i32,
    /// Version of the broker.
    pub version: String,
    pub partitions: Vec<Partition>,
}

/// One replica of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Partition {
    /// Partition number, from 1.
    pub partition_id: i32,
    /// `leader`, `follower` or `inactive`.
    pub role: String,
    /// `healthy`, `unhealthy` or `dead`.
    pub health: String,
}

/// A deployment that took place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deployment {
    /// Its key; gRPC and REST name the same.
    pub key: i64,
    pub tenant_id: String,
    /// Definitions in the files.
    pub deployed: Vec<Deployed>,
}

/// One thing that a deployment brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deployed {
    /// `process`, `decision`, `decision requirements`, `form` or `resource`.
    pub kind: &'static str,
    /// ID given in the file.
    pub id: String,
    /// Version, counted up per ID when the content changes.
    pub version: i32,
    /// Key of this version.
    pub key: i64,
    /// File it came from; empty for decisions.
    pub resource_name: String,
}

/// A started process instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProcessInstance {
    pub key: i64,
    pub process_definition_id: String,
    pub process_definition_key: i64,
    /// Version of the definition.
    pub version: i32,
    pub tenant_id: String,
}

/// A process instance that ran to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProcessInstanceResult {
    pub instance: ProcessInstance,
    /// Its variables at the end, JSON text.
    pub variables: String,
}

/// A message that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishedMessage {
    pub key: i64,
    pub tenant_id: String,
}

/// A message that found its instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CorrelatedMessage {
    pub key: i64,
    /// The instance it reached.
    pub process_instance_key: i64,
    pub tenant_id: String,
}

/// Value of an expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvaluatedExpression {
    pub result: String,
    /// Warnings of the evaluation.
    pub warnings: Vec<String>,
}

/// The rows of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The answer as JSON text.
    pub json: String,
    /// Age of the oldest record that the answer should show and does not; none if it shows everything.
    pub lag: Option<std::time::Duration>,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Whether it takes requests.
    pub is_up: bool,
    /// Its parts, by their names.
    pub parts: Vec<HealthPart>,
}

/// How a part of a server is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthPart {
    /// Its name, such as `disk`.
    pub name: String,
    pub is_up: bool,
    /// Why it does not.
    pub reason: Option<String>,
}

/// A process instance that the engine failed on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BannedInstance {
    pub process_instance_key: String,
    /// Key of the instance at the top of its call hierarchy.
    pub root_process_instance_key: String,
    pub process_definition_id: String,
    pub process_definition_version: u32,
    pub tenant_id: String,
    /// How the engine failed.
    pub reason: String,
    pub banned_at_ms: i64,
}
