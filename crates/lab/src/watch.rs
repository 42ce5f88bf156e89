//! Observation of processes once a second: CPU and memory as the kernel tells them, and the metrics that an operator
//! would look at.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bench::{Probe, Spent};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::http::ask;
use crate::metrics::Metrics;
use crate::result::{Curve, PlotKind};

/// Time between two looks.
const PACE: Duration = Duration::from_secs(1);
const MIB: f64 = 1024.0 * 1024.0;

/// A server, in one of its lives.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) process: u32,
    pub(crate) management: String,
}

/// Curves that grow.
pub(crate) type Curves = Arc<Mutex<Vec<Curve>>>;

/// Adds a value to a curve, which is made when there is none yet.
pub(crate) fn add(curves: &Curves, plot: PlotKind, name: &str, at: f64, value: f64) {
    let mut curves = curves.lock();
    let found = curves.iter_mut().find(|curve| curve.plot == plot && curve.name == name);
    match found {
        Some(curve) => curve.points.push((at, value)),
        None => curves.push(Curve { plot, name: name.to_owned(), points: vec![(at, value)] }),
    }
}

/// A task that looks until it is dropped.
pub(crate) struct Watch(JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watch {
    /// Of a server, through all its lives.
    pub(crate) fn server(name: &str, site: Arc<Mutex<Option<Site>>>, curves: Curves, began: Instant) -> Self {
        let name = name.to_owned();
        Self(tokio::spawn(async move {
            let mut ticks = tokio::time::interval(PACE);
            let mut last: Option<(u32, Instant, Looked)> = None;
            loop {
                ticks.tick().await;
                let Some(now) = site.lock().clone() else { continue };
                let Some(looked) = Looked::at(&now).await else { continue };
                let (at, since) = (began.elapsed().as_secs_f64(), Instant::now());
                if let Some((process, before, earlier)) = &last
                    && *process == now.process
                {
                    let seconds = (since - *before).as_secs_f64();
                    looked.tell(&name, earlier, at, seconds, &curves);
                }
                last = Some((now.process, since, looked));
            }
        }))
    }

    /// CPU and memory of any other process.
    pub(crate) fn process(name: &str, process: u32, curves: Curves, began: Instant) -> Self {
        let name = name.to_owned();
        Self(tokio::spawn(async move {
            let mut ticks = tokio::time::interval(PACE);
            let mut last: Option<(Instant, f64)> = None;
            loop {
                ticks.tick().await;
                let Spent { cpu_seconds: Some(cpu), resident_bytes: Some(memory), .. } =
                    Probe::of_process(process)
                else {
                    return;
                };
                let (at, now) = (began.elapsed().as_secs_f64(), Instant::now());
                if let Some((before, earlier)) = last {
                    let percent = (cpu - earlier) / (now - before).as_secs_f64() * 100.0;
                    add(&curves, PlotKind::Cpu, &name, at, percent);
                    add(&curves, PlotKind::Memory, &name, at, memory / MIB);
                }
                last = Some((now, cpu));
            }
        }))
    }
}

/// One look at a server.
struct Looked {
    cpu_seconds: f64,
    resident_bytes: f64,
    exporter_backlog: f64,
    jobs_waiting: f64,
    refused: f64,
    rejected: f64,
    completed: f64,
}

impl Looked {
    async fn at(site: &Site) -> Option<Self> {
        let metrics = Metrics(ask(&site.management, "GET", "/actuator/prometheus", None).await.ok()?.body);
        let spent = Probe::of_process(site.process);
        let completed = metrics.job_events("completed");
        Some(Self {
            cpu_seconds: spent.cpu_seconds?,
            resident_bytes: spent.resident_bytes?,
            exporter_backlog: metrics.sum("baton_exporter_backlog_records"),
            jobs_waiting: (metrics.job_events("created") - completed - metrics.job_events("canceled"))
                .max(0.0),
            refused: metrics.sum("baton_refused_commands_total"),
            rejected: metrics.sum("baton_rejected_commands_total"),
            completed,
        })
    }

    fn tell(&self, name: &str, earlier: &Self, at: f64, seconds: f64, curves: &Curves) {
        let rate = |now: f64, before: f64| (now - before) / seconds;
        let named = |what: &str| if name == "server" { what.to_owned() } else { format!("{name}: {what}") };
        let tell = |plot, what: &str, value| add(curves, plot, what, at, value);
        tell(PlotKind::Cpu, name, rate(self.cpu_seconds, earlier.cpu_seconds) * 100.0);
        tell(PlotKind::Memory, name, self.resident_bytes / MIB);
        tell(PlotKind::Backlog, &named("records that wait for exporters"), self.exporter_backlog);
        tell(PlotKind::Backlog, &named("jobs that are not done"), self.jobs_waiting);
        tell(PlotKind::Rate, &named("jobs completed"), rate(self.completed, earlier.completed));
        tell(PlotKind::Rejections, &named("not taken on"), rate(self.refused, earlier.refused));
        tell(PlotKind::Rejections, &named("rejected"), rate(self.rejected, earlier.rejected));
    }
}

/// CPU that a process has used so far.
pub(crate) fn cpu_seconds(process: u32) -> Option<f64> {
    Probe::of_process(process).cpu_seconds
}

/// Resident memory of a process.
pub(crate) fn resident_bytes(process: u32) -> Option<f64> {
    Probe::of_process(process).resident_bytes
}
