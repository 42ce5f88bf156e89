//! E14: the time from a creation until a search finds it.

use std::time::{Duration, Instant};

use bench::{BENCHMARK_BPMN, Options};
use client::{CreateInstance, Protocol, Resource};
use serde_json::json;

use super::parts::{PROCESS, STANDARD_RATE};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::{Limit, PlotKind};
use crate::server::Server;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E14",
    title: "Data availability",
    hypothesis: "Acknowledged instances are found within a quarter of a second at the sustained maximum. A search that \
        does not ask for fresh data finds them within two seconds.",
    set_up: "One broker with the embedded secondary storage as it is shipped, and one whose searches do not ask for \
        fresh data (secondary_storage.fresh_timeout=0s).",
    steady_state: "The standard load, and then as much as goes through.",
    action: "A probe creates an instance ten times a second and asks the search for it until it is found.",
    measurement: "The time from the answer to the creation until the search finds it.",
    reference: "3.7 to 5.7 s at low load, 90 to 390 s at the maximum rate.",
    seconds: (20, 110),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const P99_MAX: f64 = 0.25;
/// The usual write of the store comes once a second.
const LAZY_P99_MAX: f64 = 2.0;
/// An instance that is not found after so long never is.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pause between two questions of the probe.
const ASK_PACE: Duration = Duration::from_millis(3);
/// Limit of the 99th percentile on any machine, in seconds.
const P99_ANYWHERE_MAX: f64 = 10.0;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let shipped = lab.server(&[]).await?;
    let lazy = lab.server(&["secondary_storage.fresh_timeout=0s"]).await?;
    let file = [Resource { name: "benchmark.bpmn", content: BENCHMARK_BPMN.as_bytes() }];
    for server in [&shipped, &lazy] {
        server.client()?.deploy(&file, None).await?;
    }
    lab.published(PlotKind::Latency, "at low load", 3_700.0);
    for (server, name, rate, figure, p99_max) in [
        (&shipped, "standard load", Some(STANDARD_RATE), "time until found, p99", P99_MAX),
        (&shipped, "as much as goes through", None, "time until found at the maximum, p99", P99_MAX),
        (
            &lazy,
            "standard load, no fresh data",
            Some(STANDARD_RATE),
            "time until found lazily, p99",
            LAZY_P99_MAX,
        ),
    ] {
        lab.phase(name);
        let options = Options {
            rate,
            no_deploy: true,
            duration: crate::load::UNTIL_ENDED,
            ..lab.load_options(server, Protocol::Grpc)
        };
        let load = lab.load(name, options);
        lab.wait(lab.seconds(1.0, 5.0)).await;
        let times = probe(lab, server).await?;
        let report = lab.end(load).await?;
        lab.tell("instances ended", Unit::PerSecond, report.completed_per_second);
        let lost = times.iter().filter(|time| time.is_infinite()).count() as f64;
        lab.expect_fact("acknowledged and never found", Unit::Count, Limit::Exactly(0.0), lost);
        let p99 = quantile(&times, 0.99);
        lab.tell("time until found, p50", Unit::Seconds, quantile(&times, 0.5));
        let most = lab.pick(P99_ANYWHERE_MAX, p99_max);
        lab.expect(figure, Unit::Seconds, Limit::AtMost(most), p99);
    }
    shipped.stop().await?;
    lazy.stop().await
}

fn quantile(times: &[f64], at: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = ((sorted.len() as f64 * at).ceil() as usize).saturating_sub(1);
    sorted.get(place).copied().unwrap_or(f64::INFINITY)
}

async fn probe(lab: &Lab, server: &Server) -> Result<Vec<f64>, LabError> {
    let client = server.client()?;
    let end = Instant::now() + lab.seconds(3.0, 20.0);
    let mut times = Vec::new();
    while Instant::now() < end {
        let key = client.create_instance_key(&CreateInstance::latest(PROCESS)).await?;
        let filter = json!({ "filter": { "processInstanceKey": key.to_string() } }).to_string();
        let created = Instant::now();
        let text = format!("\"{key}\"");
        let mut time = f64::INFINITY;
        while created.elapsed() < PATIENCE {
            let found = client.search("process-instances", &filter).await;
            if found.is_ok_and(|found| found.json.contains(&text)) {
                time = created.elapsed().as_secs_f64();
                break;
            }
            tokio::time::sleep(ASK_PACE).await;
        }
        times.push(time);
        lab.point(PlotKind::Latency, "until found", time.min(PATIENCE.as_secs_f64()) * 1000.0);
        if time.is_infinite() {
            // More of them tell nothing more.
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(times)
}
