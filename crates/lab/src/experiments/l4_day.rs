//! L4: a day in ten minutes.

use std::time::Duration;

use bench::{Mix, Options, Schedule};
use client::Protocol;

use super::parts::nothing_is_lost;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, p99};
use crate::result::Limit;
use crate::server::Server;
use crate::unit::Unit;
use crate::until::until;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "L4",
    title: "A day in ten minutes",
    hypothesis: "A day with its morning, peaks, night and a restart loses nothing and needs nobody's attention.",
    set_up: "One broker; a mix of processes (one task, an order, ten tasks, a message), payloads of 200 bytes to 32 \
        KiB, workers that take up to 20 ms and fail one job of a hundred. `--day FILE` takes another schedule.",
    steady_state: "None: the load changes all the time.",
    action: "The load rises, has a peak and a burst, falls, and is low at night; the server is killed (SIGKILL) at \
        night and goes on with the next morning.",
    measurement: "Requests refused or failed, instances that do not end, jobs left, memory and latency.",
    reference: "",
    seconds: (24, 620),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const QUICK: &str = "10/s to 80/s over 3s, 80/s for 2s, burst 50, 80/s to 5/s over 2s, 5/s for 1s";
const FULL: &str = "5/s to 150/s over 90s, 150/s for 60s, 150/s to 60/s over 30s, 60/s to 250/s over 40s, burst 500, \
    250/s for 30s, 250/s to 5/s over 60s, 5/s for 60s";
const MEMORY_MAX: f64 = 400.0 * 1024.0 * 1024.0;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let day = match lab.day() {
        Some(day) => day,
        None => lab.schedule(QUICK, FULL)?,
    };
    let mut server = lab.server(&[]).await?;
    part(lab, &server, "the first day", &day).await?;
    let before = server.metrics().await?.jobs();
    let left = before.created - before.completed;
    lab.expect("jobs left at night", Unit::Count, Limit::Exactly(0.0), left);
    lab.fault("killed at night");
    server.kill_and_start().await?;
    lab.tell("time of the start", Unit::Seconds, server.ready_after.as_secs_f64());
    let morning = lab.schedule("20/s to 60/s over 3s", "5/s to 150/s over 60s, 150/s for 60s")?;
    part(lab, &server, "the next morning", &morning).await?;
    let most = server.resident_bytes();
    lab.expect("resident memory", Unit::Bytes, Limit::AtMost(MEMORY_MAX), most);
    server.stop().await
}

async fn part(lab: &mut Lab, server: &Server, name: &str, schedule: &Schedule) -> Result<(), LabError> {
    let options = Options {
        schedule: Some(schedule.clone()),
        mix: Some(Mix::parse("benchmark=6,order=2,ten-tasks=1,message=1").map_err(LabError::Environment)?),
        payload_sizes: Some(Mix::parse("200=17,2000=2,32768=1").map_err(LabError::Environment)?),
        worker_delay: Duration::ZERO,
        worker_delay_max: Some(Duration::from_millis(20)),
        worker_error_rate: 0.01,
        ..lab.load_options(server, Protocol::Rest)
    };
    let report = lab.measure(name, options).await?;
    lab.tell("instances", Unit::Count, report.created as f64);
    lab.tell("request latency, p99", Unit::Seconds, p99(report.request_latency.as_ref()));
    lab.tell("instance, p99", Unit::Seconds, p99(report.execution_latency.as_ref()));
    nothing_is_lost(lab, std::slice::from_ref(&report));
    let all = async || {
        server.metrics().await.is_ok_and(|metrics| {
            let jobs = metrics.jobs();
            jobs.completed >= jobs.created
        })
    };
    until(Duration::from_secs(30), all).await;
    let incidents = server.metrics().await?.sum("zeebe_pending_incidents_total");
    lab.expect("incidents", Unit::Count, Limit::Exactly(0.0), incidents);
    Ok(())
}
