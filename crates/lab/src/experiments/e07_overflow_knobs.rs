//! E7: the knobs of admission: how many requests are in work, how many wait, and what happens to more.

use bench::Options;
use client::Protocol;

use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, p99};
use crate::result::Limit;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E7",
    title: "Sweep of the knobs of admission",
    hypothesis: "The default needs no tuning: no other setting does much better, and none that waits refuses anything.",
    set_up: "A broker for each combination of flow_control.max_limit (cores × 4, 8, 16), flow_control.max_waiting (16, \
        64, 256), and flow_control.overflow (wait, reject), and one with the defaults.",
    steady_state: "Creations near saturation: 256 at a time over REST, in a closed loop.",
    action: "None; the knobs are the experiment.",
    measurement: "Creations a second, latency, and refusals of each.",
    reference: "Caller runs, cores × 8, queue of 64: 144/s at 21 to 25 ms; × 4: 52/s at 40 ms; × 16: 23/s at 38 ms; \
        queue of 16: 78/s at 28 ms; of 256: 80/s at 29 ms; an executor that rejects: mass rejections.",
    seconds: (16, 190),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

/// The best of the grid by the default.
const BEST_BY_DEFAULT_MAX: f64 = 1.25;
const AT_A_TIME: usize = 256;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let factors: &[usize] = lab.pick(&[8], &[4, 8, 16]);
    let queues: &[usize] = lab.pick(&[64], &[16, 64, 256]);
    let (default, refused) = one(lab, "default", &[]).await?;
    lab.expect("requests refused", Unit::Count, Limit::Exactly(0.0), refused);
    let mut best = 0.0_f64;
    for overflow in ["wait", "reject"] {
        for factor in factors {
            for queue in queues {
                let most = factor * cores;
                let settings = [
                    format!("flow_control.max_limit={most}"),
                    format!("flow_control.initial_limit={most}"),
                    format!("flow_control.max_waiting={queue}"),
                    format!("flow_control.overflow={overflow}"),
                ];
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                let name = format!("{overflow}, × {factor}, {queue}");
                let (rate, refused) = one(lab, &name, &settings).await?;
                best = best.max(rate);
                lab.tell("requests refused", Unit::Count, refused);
            }
        }
    }
    lab.phase("comparison");
    let ratio = best / default.max(1e-9);
    lab.expect_in_full("the best by the default", Unit::Ratio, Limit::AtMost(BEST_BY_DEFAULT_MAX), ratio);
    Ok(())
}

/// Creations a second, and refusals.
async fn one(lab: &mut Lab, name: &str, settings: &[&str]) -> Result<(f64, f64), LabError> {
    let server = lab.server(settings).await?;
    let options = Options {
        concurrency: AT_A_TIME,
        connections: Some(AT_A_TIME),
        no_workers: true,
        duration: lab.seconds(1.5, 6.0),
        warm_up: lab.seconds(0.5, 1.0),
        ..lab.load_options(&server, Protocol::Rest)
    };
    let report = lab.measure(name, options).await?;
    lab.tell("creations", Unit::PerSecond, report.created_per_second);
    lab.tell("request latency, p99", Unit::Seconds, p99(report.request_latency.as_ref()));
    let failed: u64 = report.failures.values().sum();
    lab.expect("requests failed", Unit::Count, Limit::Exactly(0.0), failed as f64);
    server.stop().await?;
    Ok((report.created_per_second, report.rejections.values().sum::<u64>() as f64))
}
