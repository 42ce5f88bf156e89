//! L5: the server is killed under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bench::BENCHMARK_BPMN;
use client::{Client, CreateInstance, GrpcClient, GrpcOptions, Resource};
use parking_lot::Mutex;

use super::parts::PROCESS;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::Limit;
use crate::server::Server;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "L5",
    title: "Killed under load",
    hypothesis: "Acknowledged commands are on the disk: a server that is killed (SIGKILL) at any moment has it again.",
    set_up: "One broker; creations with 32 KiB of variables as fast as they go through, 64 at a time over gRPC, so that \
        the disk is busy all the time.",
    steady_state: "Creations are acknowledged.",
    action: "The server is killed in the midst of them and started again, several times.",
    measurement: "Acknowledged instances that the server does not know afterwards; time of the start. A kill leaves \
        what was written in the memory of the kernel, and a fast disk leaves little time before it: a server that \
        answers before its sync, or without one, is found for sure where syncs are slow. `make lab-planted` plants slow \
        syncs, and then no answer may come sooner than a sync takes; `make simulate` drops what was not synced.",
    reference: "No acknowledged command is lost when a broker of a cluster is killed.",
    seconds: (20, 60),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

/// The variable of a server, built for tests, whose syncs take so many milliseconds longer.
pub const PLANTED_SYNC_MS: &str = "PLANTED_SYNC_MS";

const LANES: usize = 64;
const PAYLOAD_BYTES: usize = 32 * 1024;
/// The latest acknowledged ones are looked at: what is older was acknowledged long before the kill.
const LOOKED_AT: usize = 500;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let mut server = lab.server(&[]).await?;
    let file = Resource { name: "benchmark.bpmn", content: BENCHMARK_BPMN.as_bytes() };
    server.client()?.deploy(&[file], None).await?;
    let sync = lab.planted(PLANTED_SYNC_MS).and_then(|millis| millis.parse().ok()).map(Duration::from_millis);
    let rounds = lab.pick(8, 20);
    let (mut acknowledged, mut lost, mut early) = (0.0, 0.0, 0.0);
    let mut starts = Vec::new();
    for round in 0..rounds {
        lab.phase("creations");
        let length = Duration::from_millis(500 + 37 * round);
        let creations = Creations::begin(&server)?;
        lab.wait(length).await;
        lab.fault("killed");
        server.kill_and_start().await?;
        starts.push(server.ready_after.as_secs_f64());
        let answers = creations.end().await;
        acknowledged += answers.len() as f64;
        early += answers.iter().filter(|(_, took)| sync.is_some_and(|sync| *took < sync)).count() as f64;
        let keys: Vec<i64> = answers.iter().map(|(key, _)| *key).collect();
        lost += unknown(&server, &keys[keys.len().saturating_sub(LOOKED_AT)..]).await?;
    }
    lab.phase("the end");
    lab.expect("instances acknowledged", Unit::Count, Limit::AtLeast(1.0), acknowledged);
    lab.expect_fact("acknowledged and lost", Unit::Count, Limit::Exactly(0.0), lost);
    if sync.is_some() {
        lab.expect_fact("answers sooner than a sync takes", Unit::Count, Limit::Exactly(0.0), early);
    }
    lab.tell_all("time of the start", Unit::Seconds, &starts);
    server.stop().await
}

/// Keys of acknowledged instances in their order, with the time of each answer.
type Answers = Vec<(i64, Duration)>;

/// Creations under way.
struct Creations {
    answers: Arc<Mutex<Answers>>,
    is_over: Arc<AtomicBool>,
    lanes: tokio::task::JoinSet<()>,
}

impl Creations {
    fn begin(server: &Server) -> Result<Self, LabError> {
        let options = GrpcOptions {
            address: format!("http://{}", server.address("grpc")),
            connections: 2,
            window: LANES,
            ..GrpcOptions::default()
        };
        let client =
            GrpcClient::new(options).map_err(|error| LabError::environment("make a client", error))?;
        let variables: Arc<str> = format!(r#"{{"payload":"{}"}}"#, "x".repeat(PAYLOAD_BYTES)).into();
        let (answers, is_over) = (Arc::<Mutex<Answers>>::default(), Arc::<AtomicBool>::default());
        let mut lanes = tokio::task::JoinSet::new();
        for _ in 0..LANES {
            let (client, answers, is_over) =
                (Client::Grpc(client.clone()), Arc::clone(&answers), Arc::clone(&is_over));
            let variables = Arc::clone(&variables);
            lanes.spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    let command =
                        CreateInstance { variables: Some(&variables), ..CreateInstance::latest(PROCESS) };
                    let asked = Instant::now();
                    match client.create_instance_key(&command).await {
                        Ok(key) => answers.lock().push((key, asked.elapsed())),
                        // The server is killed.
                        Err(_) => return,
                    }
                }
            });
        }
        Ok(Self { answers, is_over, lanes })
    }

    async fn end(mut self) -> Answers {
        self.is_over.store(true, Ordering::Relaxed);
        while self.lanes.join_next().await.is_some() {}
        std::mem::take(&mut *self.answers.lock())
    }
}

/// How many of these instances the server does not know.
async fn unknown(server: &Server, keys: &[i64]) -> Result<f64, LabError> {
    let client = server.client()?;
    let mut unknown = 0.0;
    for key in keys {
        match client.find("process-instances", &key.to_string()).await {
            Ok(_) => {}
            Err(error) if error.is_not_found() => unknown += 1.0,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(unknown)
}
