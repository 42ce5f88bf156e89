//! The broker as gateways see it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use broker_api::{
    Activation, Answer, Broker, BrokerInfo, ExpressionResult, JobRequest, JobStream, Leadership,
    PartitionInfo, Positions, Recorded, Requester, SubmitError, Topology,
};
use engine::Outcome;
use export::Hastened;
use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::{
    AwaitResult, Command, CompleteJob, CorrelateMessage, CreateInstance, Document, FIRST_PARTITION, Key,
    Name, PRIORITY_VERSION, PublishMessage, Query, QueryReply, Rejection, RejectionType, Response,
};

use tokio::sync::oneshot;

use super::{CLUSTER_VARIABLES, Node};
use crate::answers::{LateAnswers, PendingRequest, Waiter, stopping};
use crate::flow_control::Class;
use crate::metric_definitions::{Admission, refused};
use crate::proposer::payload;
use crate::shared_exports::look_for;
use crate::{exporting, jobs, store_queries};

/// Time that a request waits for the version of the engine that it needs.
const VERSION_TIME: Duration = Duration::from_secs(5);
const VERSION_LOOK: Duration = Duration::from_millis(10);

impl Node {
    async fn run(&self, command: Command, class: Class) -> Result<Answer, SubmitError> {
        self.pass(command, class, false).await
    }

    /// Runs a command of the broker itself: while processing is paused, too.
    pub(crate) async fn run_own(&self, command: Command) -> Result<Answer, SubmitError> {
        self.pass(command, Class::Begun, true).await
    }

    async fn pass(&self, command: Command, class: Class, is_own: bool) -> Result<Answer, SubmitError> {
        let arrived = Instant::now();
        let metrics = &self.shared.metrics;
        if !is_own {
            metrics.received();
        }
        self.until_known(command.since_version()).await?;
        if class == Class::New {
            self.write_limit.admit(|| self.shared.written()).await.inspect_err(|_| {
                metrics.admitted(Admission::TooFast);
                refused("write limit");
            })?;
        }
        let permit = self.flow_control.admit(class).await.inspect_err(|_| {
            metrics.admitted(Admission::NoPlace);
            refused("flow control");
        })?;
        metrics.admitted(if is_own { Admission::OwnAccepted } else { Admission::Accepted });
        let (reply, answer) = oneshot::channel();
        let request = PendingRequest { command, waiter: Waiter { reply, arrived, permit }, is_own };
        self.requests.send(request).await.map_err(|_| stopping())?;
        answer.await.unwrap_or_else(|_| Err(stopping()))
    }

    /// Waits until the partition uses a version of the engine: it does soon after its first leader began, and the
    /// upgrade of the last broker.
    async fn until_known(&self, version: u16) -> Result<(), SubmitError> {
        let deadline = Instant::now() + VERSION_TIME;
        while self.shared.engine_version.load(Ordering::Acquire) < version {
            if Instant::now() > deadline {
                return Err(SubmitError::Unavailable(format!(
                    "Expected to submit a command of version {version} of the engine, but the partition uses an earlier \
                     one until all of its brokers know that version; nothing has happened"
                )));
            }
            tokio::time::sleep(VERSION_LOOK).await;
        }
        Ok(())
    }

    async fn run_with_result(
        &self,
        requester: Option<Requester>,
        mut command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> Result<Answer, SubmitError> {
        self.check(Class::New)?;
        self.check_bytes(("variables", command.variables.json_len()))?;
        let (request_id, answer) = self.shared.late.register();
        let _forget = Forget { late: &self.shared.late, request_id };
        command.unique_business_id = self.options.unique_business_ids;
        command.await_result = Some(AwaitResult { request_id, fetch_variables });
        let arrived = Instant::now();
        let wait = async {
            let command = requester.unwrap_or_default().asks(Command::CreateInstance(command));
            let accepted = self.run(command, Class::New).await?;
            if accepted.response != Response::Pending {
                return Ok(accepted);
            }
            self.late(accepted, answer).await
        };
        tokio::time::timeout(timeout, wait).await.unwrap_or_else(|_| {
            Err(SubmitError::Timeout(format!(
                "Expected the process instance to complete within {} ms, but it did not; the instance continues",
                arrived.elapsed().as_millis()
            )))
        })
    }

    /// An answer that comes later than its command is applied.
    async fn late(
        &self,
        accepted: Answer,
        answer: oneshot::Receiver<Outcome>,
    ) -> Result<Answer, SubmitError> {
        let answer = tokio::select! {
            biased;
            answer = answer => answer,
            () = self.shutdown.cancelled() => return Err(stopping()),
        };
        let response = answer.map_err(|_| stopping())?.map_err(SubmitError::Rejected)?;
        let position = self.shared.recorded.load(Ordering::Acquire);
        Ok(Answer { response, timing: accepted.timing, position })
    }

    /// Answers from state that has everything acknowledged before.
    async fn read_now(&self, query: Query) -> Result<QueryReply, SubmitError> {
        self.caught_up().await?;
        self.reads.read(query).await
    }

    async fn caught_up(&self) -> Result<(), SubmitError> {
        match &self.router {
            Some(router) => router.catch_up().await,
            None => Ok(()),
        }
    }

    /// Whether there is room for commands of a class: on the disk, and for their records.
    pub(crate) fn check(&self, class: Class) -> Result<(), SubmitError> {
        self.disk.check(class).inspect_err(|_| refused("disk"))?;
        if class == Class::New && self.shared.overlay_full.load(Ordering::Acquire) {
            refused("memory");
            return Err(SubmitError::ResourceExhausted(
                "Expected to handle the command, but state cannot be written to disk and memory takes no more of it"
                    .to_owned(),
            ));
        }
        let exports = self.shared.exports.as_ref().map_or(Ok(()), |exports| exporting::check(exports, class));
        exports.inspect_err(|_| refused("exporters"))
    }

    /// Whether the payload of a command is no larger than a message may be.
    fn check_bytes(&self, (field, bytes): (&str, usize)) -> Result<(), SubmitError> {
        let limit = self.options.max_message_bytes;
        if bytes <= limit {
            return Ok(());
        }
        Err(SubmitError::TooLarge(format!(
            "{field}: expected at most {limit} bytes, the limit of limits.max_message_bytes, but found {bytes}"
        )))
    }

    /// An answer for a job was refused.
    fn answer_refused(&self, job_key: Key, kind: RejectionType) {
        if matches!(kind, RejectionType::NotFound | RejectionType::InvalidState) {
            self.shared.demand.answer_refused(job_key, kind == RejectionType::NotFound);
        }
    }
}

/// Forgets a request that waits for a later answer, when it goes away.
struct Forget<'a> {
    late: &'a LateAnswers,
    request_id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.late.forget(self.request_id);
    }
}

/// Which limits a command is under.
pub(crate) fn class(command: &Command) -> Class {
    match command.asked() {
        Command::Deploy(_)
        | Command::CreateInstance(_)
        | Command::PublishMessage(_)
        | Command::CorrelateMessage(_)
        | Command::ClusterVariable(_)
        | Command::Identity(_)
        | Command::BroadcastSignal(_)
        | Command::EvaluateConditionals(_)
        | Command::SetVariables(_) => Class::New,
        _ => Class::Begun,
    }
}

impl Broker for Node {
    fn submit(&self, mut command: Command) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        async move {
            let class = class(&command);
            self.check(class)?;
            self.check_bytes(payload(&command))?;
            let is_unique = self.options.unique_business_ids;
            match command.asked_mut() {
                Command::CreateInstance(create) => create.unique_business_id = is_unique,
                Command::AssignBusinessId { claim, .. }
                | Command::CompleteJob(CompleteJob { business_id: Some(claim), .. })
                | Command::PublishMessage(PublishMessage { business_id: Some(claim), .. })
                | Command::CorrelateMessage(CorrelateMessage { business_id: Some(claim), .. }) => {
                    claim.is_unique = is_unique;
                }
                _ => {}
            }
            if matches!(command.asked(), Command::Clock(_)) && !self.options.controlled_clock {
                return Err(Rejection::invalid_argument(
                    "Expected to control the clock, but it is not controllable: set 'clock.controlled' to true",
                )
                .into());
            }
            let job_key = command.answered_job();
            let Some(slot) = command.request_id_mut() else {
                let answer = self.run(command, class).await;
                if let (Some(key), Err(SubmitError::Rejected(rejection))) = (job_key, &answer) {
                    self.answer_refused(key, rejection.kind);
                }
                return answer;
            };
            let (request_id, answer) = self.shared.late.register();
            let _forget = Forget { late: &self.shared.late, request_id };
            *slot = Some(request_id);
            let accepted = self.run(command, class).await?;
            if accepted.response != Response::Pending {
                return Ok(accepted);
            }
            self.late(accepted, answer).await
        }
        .boxed()
    }

    fn create_with_result(
        &self,
        requester: Option<Requester>,
        command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        self.run_with_result(requester, command, fetch_variables, timeout).boxed()
    }

    fn activate_jobs(
        &self,
        request: JobRequest,
        wait: Option<Duration>,
    ) -> BoxFuture<'_, Result<Activation, SubmitError>> {
        async move {
            if request.with_lease {
                // Before it, nobody would get a token.
                self.until_known(PRIORITY_VERSION).await?;
            }
            jobs::poll(Arc::clone(&self.shared.demand), request, wait).await
        }
        .boxed()
    }

    fn stream_jobs(&self, request: JobRequest) -> Result<JobStream, SubmitError> {
        jobs::stream(Arc::clone(&self.shared.demand), request, self.options.jobs.stream_buffer)
    }

    fn read(&self, query: Query) -> BoxFuture<'_, Result<QueryReply, SubmitError>> {
        self.read_now(query).boxed()
    }

    fn grants_version(&self) -> u64 {
        self.shared.grants_version.load(Ordering::Acquire)
    }

    fn hasten_exports(&self, exporter: &str) -> Recorded {
        let hastened = self.shared.exports.as_ref().and_then(|exports| exports.hasten(exporter));
        let store = self.options.store.as_ref();
        let Some(Hastened { position, lag, is_off, is_failing, is_elsewhere }) = hastened else {
            // Of an exporter that only others have.
            let Some(store) = store.filter(|store| store.is_fed_by(exporter)) else {
                return Recorded::default();
            };
            let position = self.handed_on();
            store_queries::look_for(self, position);
            let positions = Positions::at(FIRST_PARTITION, position);
            return Recorded { positions, lag: store.lag(), is_stalled: false };
        };
        let has_copies = store.is_some_and(|store| store.is_fed_by(exporter));
        if is_elsewhere {
            look_for(self, exporter, position);
        } else if has_copies {
            store_queries::look_for(self, position);
        }
        // Another copy may get on.
        let is_stalled = is_off || is_failing && !has_copies;
        Recorded { positions: Positions::at(FIRST_PARTITION, position), lag, is_stalled }
    }

    fn catch_up(&self) -> BoxFuture<'_, Result<(), SubmitError>> {
        self.caught_up().boxed()
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
                let reply = self.read_now(Query::ClusterContext { tenant_id }).await?;
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
        match &self.router {
            None => Leadership::Alone,
            Some(_) if self.shared.leading.has_begun() => Leadership::Leads,
            Some(_) => Leadership::Follows,
        }
    }

    fn topology(&self) -> Topology {
        let mut brokers = vec![BrokerInfo {
            node_id: self.options.node_id,
            host: self.options.advertised_host.clone(),
            port: self.options.advertised_port,
            partitions: vec![PartitionInfo {
                partition_id: FIRST_PARTITION,
                leader: self.group.is_leader(),
                healthy: self.health().partition.is_ok(),
            }],
        }];
        let links = self.router.as_ref().map(|router| &router.links);
        brokers.extend(links.map(|links| links.others()).unwrap_or_default());
        let cluster_size = links.map_or(1, |links| links.cluster_size());
        Topology {
            cluster_id: self.options.cluster_id.clone(),
            brokers,
            cluster_size,
            partitions_count: 1,
            replication_factor: cluster_size,
        }
    }

    fn max_message_bytes(&self) -> usize {
        self.options.max_message_bytes
    }
}
