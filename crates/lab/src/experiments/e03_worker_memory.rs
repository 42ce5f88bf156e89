//! E3: a worker with little memory and little CPU.

use std::time::{Duration, Instant};

use super::parts::{creations, every_job_is_done_once, knobs};
use crate::cpu_limit::CpuLimit;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::{Limit, PlotKind};
use crate::unit::Unit;
use crate::until::until;
use crate::watch::{cpu_seconds, resident_bytes};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E3",
    title: "Worker memory",
    hypothesis: "A worker holds a bounded window of jobs and waits: its memory is flat, and no job fails.",
    set_up: "One broker; a worker in a process of its own over REST with a job stream, jobs with 10 kB of variables. It \
        has half a core: by a control group where one may be made, else by pauses whenever it has used more. With \
        `--worker java` it is the Java client, whose heap LAB_JAVA_WORKER limits (-Xmx256m), with `--worker node` the \
        Node client.",
    steady_state: "150 instances a second, which are more than the worker can do for a while, and then less.",
    action: "Twice the load that the worker can do, then none.",
    measurement: "Jobs failed, growth of the worker's resident memory while its backlog grows, jobs left.",
    reference: "At 256 MiB and half a core a crash loop: a queue of requests overflows, and each overflow fails a job.",
    seconds: (20, 120),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const PAYLOAD_BYTES: usize = 10_000;
/// CPU of the worker.
const CORES: f64 = 0.5;
/// CPU is counted in steps.
const CORES_SLACK: f64 = 1.1;
const MIB: f64 = 1024.0 * 1024.0;
/// Growth of the worker while jobs gather at the server.
const GROWTH_MAX: f64 = 32.0 * MIB;
const MOST: f64 = 256.0 * MIB;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let server = lab.server(&[]).await?;
    // So many jobs it can do: three quarters of a hundred, or a hundred and fifty.
    let (threads, work) = lab.pick((8, 100), (16, 107));
    let knobs = knobs(&server, threads, (work, work), Duration::from_secs(10));
    let worker = lab.worker(&knobs).await?;
    let limit = CpuLimit::begin(worker.process(), CORES);
    lab.note(&format!("the worker has {}", limit.text()));
    lab.phase("begin");
    let rate = lab.pick(160.0, 300.0);
    let options = bench::Options { payload_bytes: Some(PAYLOAD_BYTES), ..creations(lab, &server, rate) };
    let load = lab.load("load", options);
    until(Duration::from_secs(60), async || worker.now().completed >= threads as f64 * 4.0).await;
    lab.wait(lab.seconds(1.0, 10.0)).await;
    lab.fault("more than it can do");
    let memory = || resident_bytes(worker.process()).unwrap_or(0.0);
    let before = memory();
    let (meanwhile, cpu_before) = (Instant::now(), cpu_seconds(worker.process()).unwrap_or(0.0));
    lab.wait(lab.seconds(5.0, 40.0)).await;
    let used = cpu_seconds(worker.process()).unwrap_or(0.0) - cpu_before;
    let cores = used / meanwhile.elapsed().as_secs_f64();
    let (after, backlog) = (memory(), server.metrics().await?.jobs());
    lab.end(load).await?;
    lab.point(PlotKind::Backlog, "jobs that wait", backlog.created - backlog.completed);
    lab.tell("jobs that waited", Unit::Count, backlog.created - backlog.completed);
    lab.expect("growth of the worker's memory", Unit::Bytes, Limit::AtMost(GROWTH_MAX), after - before);
    lab.expect("memory of the worker", Unit::Bytes, Limit::AtMost(MOST), after);
    let most = CORES * 100.0 * CORES_SLACK;
    lab.expect("CPU of the worker", Unit::Percent, Limit::AtMost(most), cores * 100.0);
    lab.phase("the rest is worked off");
    let all = async || {
        server.metrics().await.is_ok_and(|metrics| {
            let jobs = metrics.jobs();
            jobs.completed >= jobs.created
        })
    };
    until(lab.seconds(40.0, 150.0), all).await;
    let jobs = server.metrics().await?.jobs();
    lab.expect("jobs failed", Unit::Count, Limit::Exactly(0.0), jobs.failed);
    let refused = worker.now().refused + worker.now().failed;
    lab.expect("completions refused or failed", Unit::Count, Limit::Exactly(0.0), refused);
    every_job_is_done_once(lab, &server, 0).await?;
    drop((limit, worker));
    server.stop().await
}
