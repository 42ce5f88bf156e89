//! Answers as REST writes them, scanned with as little copying as the reader allows. Unknown fields are ignored.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;

use crate::{
    Broker, CorrelatedMessage, Deployed, Deployment, EvaluatedExpression, Job, Partition, ProcessInstance,
    ProcessInstanceResult, PublishedMessage, Topology,
};

/// A key: a decimal string in REST.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Key(pub(super) i64);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Key;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a key as a decimal string")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Key, E> {
                text.parse().map(Key).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireInstance<'a> {
    process_instance_key: Key,
    process_definition_key: Key,
    #[serde(borrow)]
    process_definition_id: Cow<'a, str>,
    process_definition_version: i32,
    #[serde(borrow)]
    tenant_id: Cow<'a, str>,
    #[serde(borrow)]
    variables: Option<&'a RawValue>,
}

impl From<WireInstance<'_>> for ProcessInstance {
    fn from(wire: WireInstance<'_>) -> Self {
        Self {
            key: wire.process_instance_key.0,
            process_definition_id: wire.process_definition_id.into_owned(),
            process_definition_key: wire.process_definition_key.0,
            version: wire.process_definition_version,
            tenant_id: wire.tenant_id.into_owned(),
        }
    }
}

impl From<WireInstance<'_>> for ProcessInstanceResult {
    fn from(wire: WireInstance<'_>) -> Self {
        let variables = wire.variables.map_or_else(|| "{}".to_owned(), |raw| raw.get().to_owned());
        Self { instance: wire.into(), variables }
    }
}

/// Only the key, for who starts thousands per second.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireInstanceKey {
    pub(super) process_instance_key: Key,
}

#[derive(Deserialize)]
pub(super) struct WireJobs<'a> {
    #[serde(borrow)]
    pub(super) jobs: Vec<WireJob<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireJob<'a> {
    job_key: Key,
    #[serde(borrow, rename = "type")]
    job_type: Cow<'a, str>,
    process_instance_key: Key,
    #[serde(borrow)]
    process_definition_id: Cow<'a, str>,
    process_definition_version: i32,
    process_definition_key: Key,
    #[serde(borrow)]
    element_id: Cow<'a, str>,
    element_instance_key: Key,
    #[serde(borrow)]
    custom_headers: &'a RawValue,
    #[serde(borrow)]
    worker: Cow<'a, str>,
    retries: i32,
    deadline: i64,
    #[serde(borrow)]
    variables: &'a RawValue,
    #[serde(borrow)]
    tenant_id: Cow<'a, str>,
}

impl From<WireJob<'_>> for Job {
    fn from(wire: WireJob<'_>) -> Self {
        Self {
            key: wire.job_key.0,
            job_type: wire.job_type.into_owned(),
            process_instance_key: wire.process_instance_key.0,
            process_definition_id: wire.process_definition_id.into_owned(),
            process_definition_version: wire.process_definition_version,
            process_definition_key: wire.process_definition_key.0,
            element_id: wire.element_id.into_owned(),
            element_instance_key: wire.element_instance_key.0,
            custom_headers: wire.custom_headers.get().to_owned(),
            worker: wire.worker.into_owned(),
            retries: wire.retries,
            deadline_ms: wire.deadline,
            variables: wire.variables.get().to_owned(),
            tenant_id: wire.tenant_id.into_owned(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireMessage<'a> {
    message_key: Key,
    #[serde(default)]
    process_instance_key: Key,
    #[serde(borrow)]
    tenant_id: Cow<'a, str>,
}

impl From<WireMessage<'_>> for PublishedMessage {
    fn from(wire: WireMessage<'_>) -> Self {
        Self { key: wire.message_key.0, tenant_id: wire.tenant_id.into_owned() }
    }
}

impl From<WireMessage<'_>> for CorrelatedMessage {
    fn from(wire: WireMessage<'_>) -> Self {
        Self {
            key: wire.message_key.0,
            process_instance_key: wire.process_instance_key.0,
            tenant_id: wire.tenant_id.into_owned(),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct WireExpression<'a> {
    #[serde(borrow)]
    result: &'a RawValue,
    #[serde(default)]
    warnings: Vec<WireWarning>,
}

#[derive(Deserialize)]
struct WireWarning {
    message: String,
}

impl From<WireExpression<'_>> for EvaluatedExpression {
    fn from(wire: WireExpression<'_>) -> Self {
        Self {
            result: wire.result.get().to_owned(),
            warnings: wire.warnings.into_iter().map(|warning| warning.message).collect(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireTopology {
    brokers: Vec<WireBroker>,
    cluster_size: i32,
    partitions_count: i32,
    replication_factor: i32,
    gateway_version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireBroker {
    node_id: i32,
    host: String,
    port: i32,
    version: String,
    partitions: Vec<WirePartition>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WirePartition {
    partition_id: i32,
    role: String,
    health: String,
}

impl From<WireTopology> for Topology {
    fn from(wire: WireTopology) -> Self {
        let partition = |wire: WirePartition| Partition {
            partition_id: wire.partition_id,
            role: wire.role,
            health: wire.health,
        };
        let broker = |wire: WireBroker| Broker {
            node_id: wire.node_id,
            host: wire.host,
            port: wire.port,
            version: wire.version,
            partitions: wire.partitions.into_iter().map(partition).collect(),
        };
        Self {
            brokers: wire.brokers.into_iter().map(broker).collect(),
            cluster_size: wire.cluster_size,
            partitions_count: wire.partitions_count,
            replication_factor: wire.replication_factor,
            gateway_version: wire.gateway_version,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireDeployment {
    deployment_key: Key,
    tenant_id: String,
    deployments: Vec<WireDeployed>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDeployed {
    process_definition: Option<WireProcess>,
    decision_definition: Option<WireDecision>,
    decision_requirements: Option<WireRequirements>,
    form: Option<WireForm>,
    resource: Option<WireResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireProcess {
    process_definition_id: String,
    process_definition_version: i32,
    process_definition_key: Key,
    resource_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDecision {
    decision_definition_id: String,
    version: i32,
    decision_definition_key: Key,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireRequirements {
    decision_requirements_id: String,
    version: i32,
    decision_requirements_key: Key,
    resource_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireForm {
    form_id: String,
    version: i32,
    form_key: Key,
    resource_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireResource {
    resource_id: String,
    version: i32,
    resource_key: Key,
    resource_name: String,
}

impl WireDeployed {
    fn parts(self) -> impl Iterator<Item = Deployed> {
        let part = |kind, id, version, key: Key, resource_name| Deployed {
            kind,
            id,
            version,
            key: key.0,
            resource_name,
        };
        let process = self.process_definition.map(|wire| {
            let (version, key) = (wire.process_definition_version, wire.process_definition_key);
            part("process", wire.process_definition_id, version, key, wire.resource_name)
        });
        let decision = self.decision_definition.map(|wire| {
            part(
                "decision",
                wire.decision_definition_id,
                wire.version,
                wire.decision_definition_key,
                String::new(),
            )
        });
        let requirements = self.decision_requirements.map(|wire| {
            let (id, key) = (wire.decision_requirements_id, wire.decision_requirements_key);
            part("decision requirements", id, wire.version, key, wire.resource_name)
        });
        let form =
            self.form.map(|wire| part("form", wire.form_id, wire.version, wire.form_key, wire.resource_name));
        let resource = self.resource.map(|wire| {
            part("resource", wire.resource_id, wire.version, wire.resource_key, wire.resource_name)
        });
        [process, decision, requirements, form, resource].into_iter().flatten()
    }
}

impl From<WireDeployment> for Deployment {
    fn from(wire: WireDeployment) -> Self {
        Self {
            key: wire.deployment_key.0,
            tenant_id: wire.tenant_id,
            deployed: wire.deployments.into_iter().flat_map(WireDeployed::parts).collect(),
        }
    }
}
