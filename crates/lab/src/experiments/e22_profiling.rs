//! E22: a CPU profile of a live broker.

use std::time::Duration;

use bench::Options;
use client::Protocol;

use super::parts::STANDARD_RATE;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::Limit;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E22",
    title: "Profiling in production",
    hypothesis: "One request to the management port gives a flame graph, and costs less than 32 MiB.",
    set_up: "One broker as it is shipped.",
    steady_state: "The standard load over REST.",
    action: "Three profiles of some seconds, one after the other.",
    measurement: "Flame graphs, growth of the resident memory meanwhile, latency beside the profile.",
    reference: "A profiler had to be copied into the container by hand.",
    seconds: (14, 50),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const GROWTH_MAX: f64 = 32.0 * 1024.0 * 1024.0;
/// A build with all its symbols has more to read.
const GROWTH_ANYWHERE_MAX: f64 = 128.0 * 1024.0 * 1024.0;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let server = lab.server(&[]).await?;
    lab.phase("steady load");
    let options = Options {
        rate: Some(STANDARD_RATE),
        duration: crate::load::UNTIL_ENDED,
        ..lab.load_options(&server, Protocol::Rest)
    };
    let load = lab.load("load", options);
    // Caches of the load are filled by then.
    lab.wait(Duration::from_secs(lab.pick(4, 20))).await;
    let before = server.resident_bytes();
    let mut most = before;
    let mut graphs = 0.0;
    lab.phase("profiles");
    for _ in 0..lab.pick(1, 3) {
        let seconds = lab.pick(2, 5);
        let path = format!("/actuator/profile?seconds={seconds}");
        let profile = server.manage("GET", &path, None);
        tokio::pin!(profile);
        let answer = loop {
            tokio::select! {
                answer = &mut profile => break answer?,
                () = tokio::time::sleep(Duration::from_millis(50)) => most = most.max(server.resident_bytes()),
            }
        };
        if answer.status == 200 && answer.body.contains("<svg") {
            graphs += 1.0;
        }
    }
    let wanted = f64::from(lab.pick(1_u8, 3));
    lab.expect("flame graphs", Unit::Count, Limit::Exactly(wanted), graphs);
    let limit = Limit::AtMost(lab.pick(GROWTH_ANYWHERE_MAX, GROWTH_MAX));
    lab.expect("growth at the most", Unit::Bytes, limit, most - before);
    let report = lab.end(load).await?;
    let refused: u64 = report.rejections.values().chain(report.failures.values()).sum();
    lab.expect("requests refused or failed", Unit::Count, Limit::Exactly(0.0), refused as f64);
    server.stop().await
}
