//! The program with its workers, and what the program counts all the while.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::RestClient;
use lab::metrics::{JobCounts, Metrics};
use lab::worker::Knobs;
use tokio::task::JoinHandle;

use crate::child::Child;
use crate::creation::{self, Creation};
use crate::http;
use crate::server::{Data, Server};
use crate::size::Size;

/// The job type and the process.
pub(crate) const JOB: &str = "experiment";
/// Between two looks at the metrics.
const LOOK_PACE: Duration = Duration::from_millis(200);
/// How long something that must happen may take.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Scene {
    pub(crate) size: Size,
    pub(crate) client: RestClient,
    server: Server,
    looks: Arc<Mutex<Vec<(Instant, JobCounts)>>>,
    looking: JoinHandle<()>,
    is_java: bool,
    _data: Data,
}

impl Scene {
    pub(crate) async fn start(size: Size, is_java: bool) -> Self {
        Self::start_with(size, is_java, &[]).await
    }

    pub(crate) async fn start_with(size: Size, is_java: bool, settings: &[String]) -> Self {
        let data = Data::new();
        let mut server = Server::spawn(&data, settings);
        server.ready().await;
        let client = creation::client(server.address("rest"), 64);
        creation::deploy_one_task(&client, JOB).await;
        let looks = Arc::<Mutex<Vec<_>>>::default();
        let looking = {
            let (looks, address) = (Arc::clone(&looks), server.address("management").to_owned());
            tokio::spawn(async move {
                let mut ticks = tokio::time::interval(LOOK_PACE);
                loop {
                    ticks.tick().await;
                    let jobs = jobs(&address).await;
                    looks.lock().push((Instant::now(), jobs));
                }
            })
        };
        Self { size, client, server, looks, looking, is_java, _data: data }
    }

    /// The customary knobs.
    pub(crate) fn knobs(&self) -> Knobs {
        Knobs {
            rest: self.server.address("rest").to_owned(),
            grpc: self.server.address("grpc").to_owned(),
            job_type: JOB.to_owned(),
            threads: self.size.threads,
            capacity: self.size.threads,
            timeout: self.size.timeout,
            work: (self.size.work, self.size.work),
            streams: true,
            window_bytes: self.size.window_bytes,
            prefers_rest: true,
        }
    }

    /// Starts a worker and waits until it is up.
    pub(crate) async fn worker(&self, knobs: &Knobs) -> Child {
        let child = Child::start(knobs, self.is_java);
        until("a worker is up", || child.is_up()).await;
        child
    }

    pub(crate) fn load(&self, per_second: u32) -> Creation {
        Creation::start(self.client.clone(), JOB, per_second, r#"{"number":1}"#.to_owned())
    }

    pub(crate) async fn jobs(&self) -> JobCounts {
        jobs(self.server.address("management")).await
    }

    /// Jobs that workers had at one time since, at the most.
    pub(crate) fn outstanding_max(&self, since: Instant) -> f64 {
        let looks = self.looks.lock();
        let later = looks.iter().filter(|(time, _)| *time >= since);
        later.map(|(_, jobs)| jobs.outstanding()).fold(0.0, f64::max)
    }

    /// Waits until workers have got nothing for so long.
    pub(crate) async fn settles(&self, quiet: Duration) -> JobCounts {
        let end = Instant::now() + PATIENCE;
        let (mut last, mut since) = (self.jobs().await, Instant::now());
        while since.elapsed() < quiet {
            assert!(Instant::now() < end, "jobs are still activated after {PATIENCE:?}");
            tokio::time::sleep(LOOK_PACE).await;
            let now = self.jobs().await;
            if now.activated > last.activated {
                (last, since) = (now, Instant::now());
            }
        }
        last
    }

    pub(crate) async fn end(self) {
        self.looking.abort();
        self.server.stop().await;
    }
}

async fn jobs(management: &str) -> JobCounts {
    let answer = http::ask(management, "GET", "/actuator/prometheus", None).await.unwrap();
    Metrics(answer.body).jobs()
}

pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not after {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
