//! The broker as gateways see it.

use std::time::Duration;

use broker_api::{
    Activation, Answer, Broker, BrokerInfo, ExpressionResult, JobRequest, JobStream, Leadership,
    PartitionInfo, Positions, Recorded, Requester, SubmitError, Topology,
};
use export::Hastened;
use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use partition::Partition;
use protocol::{
    ClusterChange, Command, CreateInstance, Document, Name, PartitionId, Query, QueryReply, Rejection,
};

use super::{CLUSTER_VARIABLES, Node};
use crate::distribution::concerns_definitions;
use crate::jobs_in_turn::activate_in_turn;
use crate::merging::merge;
use crate::routing::{Destination, target, target_of_query};
use crate::shared_exports::look_for;
use crate::store_answers;

impl Node {
    /// Has one partition do something that any may do: the one whose turn it is, or one other if that cannot. A broken
    /// partition must not fail what others would do; and what is too much for two is too much for all.
    async fn offer<'a, C: Clone, T>(
        &'a self,
        command: C,
        ask: impl Fn(&'a Partition, C) -> BoxFuture<'a, Result<T, SubmitError>>,
    ) -> Result<T, SubmitError> {
        let all = self.all();
        let turn = self.turns.next(all.len());
        let in_turn = || all.iter().cycle().skip(turn).take(all.len());
        let is_led = |partition: &&std::sync::Arc<Partition>| partition.check_leader().is_ok();
        let first = in_turn().find(is_led).unwrap_or(&all[turn]);
        let refused = match self.ask_informed(first, || ask(first, command.clone())).await {
            // Nothing has happened.
            Err(error @ (SubmitError::ResourceExhausted(_) | SubmitError::Unavailable(_))) => error,
            answer => return answer,
        };
        let other = in_turn().find(|other| other.number() != first.number() && is_led(other));
        match other {
            Some(other) => self.ask_informed(other, || ask(other, command.clone())).await,
            None => Err(refused),
        }
    }

    async fn create_somewhere<'a>(
        &'a self,
        requester: Option<Requester>,
        create: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> Result<Answer, SubmitError> {
        let began = std::time::Instant::now();
        let asked = requester.clone().unwrap_or_default().asks(Command::CreateInstance(create));
        let place = target(&asked, self.all().len() as PartitionId);
        let Command::CreateInstance(create) = asked.into_asked() else { unreachable!("it was made of one") };
        let ask = move |partition: &'a Partition, create: CreateInstance| {
            let left = timeout.saturating_sub(began.elapsed());
            partition.create_with_result(requester.clone(), create, fetch_variables.clone(), left).boxed()
        };
        if let Destination::One(number) = place {
            let partition = self.at(number);
            return self.ask_informed(partition, || ask(partition, create.clone())).await;
        }
        self.offer(create, ask).await
    }

    async fn read_of_all(&self, query: Query) -> Result<QueryReply, SubmitError> {
        let all = self.all().iter().map(|partition| partition.read(query.clone()));
        let replies = futures::future::try_join_all(all).await?;
        Ok(merge(&query, replies))
    }

    fn partition_info(&self, partition: &Partition) -> PartitionInfo {
        PartitionInfo {
            partition_id: partition.number(),
            leader: partition.group().is_leader(),
            healthy: self.health_of(partition).partition.is_ok(),
        }
    }

    /// See [`Broker::hasten_exports`]; of one partition.
    fn hasten(&self, partition: &Partition, exporter: &str) -> Recorded {
        let hastened = partition.exports().and_then(|exports| exports.hasten(exporter));
        let store = self.options.store.as_ref();
        let Some(Hastened { position, lag, is_off, is_failing, is_elsewhere }) = hastened else {
            // Of an exporter that only others have.
            let Some(store) = store.filter(|store| store.is_fed_by(exporter)) else {
                return Recorded::default();
            };
            let position = partition.handed_on();
            store_answers::look_for(self, partition, position);
            let positions = Positions::at(partition.number(), position);
            return Recorded { positions, lag: store.lag(), is_stalled: false };
        };
        let has_copies = store.is_some_and(|store| store.is_fed_by(exporter));
        if is_elsewhere {
            look_for(self, partition, exporter, position);
        } else if has_copies {
            store_answers::look_for(self, partition, position);
        }
        // Another copy may get on.
        let is_stalled = is_off || is_failing && !has_copies;
        Recorded { positions: Positions::at(partition.number(), position), lag, is_stalled }
    }
}

impl Broker for Node {
    fn submit(&self, command: Command) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        if let [only] = self.all() {
            return only.submit(command).boxed();
        }
        if matches!(command.asked(), Command::Purge { .. }) {
            let reason =
                "Expected to purge the cluster, but those of several partitions cannot be purged yet";
            return std::future::ready(Err(Rejection::invalid_state(reason).into())).boxed();
        }
        match target(&command, self.all().len() as PartitionId) {
            Destination::One(number) => {
                let partition = self.at(number);
                async move {
                    if !concerns_definitions(&command) {
                        return partition.submit(command).await;
                    }
                    self.ask_informed(partition, || partition.submit(command.clone()).boxed()).await
                }
                .boxed()
            }
            Destination::Any => {
                self.offer(command, |partition, command| partition.submit(command).boxed()).boxed()
            }
            Destination::All => unreachable!("a command goes to one partition"),
        }
    }

    fn create_with_result(
        &self,
        requester: Option<Requester>,
        command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        if let [only] = self.all() {
            return only.create_with_result(requester, command, fetch_variables, timeout).boxed();
        }
        self.create_somewhere(requester, command, fetch_variables, timeout).boxed()
    }

    fn activate_jobs(
        &self,
        request: JobRequest,
        wait: Option<Duration>,
    ) -> BoxFuture<'_, Result<Activation, SubmitError>> {
        if let [only] = self.all() {
            return only.activate_jobs(request, wait).boxed();
        }
        activate_in_turn(self.all(), self.turns.next(self.all().len()), request, wait).boxed()
    }

    fn stream_jobs(&self, request: JobRequest) -> Result<JobStream, SubmitError> {
        partition::stream_jobs(self.all(), request)
    }

    fn read(&self, query: Query) -> BoxFuture<'_, Result<QueryReply, SubmitError>> {
        if let [only] = self.all() {
            return only.read(query).boxed();
        }
        match target_of_query(&query, self.all().len() as PartitionId) {
            Destination::One(number) => self.at(number).read(query).boxed(),
            Destination::Any => self.first().read(query).boxed(),
            Destination::All => self.read_of_all(query).boxed(),
        }
    }

    fn grants_version(&self) -> u64 {
        self.first().grants_version()
    }

    fn hasten_exports(&self, exporter: &str) -> Recorded {
        let mut all = self.all().iter().map(|partition| self.hasten(partition, exporter));
        let first = all.next().expect("there is one partition at least");
        all.fold(first, |mut whole, one| {
            one.positions.iter().for_each(|(partition, position)| whole.positions.reach(partition, position));
            whole.lag = whole.lag.max(one.lag);
            whole.is_stalled |= one.is_stalled;
            whole
        })
    }

    fn catch_up(&self) -> BoxFuture<'_, Result<(), SubmitError>> {
        if let [only] = self.all() {
            return only.catch_up().boxed();
        }
        let all = self.all().iter().map(|partition| partition.catch_up());
        futures::future::try_join_all(all).map_ok(drop).boxed()
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
            partitions: self.all().iter().map(|partition| self.partition_info(partition)).collect(),
        };
        let links = self.cluster.as_ref().map(|cluster| &cluster.links);
        let brokers = match &self.cluster {
            Some(cluster) => {
                let roles = self.all().iter();
                let roles = roles.map(|partition| (partition.number(), *partition.group().role().borrow()));
                cluster.brokers_with(own, &roles.collect())
            }
            None => vec![own],
        };
        let cluster_size = links.map_or(1, |links| links.cluster_size());
        Topology {
            cluster_id: self.options.cluster_id.clone(),
            brokers,
            cluster_size,
            partitions_count: self.all().len() as u32,
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
