//! The broker as gateways see it.

use std::time::Duration;

use broker_api::{
    Activation, Answer, Broker, BrokerInfo, ExpressionResult, JobRequest, JobStream, Leadership,
    PartitionInfo, Positions, Recorded, Requester, SubmitError, Topology,
};
use export::Hastened;
use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::{ClusterChange, Command, CreateInstance, Document, Name, Query, QueryReply};

use super::{CLUSTER_VARIABLES, Node};
use crate::shared_exports::look_for;
use crate::store_answers;

impl Broker for Node {
    fn submit(&self, command: Command) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        self.first().submit(command).boxed()
    }

    fn create_with_result(
        &self,
        requester: Option<Requester>,
        command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        self.first().create_with_result(requester, command, fetch_variables, timeout).boxed()
    }

    fn activate_jobs(
        &self,
        request: JobRequest,
        wait: Option<Duration>,
    ) -> BoxFuture<'_, Result<Activation, SubmitError>> {
        self.first().activate_jobs(request, wait).boxed()
    }

    fn stream_jobs(&self, request: JobRequest) -> Result<JobStream, SubmitError> {
        partition::stream_jobs(std::slice::from_ref(self.first()), request)
    }

    fn read(&self, query: Query) -> BoxFuture<'_, Result<QueryReply, SubmitError>> {
        self.first().read(query).boxed()
    }

    fn grants_version(&self) -> u64 {
        self.first().grants_version()
    }

    fn hasten_exports(&self, exporter: &str) -> Recorded {
        let hastened = self.exports().and_then(|exports| exports.hasten(exporter));
        let store = self.options.store.as_ref();
        let Some(Hastened { position, lag, is_off, is_failing, is_elsewhere }) = hastened else {
            // Of an exporter that only others have.
            let Some(store) = store.filter(|store| store.is_fed_by(exporter)) else {
                return Recorded::default();
            };
            let position = self.first().handed_on();
            store_answers::look_for(self, position);
            let positions = Positions::at(self.first().number(), position);
            return Recorded { positions, lag: store.lag(), is_stalled: false };
        };
        let has_copies = store.is_some_and(|store| store.is_fed_by(exporter));
        if is_elsewhere {
            look_for(self, exporter, position);
        } else if has_copies {
            store_answers::look_for(self, position);
        }
        // Another copy may get on.
        let is_stalled = is_off || is_failing && !has_copies;
        Recorded { positions: Positions::at(self.first().number(), position), lag, is_stalled }
    }

    fn catch_up(&self) -> BoxFuture<'_, Result<(), SubmitError>> {
        self.first().catch_up().boxed()
    }

    fn evaluate_expression(
        &self,
        expression: String,
        mut variables: Document,
        tenant_id: Name,
    ) -> BoxFuture<'_, Result<ExpressionResult, SubmitError>> {
        async move {
            // The context that expressions inside of instances have under this name, too.
            if expression.contains(CLUSTER_VARIABLES) && variables.get(CLUSTER_VARIABLES).is_none() {
                let reply = self.first().read(Query::ClusterContext { tenant_id }).await?;
                if let QueryReply::ClusterContext(context) = reply {
                    variables.set(CLUSTER_VARIABLES.into(), context);
                }
            }
            let timeout = self.options.expression_timeout;
            self.evaluations.evaluate(expression, variables, self.clock_ms(), timeout).await
        }
        .boxed()
    }

    fn leadership(&self) -> Leadership {
        match &self.cluster {
            None => Leadership::Alone,
            Some(_) if self.first().has_begun_to_lead() => Leadership::Leads,
            Some(_) => Leadership::Follows,
        }
    }

    fn topology(&self) -> Topology {
        let own = BrokerInfo {
            node_id: self.number(),
            host: self.options.advertised_host.clone(),
            port: self.options.advertised_port,
            partitions: vec![PartitionInfo {
                partition_id: self.first().number(),
                leader: self.first().group().is_leader(),
                healthy: self.health().partition.is_ok(),
            }],
        };
        let links = self.cluster.as_ref().map(|cluster| &cluster.links);
        let brokers = match &self.cluster {
            Some(cluster) => cluster.brokers_with(own, *self.first().group().role().borrow()),
            None => vec![own],
        };
        let cluster_size = links.map_or(1, |links| links.cluster_size());
        Topology {
            cluster_id: self.options.cluster_id.clone(),
            brokers,
            cluster_size,
            partitions_count: self.partitions.len() as u32,
            replication_factor: links.map_or(1, |_| self.voters().len() as u32),
        }
    }

    fn is_ready(&self) -> bool {
        self.health().reason().is_none()
    }

    fn cluster_change(&self) -> Option<ClusterChange> {
        self.first().cluster_change()
    }

    fn max_message_bytes(&self) -> usize {
        self.options.partition.max_message_bytes
    }
}
