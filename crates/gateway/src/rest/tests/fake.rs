//! A broker that answers every command with what it usually gets, unless told otherwise, and remembers what it saw.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use broker_api::{
    Activation, Answer, Broker, BrokerInfo, ExpressionResult, JobRequest, JobStream, PartitionInfo,
    Positions, Recorded, Requester, SubmitError, Timing, Topology,
};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use protocol::{
    ActivatedJob, BatchOperationCreated, BatchOperationType, ClusterVariableView, Command, CreateInstance,
    DecisionEvaluationRecord, DeployedDecision, DeployedFile, DeployedProcess, DeployedRequirements,
    DeploymentCreated, Document, EvaluatedDecisionRecord, EvaluatedInputRecord, EvaluatedOutputRecord,
    GlobalListenerCommand, Grants, IdentityQuery, IdentityReply, InstanceCreated, JobKind,
    JobListenerEventType, Json, MatchedRuleRecord, Name, Query, QueryReply, Rejection, RejectionType,
    Response,
};

pub(super) const PROCESS_KEY: u64 = 2_251_799_813_685_249;
pub(super) const INSTANCE_KEY: u64 = 2_251_799_813_685_250;
pub(super) const LIMIT_BYTES: usize = 1024 * 1024;

#[derive(Default)]
pub(super) struct FakeBroker {
    pub(super) commands: Mutex<Vec<Command>>,
    pub(super) activations: Mutex<Vec<(JobRequest, Option<Duration>)>>,
    pub(super) awaited: Mutex<Vec<(Vec<Name>, Duration)>>,
    /// Taken in turn before the usual answers.
    pub(super) scripted: Mutex<VecDeque<Result<Response, SubmitError>>>,
    /// How everything is refused, if it is.
    pub(super) refusal: Option<fn() -> SubmitError>,
    /// Permissions of all callers. Without one, checked commands are refused.
    pub(super) grants: Grants,
    /// Questions about what lives.
    pub(super) reads: AtomicUsize,
    /// How far records are.
    pub(super) recorded: Mutex<Recorded>,
    /// Variables and tenants of evaluated expressions.
    pub(super) evaluated: Mutex<Vec<(Document, Name)>>,
    /// How often exporters were hastened.
    pub(super) hastened: AtomicUsize,
    /// Whether activations find nothing and wait for ever.
    pub(super) no_jobs: bool,
    /// Whether anybody has the role of administrators.
    pub(super) has_administrator: bool,
    /// Whether there is no leader.
    pub(super) is_down: bool,
    /// Activations that are waiting.
    pub(super) waiting: AtomicUsize,
    /// Told whenever `waiting` changes.
    pub(super) changed: tokio::sync::Notify,
}

impl FakeBroker {
    pub(super) fn last(&self) -> Command {
        self.commands.lock().pop().expect("a command was submitted")
    }

    fn answer(&self, command: Command) -> Result<Answer, SubmitError> {
        if command.caller().is_some_and(|caller| caller.checks_authorizations)
            && self.grants.authorizations.is_empty()
        {
            return Err(Rejection::new(RejectionType::Forbidden, "Insufficient permissions").into());
        }
        let usual = usual(command.asked());
        self.commands.lock().push(command);
        self.refuse()?;
        let response = self.scripted.lock().pop_front().unwrap_or(Ok(usual))?;
        let timing = Timing { queued: Duration::from_micros(1), ..Timing::default() };
        Ok(Answer { response, timing, partition: 1, position: 42 })
    }

    fn refuse(&self) -> Result<(), SubmitError> {
        self.refusal.map_or(Ok(()), |refusal| Err(refusal()))
    }

    /// Waits until so many activations wait.
    pub(super) async fn until_waiting(&self, count: usize) {
        loop {
            let changed = self.changed.notified();
            if self.waiting.load(Ordering::SeqCst) == count {
                return;
            }
            changed.await;
        }
    }
}

fn instance(command: &CreateInstance) -> InstanceCreated {
    InstanceCreated {
        process_definition_key: PROCESS_KEY,
        process_id: "order".into(),
        version: 3,
        process_instance_key: INSTANCE_KEY,
        tenant_id: command.tenant_id.clone(),
        tags: command.tags.clone(),
        business_id: command.business_id.clone(),
    }
}

fn file(id: &str, key: u64, resource_name: &str, tenant_id: &Name) -> DeployedFile {
    let resource_name = resource_name.into();
    DeployedFile { id: id.into(), version: 1, key, resource_name, tenant_id: tenant_id.clone() }
}

/// A decision that failed after one that it requires.
fn evaluation(tenant_id: &Name) -> DecisionEvaluationRecord {
    let decided = |id: &str, output: &str, index: u32| EvaluatedDecisionRecord {
        decision_id: id.into(),
        decision_name: id.into(),
        decision_key: 31,
        decision_version: 2,
        decision_type: "DECISION_TABLE".into(),
        decision_output: Json::from_valid(output.to_owned()),
        evaluated_inputs: vec![EvaluatedInputRecord {
            input_id: "i".into(),
            input_name: "Guests".into(),
            input_value: Json::from_valid("20"),
        }],
        matched_rules: vec![MatchedRuleRecord {
            rule_id: "r".into(),
            rule_index: index,
            evaluated_outputs: vec![EvaluatedOutputRecord {
                output_id: "o".into(),
                output_name: "Dish".into(),
                output_value: Json::from_valid(output.to_owned()),
            }],
        }],
        tenant_id: tenant_id.clone(),
        decision_evaluation_instance_key: format!("41-{index}").into(),
    };
    DecisionEvaluationRecord {
        business_id: None,
        decision_key: 31,
        decision_id: "dish".into(),
        decision_name: "Dish".into(),
        decision_version: 2,
        decision_requirements_id: "dinner".into(),
        decision_requirements_key: 32,
        decision_output: Json::from_valid("null"),
        variables: Document::empty(),
        bpmn_process_id: Name::default(),
        process_definition_key: None,
        process_instance_key: None,
        root_process_instance_key: None,
        element_id: Name::default(),
        element_instance_key: None,
        evaluated_decisions: vec![decided("season", "\"winter\"", 1), decided("dish", "null", 2)],
        evaluation_failure_message: "it failed".into(),
        failed_decision_id: "dish".into(),
        tenant_id: tenant_id.clone(),
    }
}

fn usual(command: &Command) -> Response {
    match command {
        Command::Deploy(deploy) => Response::Deployed(DeploymentCreated {
            deployment_key: 7,
            tenant_id: deploy.tenant_id.clone(),
            processes: vec![DeployedProcess {
                process_id: "order".into(),
                version: 1,
                process_definition_key: PROCESS_KEY,
                resource_name: deploy.resources[0].name.clone(),
                tenant_id: deploy.tenant_id.clone(),
            }],
            decisions: vec![DeployedDecision {
                id: "dish".into(),
                name: "Dish".into(),
                version: 2,
                key: 31,
                requirements_id: "dinner".into(),
                requirements_key: 32,
                tenant_id: deploy.tenant_id.clone(),
            }],
            decision_requirements: vec![DeployedRequirements {
                id: "dinner".into(),
                name: "Dinner".into(),
                version: 2,
                key: 32,
                resource_name: "dinner.dmn".into(),
                tenant_id: deploy.tenant_id.clone(),
            }],
            forms: vec![file("ask", 33, "ask.form", &deploy.tenant_id)],
            resources: vec![file("notes.txt", 34, "notes.txt", &deploy.tenant_id)],
        }),
        Command::EvaluateDecision(evaluate) => Response::DecisionEvaluated {
            evaluation_key: 41,
            evaluation: Box::new(evaluation(&evaluate.tenant_id)),
        },
        Command::CreateInstance(create) => Response::InstanceCreated(instance(create)),
        Command::PublishMessage(message) => {
            Response::MessagePublished { message_key: 9, tenant_id: message.tenant_id.clone() }
        }
        Command::CorrelateMessage(message) => Response::MessageCorrelated {
            message_key: 9,
            process_instance_key: INSTANCE_KEY,
            tenant_id: message.tenant_id.clone(),
        },
        Command::Identity(command) => super::identity::usual(command),
        Command::ClusterVariable(variable) => Response::ClusterVariable(ClusterVariableView {
            tenant_id: variable.tenant_id.clone(),
            name: variable.name.clone(),
            value: variable.value.clone(),
            metadata: variable.metadata.clone(),
            kind: variable.kind,
        }),
        Command::BroadcastSignal(signal) => {
            Response::SignalBroadcast { signal_key: 12, tenant_id: signal.tenant_id.clone() }
        }
        Command::EvaluateConditionals(evaluate) => Response::ConditionalsEvaluated {
            key: 13,
            tenant_id: evaluate.tenant_id.clone(),
            instances: vec![(PROCESS_KEY, INSTANCE_KEY)],
        },
        Command::CreateAgentInstance(create) => super::agents::usual(61, &create.history),
        Command::UpdateAgentInstance(update) => {
            super::agents::usual(update.agent_instance_key, &update.history)
        }
        Command::SetVariables(_) => Response::VariablesSet { key: 11 },
        Command::CreateBatchOperation(create) => Response::BatchOperationCreated(BatchOperationCreated {
            batch_operation_key: 12,
            kind: create.action.kind(),
        }),
        Command::ResolveInstanceIncidents { .. } => Response::BatchOperationCreated(BatchOperationCreated {
            batch_operation_key: 12,
            kind: BatchOperationType::ResolveIncident,
        }),
        Command::GlobalListener(
            GlobalListenerCommand::Create(listener) | GlobalListenerCommand::Update(listener),
        ) => Response::GlobalListener(listener.clone()),
        _ => Response::Done,
    }
}

pub(super) fn job() -> ActivatedJob {
    ActivatedJob {
        key: 21,
        job_type: "pay".into(),
        process_instance_key: INSTANCE_KEY,
        root_process_instance_key: INSTANCE_KEY,
        process_id: "order".into(),
        process_definition_version: 3,
        process_definition_key: PROCESS_KEY,
        element_id: "pay-task".into(),
        element_instance_key: 22,
        custom_headers_json: r#"{"h":"1"}"#.into(),
        worker: "w".into(),
        retries: 3,
        deadline_ms: 1_900_000_000_000,
        variables: Document::parse(bytes::Bytes::from_static(br#"{"a":{"b":[1.50]}}"#)).unwrap(),
        tenant_id: Name::default_tenant(),
        kind: JobKind::BpmnElement,
        listener_event_type: JobListenerEventType::Unspecified,
        user_task: None,
        tags: vec!["vip".into()],
        business_id: None,
        priority: 0,
        lease: None,
    }
}

impl Broker for FakeBroker {
    fn submit(&self, command: Command) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        std::future::ready(self.answer(command)).boxed()
    }

    fn create_with_result(
        &self,
        requester: Option<Requester>,
        command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        self.awaited.lock().push((fetch_variables, timeout));
        let instance = instance(&command);
        let variables = command.variables.clone();
        let answer = self
            .answer(requester.unwrap_or_default().asks(Command::CreateInstance(command)))
            .map(|answer| Answer { response: Response::InstanceCompleted { instance, variables }, ..answer });
        std::future::ready(answer).boxed()
    }

    fn activate_jobs(
        &self,
        request: JobRequest,
        wait: Option<Duration>,
    ) -> BoxFuture<'_, Result<Activation, SubmitError>> {
        self.activations.lock().push((request, wait));
        if let Err(refused) = self.refuse() {
            return std::future::ready(Err(refused)).boxed();
        }
        if !self.no_jobs {
            let mut positions = Positions::at(1, 42);
            positions.reach(3, 7);
            return std::future::ready(Ok(Activation { jobs: vec![job()], positions })).boxed();
        }
        async move {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let _guard = Waiting(self);
            self.changed.notify_waiters();
            std::future::pending().await
        }
        .boxed()
    }

    fn stream_jobs(&self, _: JobRequest) -> Result<JobStream, SubmitError> {
        Err(SubmitError::Unavailable("there is no streaming over REST".into()))
    }

    fn read(&self, query: Query) -> BoxFuture<'_, Result<QueryReply, SubmitError>> {
        // The first query of every request.
        if let Query::Identity(IdentityQuery::Grants { .. }) = &query {
            let reply = IdentityReply::Grants(Box::new(self.grants.clone()));
            return std::future::ready(Ok(QueryReply::Identity(reply))).boxed();
        }
        self.reads.fetch_add(1, Ordering::SeqCst);
        if let Err(refused) = self.refuse() {
            return std::future::ready(Err(refused)).boxed();
        }
        if query == Query::Identity(IdentityQuery::HadAdministrator) {
            let reply = IdentityReply::HadAdministrator(self.has_administrator);
            return std::future::ready(Ok(QueryReply::Identity(reply))).boxed();
        }
        std::future::ready(super::views::answer(&query)).boxed()
    }

    fn grants_version(&self) -> u64 {
        0
    }

    fn hasten_exports(&self, exporter: &str) -> Recorded {
        assert_eq!(exporter, search::EXPORTER_ID);
        self.hastened.fetch_add(1, Ordering::SeqCst);
        self.recorded.lock().clone()
    }

    fn evaluate_expression(
        &self,
        expression: String,
        variables: Document,
        tenant_id: Name,
    ) -> BoxFuture<'_, Result<ExpressionResult, SubmitError>> {
        if expression.ends_with('+') {
            let rejection = Rejection::invalid_argument(format!("cannot read '{expression}'"));
            return std::future::ready(Err(SubmitError::Rejected(rejection))).boxed();
        }
        self.evaluated.lock().push((variables, tenant_id));
        let warnings = if expression.contains('x') { vec!["no variable 'x'".to_owned()] } else { Vec::new() };
        std::future::ready(Ok(ExpressionResult { result_json: r#"{"v":[1,null]}"#.into(), warnings })).boxed()
    }

    fn topology(&self) -> Topology {
        let partition = |partition_id, leader| PartitionInfo { partition_id, leader, healthy: !self.is_down };
        Topology {
            cluster_id: "c-1".into(),
            brokers: vec![BrokerInfo {
                node_id: 0,
                host: "localhost".into(),
                port: 26500,
                partitions: vec![partition(1, true), partition(2, false)],
            }],
            cluster_size: 1,
            partitions_count: 2,
            replication_factor: 1,
        }
    }

    fn max_message_bytes(&self) -> usize {
        LIMIT_BYTES
    }
}

struct Waiting<'a>(&'a FakeBroker);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }
}
