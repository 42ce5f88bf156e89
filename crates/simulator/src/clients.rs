//! Clients of the cluster: they create instances, complete jobs, write and read variables, at any broker.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use broker_api::{Broker as _, JobRequest, SubmitError};
use bytes::Bytes;
use protocol::{
    ClusterVariable, ClusterVariableAction, Command, CompleteJob, CreateInstance, DefinitionRef, Deploy,
    Document, Idempotency, Json, Name, Query, QueryReply, RejectionType, Resource, Response,
};
use tokio::time::{Instant, sleep, timeout};

use crate::host::Life;
use crate::ledger::{Era, Ledger};
use crate::random::Random;

mod messenger;
mod purger;

/// A client tries elsewhere after this time.
const PATIENCE: Duration = Duration::from_secs(8);
/// Time of a worker for a job.
const JOB_TIMEOUT_MS: i64 = 5_000;
const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t"><process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/><serviceTask id="t"><extensionElements><zeebe:taskDefinition type="t"/></extensionElements></serviceTask></process></definitions>"#;

/// The brokers that clients find, and their account.
pub struct Scene {
    lives: Mutex<Vec<Option<Arc<Life>>>>,
    ledger: Mutex<Ledger>,
    random: Mutex<Random>,
    stops: Mutex<bool>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().expect("a client that fails ends the run")
}

/// The answer of a broker, or none that tells anything.
enum Asked {
    Answer(Response),
    Refused(RejectionType, String),
    /// Nothing has happened.
    Not,
    /// It may have happened.
    Open,
}

impl Scene {
    /// A scene of so many brokers, none of which runs.
    pub fn new(brokers: usize, random: Random) -> Arc<Self> {
        Arc::new(Self {
            lives: Mutex::new((0..brokers).map(|_| None).collect()),
            ledger: Mutex::default(),
            random: Mutex::new(random),
            stops: Mutex::new(false),
        })
    }

    /// The account of the clients.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    /// A broker runs, or does not any more.
    pub fn set(&self, broker: u32, life: Option<Life>) -> Option<Arc<Life>> {
        std::mem::replace(&mut lock(&self.lives)[broker as usize], life.map(Arc::new))
    }

    /// The life of a broker, if it runs.
    pub fn life(&self, broker: u32) -> Option<Arc<Life>> {
        lock(&self.lives)[broker as usize].clone()
    }

    /// Clients end what they do, and begin nothing.
    pub fn stop(&self) {
        *lock(&self.stops) = true;
    }

    fn stops(&self) -> bool {
        *lock(&self.stops)
    }

    fn below(&self, end: u64) -> u64 {
        lock(&self.random).below(end)
    }

    async fn any(&self) -> Arc<Life> {
        loop {
            let lives: Vec<_> = lock(&self.lives).iter().flatten().cloned().collect();
            if !lives.is_empty() {
                let chosen = self.below(lives.len() as u64) as usize;
                return Arc::clone(&lives[chosen]);
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    async fn pause(&self) {
        sleep(Duration::from_millis(5 + self.below(60))).await;
    }

    /// Asks some broker for a command, once.
    async fn ask(&self, command: Command) -> Asked {
        let life = self.any().await;
        tracing::debug!("broker {} is asked for {command:?}", life.broker);
        let asked = life.call(move |node| async move { node.submit(command).await });
        let answer = timeout(PATIENCE, asked).await;
        tracing::debug!("broker {} answers {answer:?}", life.broker);
        match answer {
            Ok(Some(Ok(answer))) => Asked::Answer(answer.response),
            Ok(Some(Err(SubmitError::Rejected(rejection)))) => {
                Asked::Refused(rejection.kind, rejection.to_string())
            }
            Ok(Some(Err(
                SubmitError::Unavailable(_) | SubmitError::ResourceExhausted(_) | SubmitError::DiskFull(_),
            ))) => Asked::Not,
            Ok(Some(Err(SubmitError::Timeout(_))) | None) | Err(_) => Asked::Open,
            Ok(Some(Err(error))) => {
                self.ledger().violated(format!("a command was answered with '{error}'"));
                Asked::Open
            }
        }
    }

    /// Asks until there is an answer: the command must be one that may be done twice.
    async fn ask_until(&self, command: Command) -> Result<Response, (RejectionType, String)> {
        let began = Instant::now();
        loop {
            match self.ask(command.clone()).await {
                Asked::Answer(response) => {
                    self.took(began);
                    return Ok(response);
                }
                Asked::Refused(kind, reason) => return Err((kind, reason)),
                Asked::Not | Asked::Open => self.pause().await,
            }
        }
    }

    fn took(&self, since: Instant) {
        let took_ms = since.elapsed().as_millis() as u64;
        let mut ledger = self.ledger();
        ledger.slowest_ms = ledger.slowest_ms.max(took_ms);
    }

    /// Deploys the process.
    pub async fn deploy(&self) {
        self.deploy_model(MODEL).await;
    }

    /// Has a broker take models.
    async fn deploy_model(&self, model: &str) {
        let resource = Resource { name: Name::from("p.bpmn"), content: model.as_bytes().to_vec() };
        let deploy = Deploy { resources: vec![resource], tenant_id: Name::default_tenant() };
        if let Err((_, reason)) = self.ask_until(Command::Deploy(deploy)).await {
            self.ledger().violated(format!("the model is refused: {reason}"));
        }
    }

    /// Creates instances, each once.
    pub async fn creator(self: Arc<Self>, client: u64) {
        self.ledger().creator_begins();
        let mut request = 0;
        while !self.stops() {
            request += 1;
            let create = CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None });
            let key = Idempotency { key: [client, request], fingerprint: [1, 1] };
            let command = Command::CreateInstance(create).once(Some(key));
            let times = if self.below(8) == 0 { 2 } else { 1 };
            let first = self.ledger().era();
            for _ in 0..times {
                let era = self.ledger().era();
                match self.ask_until(command.clone()).await {
                    Ok(Response::InstanceCreated(created)) => {
                        self.ledger().created(era, (client, request), created.process_instance_key);
                    }
                    // The model was purged, and is not deployed again.
                    Err((RejectionType::NotFound, _)) if !self.ledger().is_certain(era) => break,
                    other => self.ledger().violated(format!("a creation was answered with {other:?}")),
                }
            }
            if !self.ledger().is_certain(first) {
                // The keys of before are not known any more: the next request has one of them.
                request = request.saturating_sub(2);
            }
            self.pause().await;
        }
        self.ledger().creator_ends();
    }

    /// Works on jobs until none is left of what was created.
    pub async fn worker(self: Arc<Self>, name: u64) {
        loop {
            if self.stops() && !self.ledger().has_creators() && self.ledger().open().is_empty() {
                return;
            }
            let request = JobRequest {
                job_type: Name::from("t"),
                worker: Name::from(format!("worker-{name}").as_str()),
                timeout_ms: JOB_TIMEOUT_MS,
                max_jobs: 1 + self.below(4) as u32,
                fetch_variables: vec![],
                tenant_ids: vec![Name::default_tenant()],
                caller: None,
                with_lease: false,
            };
            let wait = Some(Duration::from_millis(500));
            let life = self.any().await;
            let (began, era) = (Instant::now(), self.ledger().era());
            let asked = life.call(move |node| async move { node.activate_jobs(request, wait).await });
            // A worker that goes away while jobs are on their way has not seen them.
            let Ok(Some(Ok(activation))) = timeout(PATIENCE, asked).await else {
                self.pause().await;
                continue;
            };
            let keys: Vec<_> = activation.jobs.iter().map(|job| job.key).collect();
            tracing::debug!("broker {} gives worker {name} the jobs {keys:?}", life.broker);
            for job in &activation.jobs {
                self.ledger().activated(job.key, job.deadline_ms, JOB_TIMEOUT_MS, began);
                self.ledger().is_at_work(era, job.process_instance_key);
                self.ledger().has_job(job.key, job.process_instance_key);
            }
            for job in activation.jobs {
                self.complete(era, job.key, job.process_instance_key).await;
            }
        }
    }

    /// Completes a job that was given in some era.
    async fn complete(&self, given: Era, job: protocol::Key, instance: protocol::Key) {
        let began = Instant::now();
        let complete = CompleteJob::of(job, Document::empty());
        loop {
            self.ledger().asks_for_completion(job);
            let era = self.ledger().era();
            match self.ask(Command::CompleteJob(complete.clone())).await {
                Asked::Answer(_) => {
                    self.took(began);
                    self.ledger().is_at_work(era, instance);
                    return self.ledger().completed(job, instance);
                }
                // It was purged.
                Asked::Refused(RejectionType::NotFound, _) if !self.ledger().is_certain(given) => {
                    return self.ledger().is_gone(instance);
                }
                Asked::Refused(RejectionType::NotFound, _) => {
                    return self.ledger().was_completed(job, instance);
                }
                Asked::Refused(kind, reason) => {
                    return self.ledger().violated(format!("a completion is refused: {kind:?} {reason}"));
                }
                Asked::Open | Asked::Not => {}
            }
            self.pause().await;
        }
    }

    /// Writes greater and greater numbers, and reads what others have written.
    pub async fn register(self: Arc<Self>, number: u64) {
        let name = Name::from(format!("r{number}").as_str());
        let variable = |action, value: u64| {
            let value = Json::from_valid(Bytes::from(value.to_string()));
            Command::ClusterVariable(ClusterVariable {
                action,
                tenant_id: None,
                name: name.clone(),
                value,
                metadata: None,
                kind: None,
            })
        };
        // Two numbers: what was answered, and what was asked for; and when it was created.
        let written = Arc::new(Mutex::new((0, 0, self.ledger().era())));
        if let Err((kind, reason)) = self.ask_until(variable(ClusterVariableAction::Create, 0)).await
            && kind != RejectionType::AlreadyExists
        {
            return self.ledger().violated(format!("a variable is refused: {reason}"));
        }
        let readers =
            (0..2).map(|_| tokio::spawn(Arc::clone(&self).reader(name.clone(), Arc::clone(&written))));
        let readers: Vec<_> = readers.collect();
        while !self.stops() {
            lock(&written).1 += 1;
            let (_, value, created) = *lock(&written);
            match self.ask_until(variable(ClusterVariableAction::Update, value)).await {
                Ok(_) => {
                    tracing::info!("{name} is {value}");
                    lock(&written).0 = value;
                }
                // It was purged.
                Err((RejectionType::NotFound, _)) if !self.ledger().is_certain(created) => {
                    let era = self.ledger().era();
                    match self.ask_until(variable(ClusterVariableAction::Create, value)).await {
                        Ok(_) | Err((RejectionType::AlreadyExists, _)) => {
                            *lock(&written) = (value, value, era);
                        }
                        Err((_, reason)) => {
                            self.ledger().violated(format!("a variable is refused: {reason}"));
                        }
                    }
                }
                Err((_, reason)) => self.ledger().violated(format!("a variable is refused: {reason}")),
            }
            self.pause().await;
        }
        for reader in readers {
            reader.await.expect("a reader does not fail");
        }
    }

    async fn reader(self: Arc<Self>, name: Name, written: Arc<Mutex<(u64, u64, Era)>>) {
        while !self.stops() {
            let (least, _, created) = *lock(&written);
            let query = Query::ClusterVariable { tenant_id: None, name: name.clone() };
            let life = self.any().await;
            let asked = life.call(move |node| async move { node.read(query).await });
            match timeout(PATIENCE * 2, asked).await {
                Ok(Some(Ok(QueryReply::ClusterVariable(view)))) => {
                    let most = lock(&written).1;
                    let found =
                        std::str::from_utf8(view.value.as_bytes()).ok().and_then(|text| text.parse().ok());
                    if !found.is_some_and(|found: u64| (least..=most).contains(&found)) {
                        let broker = life.broker;
                        tracing::info!("broker {broker} read {found:?} of {name}, not {least} to {most}");
                        self.ledger().violated(format!(
                            "broker {broker} read {found:?} of '{name}', expected {least} to {most}"
                        ));
                    }
                    self.ledger().answers += 1;
                }
                Ok(Some(Ok(other))) => self.ledger().violated(format!("a read was answered with {other:?}")),
                Ok(Some(Err(SubmitError::Rejected(rejection))))
                    if rejection.kind == RejectionType::NotFound && !self.ledger().is_certain(created) => {}
                Ok(Some(Err(SubmitError::Rejected(rejection)))) => {
                    self.ledger().violated(format!("a read is refused: {rejection}"));
                }
                Ok(Some(Err(_)) | None) | Err(_) => {}
            }
            self.pause().await;
        }
    }
}
