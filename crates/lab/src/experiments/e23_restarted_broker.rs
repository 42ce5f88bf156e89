//! E23: a broker of a cluster is killed under load.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bench::BENCHMARK_BPMN;
use client::{CreateInstance, Resource, RestClient, RestOptions};
use parking_lot::Mutex;

use super::parts::PROCESS;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::{Limit, PlotKind};
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E23",
    title: "Restarted broker under load",
    hypothesis: "No acknowledged command is lost, and the dip takes less than 5 s.",
    set_up: "Three brokers on this machine with one partition; creations over REST through a broker that is not killed.",
    steady_state: "50 creations a second are acknowledged.",
    action: "The leader is killed (SIGKILL), and started again.",
    measurement: "The longest time without an acknowledged creation, acknowledged instances that are not known \
        afterwards.",
    reference: "A change of the leader, then recovery.",
    seconds: (24, 70),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const PER_SECOND: u32 = 50;
const DIP_MAX: f64 = 5.0;
/// Longest dip on any machine, in seconds.
const DIP_ANYWHERE_MAX: f64 = 60.0;
const PATIENCE: Duration = Duration::from_secs(60);

/// Acknowledged instances, with the times of their answers.
type Acknowledged = Arc<Mutex<Vec<(Instant, i64)>>>;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let mut cluster = lab.cluster(3).await?;
    let leader = cluster.elected().await?;
    let through = (leader + 1) % 3;
    let options = RestOptions {
        address: format!("http://{}", cluster.rest(through)),
        request_timeout: PATIENCE,
        ..RestOptions::default()
    };
    let client = RestClient::new(options).map_err(|error| LabError::environment("make a client", error))?;
    let file = Resource { name: "benchmark.bpmn", content: BENCHMARK_BPMN.as_bytes() };
    client.deploy(&[file], None).await?;
    let acknowledged = Acknowledged::default();
    let load = tokio::spawn(create(client.clone(), Arc::clone(&acknowledged)));
    lab.phase("steady load");
    lab.wait(lab.seconds(3.0, 15.0)).await;
    lab.fault("leader killed");
    let killed = Instant::now();
    cluster.kill(leader)?;
    lab.wait(lab.seconds(8.0, 20.0)).await;
    lab.phase("it is started again");
    cluster.start_again(leader)?;
    lab.wait(lab.seconds(4.0, 20.0)).await;
    load.abort();
    let acknowledged = acknowledged.lock().clone();
    let mut times: Vec<Instant> = acknowledged.iter().map(|(time, _)| *time).collect();
    times.sort();
    let after = times.iter().filter(|time| **time > killed).count();
    let gap = times.windows(2).filter(|pair| pair[1] > killed).map(|pair| (pair[1] - pair[0]).as_secs_f64());
    let gap = if after == 0 { f64::INFINITY } else { gap.fold(0.0, f64::max) };
    lab.point(PlotKind::Latency, "longest time without an answer", gap.min(1e4) * 1000.0);
    let most = lab.pick(DIP_ANYWHERE_MAX, DIP_MAX);
    lab.expect("longest time without an answer", Unit::Seconds, Limit::AtMost(most), gap);
    lab.tell("creations acknowledged", Unit::Count, acknowledged.len() as f64);
    let mut unknown = 0.0;
    for (_, key) in &acknowledged {
        match client.find("process-instances", &key.to_string()).await {
            Ok(_) => {}
            Err(error) if error.is_not_found() => unknown += 1.0,
            Err(error) => return Err(error.into()),
        }
    }
    lab.expect_fact("acknowledged and lost", Unit::Count, Limit::Exactly(0.0), unknown);
    Ok(())
}

/// Creates until it is aborted.
async fn create(client: RestClient, acknowledged: Acknowledged) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / PER_SECOND);
    let mut requests = tokio::task::JoinSet::new();
    loop {
        ticks.tick().await;
        let (client, acknowledged) = (client.clone(), Arc::clone(&acknowledged));
        requests.spawn(async move {
            if let Ok(key) = client.create_instance_key(&CreateInstance::latest(PROCESS)).await {
                acknowledged.lock().push((Instant::now(), key));
            }
        });
        while requests.try_join_next().is_some() {}
    }
}
