//! The broker behind the gateways. The only place that knows which one it is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use broker::api::{Answer, Broker, ExpressionResult, JobRequest, JobStream, SubmitError, Topology};
use futures::future::{BoxFuture, FutureExt, ready};
use gateway::management::{
    Component, ComponentState, ExporterStatus, OperationError, Operations, PartitionStatus,
};
use protocol::{ActivatedJob, Command, CreateInstance, Document, Name};

use crate::config::Config;
use crate::failure::Failure;

/// A running broker.
pub(super) struct Node(Arc<Absent>);

// A broker that is there takes time to start and to stop.
#[allow(clippy::unused_async)]
impl Node {
    /// Starts it; `grpc_address` is what clients find in the topology.
    pub(super) async fn start(config: &Config, _grpc_address: &str) -> Result<Self, Failure> {
        Ok(Self(Arc::new(Absent { max_message_bytes: config.limits.max_message_bytes.0 as usize })))
    }

    /// What the gateways talk to.
    pub(super) fn broker(&self) -> Arc<dyn Broker> {
        self.0.clone()
    }

    /// What the management port talks to.
    pub(super) fn operations(&self) -> Arc<dyn Operations> {
        self.0.clone()
    }

    /// Stops it: what was acknowledged is on disk when this returns.
    pub(super) async fn stop(self) {}
}

/// Stands where the broker will: refuses everything.
struct Absent {
    max_message_bytes: usize,
}

fn absent<T: Send + 'static>() -> BoxFuture<'static, Result<T, SubmitError>> {
    ready(Err(SubmitError::Unavailable("There is no partition here".to_owned()))).boxed()
}

impl Broker for Absent {
    fn submit(&self, _: Command) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        absent()
    }

    fn create_with_result(
        &self,
        _: CreateInstance,
        _: Vec<Name>,
        _: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        absent()
    }

    fn activate_jobs(
        &self,
        _: JobRequest,
        _: Option<Duration>,
    ) -> BoxFuture<'_, Result<Vec<ActivatedJob>, SubmitError>> {
        absent()
    }

    fn stream_jobs(&self, _: JobRequest) -> Result<JobStream, SubmitError> {
        Err(SubmitError::Unavailable("There is no partition here".to_owned()))
    }

    fn evaluate_expression(
        &self,
        _: String,
        _: Document,
    ) -> BoxFuture<'_, Result<ExpressionResult, SubmitError>> {
        absent()
    }

    fn topology(&self) -> Topology {
        Topology {
            cluster_id: String::new(),
            brokers: vec![],
            cluster_size: 1,
            partitions_count: 1,
            replication_factor: 1,
        }
    }

    fn max_message_bytes(&self) -> usize {
        self.max_message_bytes
    }
}

impl Operations for Absent {
    fn health(&self) -> Vec<Component> {
        let name = "partition-1".to_owned();
        vec![Component { name, state: ComponentState::Unhealthy, detail: "not there".to_owned() }]
    }

    fn flow_control(&self) -> serde_json::Value {
        serde_json::json!({})
    }

    fn set_flow_control(&self, _: serde_json::Value) -> Result<serde_json::Value, OperationError> {
        Err(OperationError::Failed("There is no partition here".to_owned()))
    }

    fn partitions(&self) -> BTreeMap<u16, PartitionStatus> {
        BTreeMap::new()
    }

    fn exporters(&self) -> Vec<ExporterStatus> {
        vec![]
    }

    fn pause_exporting(&self, _: bool) -> BoxFuture<'_, Result<(), OperationError>> {
        ready(Err(OperationError::Failed("There is no partition here".to_owned()))).boxed()
    }

    fn resume_exporting(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        self.pause_exporting(false)
    }
}
