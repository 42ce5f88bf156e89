//! E13: the price of secondary storage.

use bench::Options;
use client::Protocol;

use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::Limit;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E13",
    title: "Exporter cost",
    hypothesis: "Secondary storage takes at most a tenth of the throughput.",
    set_up: "Two brokers that run in turns: one with the embedded secondary storage, one without any.",
    steady_state: "As many instances as go through, 64 at a time, over gRPC.",
    action: "Storage on against storage off, several turns.",
    measurement: "Instances a second and CPU for an instance, as ratios within this run.",
    reference: "25 % less throughput; only more CPU helped. Without secondary storage 1.7 times as much.",
    seconds: (14, 130),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

/// Throughput with storage by that without. The lab shares the cores, so this is of the machine.
const KEPT_MIN: f64 = 0.9;
const KEPT_ANYWHERE_MIN: f64 = 0.4;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let with = lab.server(&[]).await?;
    let without = lab.server(&["secondary_storage.kind=none"]).await?;
    let (mut rates_with, mut rates_without) = (Vec::new(), Vec::new());
    let (mut cpu_with, mut cpu_without) = (Vec::new(), Vec::new());
    for _ in 0..lab.pick(1, 3) {
        for (server, name, rates, cpus) in [
            (&without, "without storage", &mut rates_without, &mut cpu_without),
            (&with, "with storage", &mut rates_with, &mut cpu_with),
        ] {
            let options = Options { concurrency: 64, ..lab.load_options(server, Protocol::Grpc) };
            let report = lab.measure(name, options).await?;
            rates.push(report.completed_per_second);
            cpus.push(report.server.cpu_micros_per_instance.unwrap_or(f64::INFINITY) / 1e6);
        }
    }
    lab.phase("comparison");
    lab.tell_all("instances with storage", Unit::PerSecond, &rates_with);
    lab.tell_all("instances without storage", Unit::PerSecond, &rates_without);
    lab.tell_all("CPU for an instance with storage", Unit::Seconds, &cpu_with);
    lab.tell_all("CPU for an instance without storage", Unit::Seconds, &cpu_without);
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let kept = sum(&rates_with) / sum(&rates_without).max(1e-9);
    let least = lab.pick(KEPT_ANYWHERE_MIN, KEPT_MIN);
    lab.expect("throughput, with by without", Unit::Ratio, Limit::AtLeast(least), kept);
    lab.tell("CPU, with by without", Unit::Ratio, sum(&cpu_with) / sum(&cpu_without).max(1e-9));
    if kept < KEPT_MIN && !lab.is_quick() {
        lab.remark(
            "the broker and the load generator share the cores, so what storage takes of them is missing in \
            throughput; a core to spare would hide it",
        );
    }
    with.stop().await?;
    without.stop().await
}
