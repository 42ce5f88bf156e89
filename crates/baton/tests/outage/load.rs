//! The load, and what it was told: instances at a steady rate, of which most are worked and some stay.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use client::{ActivateJobs, CompleteJob, CreateInstance, Error, Resource, RestClient, RestOptions};
use futures::StreamExt as _;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

/// The process whose instances are worked, and the one whose instances stay.
pub(crate) const WORKED: &str = "worked";
pub(crate) const STAYS: &str = "stays";
/// One instance in so many stays.
const STAYS_ONE_IN: u64 = 10;
/// Creations in flight.
const CREATORS: u32 = 8;
const WORKERS: u32 = 2;
/// Completions in flight, for each worker.
const COMPLETIONS: usize = 8;
/// Soon over after a crash.
const JOB_TIMEOUT: Duration = Duration::from_secs(3);
/// Pause after nobody answered.
const PAUSE: Duration = Duration::from_millis(50);

fn model(process: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="outage">
  <process id="{process}" isExecutable="true">
    <startEvent id="start"/><sequenceFlow id="in" sourceRef="start" targetRef="task"/>
    <serviceTask id="task"><extensionElements><zeebe:taskDefinition type="{process}"/></extensionElements></serviceTask>
    <sequenceFlow id="out" sourceRef="task" targetRef="end"/><endEvent id="end"/>
  </process>
</definitions>"#
    )
}

/// Acknowledged commands.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Whether each instance is one that is worked.
    instances: Mutex<BTreeMap<i64, bool>>,
    completed: Mutex<BTreeSet<i64>>,
    /// Creations whose answer was lost with the server.
    pub(crate) unanswered: AtomicU64,
    /// Creations that were refused for want of room.
    pub(crate) refused: AtomicU64,
    reason: Mutex<String>,
    surprises: Mutex<Vec<String>>,
}

impl Ledger {
    pub(crate) fn instances(&self) -> MutexGuard<'_, BTreeMap<i64, bool>> {
        self.instances.lock()
    }

    /// Creations and completions so far.
    pub(crate) fn done(&self) -> (usize, usize) {
        (self.instances().len(), self.completed.lock().len())
    }

    /// An instance that has ended.
    pub(crate) fn completed(&self) -> Option<i64> {
        self.completed.lock().last().copied()
    }

    /// Why a creation was refused last.
    pub(crate) fn reason(&self) -> String {
        self.reason.lock().clone()
    }

    fn surprise(&self, text: String) {
        self.surprises.lock().push(text);
    }

    /// Nothing was answered that must not be.
    pub(crate) fn assert_sound(&self) {
        let surprises = self.surprises.lock();
        assert!(surprises.is_empty(), "{} surprises, such as {}", surprises.len(), surprises[0]);
    }
}

/// How much, and where to.
pub(crate) struct Load {
    pub(crate) ledger: Arc<Ledger>,
    server: watch::Sender<Option<RestClient>>,
    creates: watch::Sender<bool>,
    works: watch::Sender<bool>,
    creators: JoinSet<()>,
    workers: JoinSet<()>,
}

/// State shared by the tasks.
#[derive(Clone)]
struct Station {
    ledger: Arc<Ledger>,
    server: watch::Receiver<Option<RestClient>>,
    is_on: watch::Receiver<bool>,
}

impl Station {
    /// The server, once there is one; none when it is time to end.
    async fn server(&mut self) -> Option<RestClient> {
        tokio::select! {
            _ = self.is_on.wait_for(|on| !on) => None,
            server = self.server.wait_for(Option::is_some) => server.ok()?.clone(),
        }
    }
}

fn client(address: &str) -> RestClient {
    let options = RestOptions { address: format!("http://{address}"), ..RestOptions::default() };
    RestClient::new(options).unwrap()
}

impl Load {
    /// Deploys, and begins with so many instances a second, each with so many bytes of variables.
    pub(crate) async fn start(address: &str, per_second: u32, payload_bytes: usize) -> Self {
        let first = client(address);
        for process in [WORKED, STAYS] {
            let (name, content) = (format!("{process}.bpmn"), model(process));
            first.deploy(&[Resource { name: &name, content: content.as_bytes() }], None).await.unwrap();
        }
        let ledger = Arc::new(Ledger::default());
        let (server, servers) = watch::channel(Some(first));
        let (creates, creates_on) = watch::channel(true);
        let (works, works_on) = watch::channel(true);
        let (mut creators, mut workers) = (JoinSet::new(), JoinSet::new());
        let pace = Duration::from_secs(1) * CREATORS / per_second.max(1);
        for number in 0..CREATORS {
            let (ledger, server) = (Arc::clone(&ledger), servers.clone());
            let station = Station { ledger, server, is_on: creates_on.clone() };
            let variables = format!(r#"{{"payload":"{}"}}"#, "x".repeat(payload_bytes));
            creators.spawn(create(station, u64::from(number), pace, variables));
        }
        for _ in 0..WORKERS {
            let (ledger, server) = (Arc::clone(&ledger), servers.clone());
            workers.spawn(work(Station { ledger, server, is_on: works_on.clone() }));
        }
        Self { ledger, server, creates, works, creators, workers }
    }

    /// The server is gone, or there again under another address.
    pub(crate) fn moves_to(&self, address: Option<&str>) {
        self.server.send_replace(address.map(client));
    }

    /// Creates nothing more: every creation has its answer.
    pub(crate) async fn stop_creating(&mut self) {
        self.creates.send_replace(false);
        while let Some(ended) = self.creators.join_next().await {
            ended.unwrap();
        }
    }

    /// Ends.
    pub(crate) async fn end(mut self) -> Arc<Ledger> {
        self.stop_creating().await;
        self.works.send_replace(false);
        while let Some(ended) = self.workers.join_next().await {
            ended.unwrap();
        }
        self.ledger
    }
}

/// Whether the server can have carried out a request that failed with this.
fn is_lost(error: &Error) -> bool {
    matches!(error, Error::Connect { .. } | Error::Broken { .. })
        || matches!(error, Error::Problem { status: 503, title, .. } if title == "UNAVAILABLE")
}

async fn create(mut station: Station, first: u64, pace: Duration, variables: String) {
    let mut ticks = tokio::time::interval(pace);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut number = first;
    while let Some(server) = station.server().await {
        let stays = number.is_multiple_of(STAYS_ONE_IN);
        number += 1;
        let process = if stays { STAYS } else { WORKED };
        let command = CreateInstance { variables: Some(&variables), ..CreateInstance::latest(process) };
        match server.create_instance_key(&command).await {
            Ok(key) => {
                let twice = station.ledger.instances().insert(key, !stays);
                if twice.is_some() {
                    station.ledger.surprise(format!("two instances have the key {key}"));
                }
            }
            Err(error) if error.is_resource_exhausted() => {
                station.ledger.refused.fetch_add(1, Ordering::Relaxed);
                *station.ledger.reason.lock() = error.to_string();
            }
            Err(error) if is_lost(&error) => {
                station.ledger.unanswered.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => station.ledger.surprise(format!("a creation: {error}")),
        }
        ticks.tick().await;
    }
}

async fn work(mut station: Station) {
    while let Some(server) = station.server().await {
        let request = ActivateJobs {
            job_type: WORKED,
            worker: "outage",
            timeout: JOB_TIMEOUT,
            jobs_max: 32,
            fetch_variables: &["none"],
            wait: Some(Duration::from_millis(500)),
            tenant_ids: &[],
        };
        let jobs = match server.activate_jobs(&request).await {
            Ok(jobs) => jobs,
            Err(error) if is_lost(&error) || error.is_resource_exhausted() => {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            Err(error) => return station.ledger.surprise(format!("an activation: {error}")),
        };
        let complete = async |job: client::Job| {
            let command = CompleteJob { job_key: job.key, variables: None };
            match server.complete_job(&command).await {
                Ok(()) => _ = station.ledger.completed.lock().insert(job.process_instance_key),
                // It comes again, or somebody else has had it after its time.
                Err(error) if is_lost(&error) || error.is_not_found() => {}
                Err(error) if error.is_resource_exhausted() => {}
                Err(error) => station.ledger.surprise(format!("a completion: {error}")),
            }
        };
        futures::stream::iter(jobs).for_each_concurrent(COMPLETIONS, complete).await;
    }
}
