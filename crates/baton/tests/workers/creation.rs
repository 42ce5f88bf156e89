//! Instances at a steady rate, whatever the answers: as many as are due, each request on its own.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use client::{CreateInstance, Error, Resource, RestClient, RestOptions};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

/// Requests in flight.
const IN_FLIGHT: usize = 64;
/// An answer that takes longer counts as failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client for tests, over REST.
pub(crate) fn client(address: &str, connections: usize) -> RestClient {
    let options = RestOptions {
        address: format!("http://{address}"),
        connections,
        request_timeout: PATIENCE,
        ..RestOptions::default()
    };
    RestClient::new(options).unwrap()
}

/// A process with one task of a job type, both under one name.
pub(crate) async fn deploy_one_task(client: &RestClient, name: &str) {
    let model = format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="experiments">
  <process id="{name}" isExecutable="true">
    <startEvent id="start"/><sequenceFlow id="in" sourceRef="start" targetRef="task"/>
    <serviceTask id="task"><extensionElements><zeebe:taskDefinition type="{name}"/></extensionElements></serviceTask>
    <sequenceFlow id="out" sourceRef="task" targetRef="end"/><endEvent id="end"/>
  </process>
</definitions>"#
    );
    let file = format!("{name}.bpmn");
    client.deploy(&[Resource { name: &file, content: model.as_bytes() }], None).await.unwrap();
}

/// Results of the requests.
#[derive(Default)]
pub(crate) struct Created {
    count: AtomicU64,
    /// Refused for overload.
    refused: AtomicU64,
    /// How long each answer took, counted from when it was due.
    latencies: Mutex<Vec<(Instant, Duration)>>,
    wrong: Mutex<Vec<String>>,
}

impl Created {
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    #[allow(dead_code, reason = "the attacks tell it")]
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Latencies of what was due since a time, in order of length.
    #[allow(dead_code, reason = "the attacks tell them")]
    pub(crate) fn latencies(&self, since: Instant) -> Vec<Duration> {
        let latencies = self.latencies.lock();
        let mut chosen: Vec<_> =
            latencies.iter().filter(|(due, _)| *due >= since).map(|(_, latency)| *latency).collect();
        chosen.sort();
        chosen
    }

    /// Other failures.
    pub(crate) fn wrong(&self) -> Vec<String> {
        self.wrong.lock().clone()
    }

    #[allow(dead_code, reason = "the attacks count what went wrong")]
    pub(crate) fn assert_sound(&self) {
        let wrong = self.wrong();
        assert!(wrong.is_empty(), "{} creations failed, such as: {}", wrong.len(), wrong[0]);
    }

    fn answered(&self, due: Instant, answer: Result<i64, Error>) {
        self.latencies.lock().push((due, due.elapsed()));
        match answer {
            Ok(_) => _ = self.count.fetch_add(1, Ordering::Relaxed),
            Err(error) if error.is_resource_exhausted() => _ = self.refused.fetch_add(1, Ordering::Relaxed),
            Err(error) => self.wrong.lock().push(error.to_string()),
        }
    }
}

pub(crate) struct Creation {
    pub(crate) created: Arc<Created>,
    is_on: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Creation {
    pub(crate) fn start(client: RestClient, process: &str, per_second: u32, variables: String) -> Self {
        let created = Arc::<Created>::default();
        let is_on = Arc::new(AtomicBool::new(true));
        let process: Arc<str> = process.into();
        let variables: Arc<str> = variables.into();
        let task = {
            let (created, is_on) = (Arc::clone(&created), Arc::clone(&is_on));
            tokio::spawn(async move {
                let places = Arc::new(Semaphore::new(IN_FLIGHT));
                let mut ticks = tokio::time::interval(Duration::from_secs(1) / per_second);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
                while is_on.load(Ordering::Relaxed) {
                    let due = ticks.tick().await.into_std();
                    let place = Arc::clone(&places).acquire_owned().await.expect("it is never closed");
                    let (client, created) = (client.clone(), Arc::clone(&created));
                    let (process, variables) = (Arc::clone(&process), Arc::clone(&variables));
                    tokio::spawn(async move {
                        let command = CreateInstance {
                            variables: Some(&variables),
                            ..CreateInstance::latest(&process)
                        };
                        created.answered(due, client.create_instance_key(&command).await);
                        drop(place);
                    });
                }
                // Every request has its answer.
                _ = places.acquire_many(IN_FLIGHT as u32).await;
            })
        };
        Self { created, is_on, task }
    }

    pub(crate) async fn end(self) -> Arc<Created> {
        self.is_on.store(false, Ordering::Relaxed);
        self.task.await.unwrap();
        self.created
    }
}
