//! The language of experiments: servers, load, workers, phases, and figures with limits.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bench::{Options, Report};
use client::Protocol;

use crate::cluster::Cluster;
use crate::error::LabError;
use crate::load::Load;
use crate::peer::PeerPlace;
use crate::progress::Progress;
use crate::result::{ExperimentResult, Finding, Judgement, Limit, PhaseSpan, PlotKind, Published};
use crate::server::{Server, ServerPlan, command_line};
use crate::unit::Unit;
use crate::watch::{Curves, Watch, add};
use crate::worker::{Knobs, Worker, WorkerKind};

/// A load generator whose timers are later than this did not keep up.
const LAG_MAX_MICROS: u64 = 100_000;
/// Lag of a load generator in quick size, where several experiments share the machine with whatever else there is.
const LAG_MAX_QUICK_MICROS: u64 = 250_000;

/// How large experiments are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Size {
    /// Seconds, several at a time; only what does not depend on the machine is judged.
    Quick,
    /// As published, times a factor.
    Full(f64),
}

/// URLs of stores that run already.
#[derive(Debug, Clone, Default)]
pub(crate) struct StorePlaces {
    pub(crate) postgres: Option<String>,
    pub(crate) opensearch: Option<String>,
}

/// Everything that is the same for all experiments of a run.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    pub(crate) program: PathBuf,
    pub(crate) size: Size,
    pub(crate) worker: WorkerKind,
    pub(crate) directory: PathBuf,
    /// A schedule for the day in ten minutes.
    pub(crate) day: Option<bench::Schedule>,
    /// Another system to compare with.
    pub(crate) peer: Option<PeerPlace>,
    /// Stores beside the embedded one.
    pub(crate) stores: StorePlaces,
    /// Settings of every server.
    pub(crate) settings: Vec<String>,
    /// Further variables of every server's environment.
    pub(crate) environment: Vec<(String, String)>,
}

/// An experiment under way.
pub(crate) struct Lab {
    id: &'static str,
    surroundings: Arc<Surroundings>,
    directory: PathBuf,
    began: Instant,
    result: ExperimentResult,
    curves: Curves,
    watches: Vec<Watch>,
    progress: Arc<Progress>,
    servers: usize,
    workers: usize,
}

/// The figure of a row that ended early.
const COMES_TO_ITS_END: &str = "comes to its end";

impl Lab {
    /// Begins the experiment of an ID, in a directory of its own.
    pub(crate) fn open(
        id: &'static str,
        title: &str,
        surroundings: Arc<Surroundings>,
        progress: Arc<Progress>,
    ) -> Result<Self, LabError> {
        let directory = surroundings.directory.join(id);
        std::fs::create_dir_all(&directory)
            .map_err(|error| LabError::environment(&format!("make {}", directory.display()), error))?;
        let mut lab = Self {
            id,
            surroundings,
            directory,
            began: Instant::now(),
            result: ExperimentResult::new(id, title),
            curves: Curves::default(),
            watches: Vec::new(),
            progress,
            servers: 0,
            workers: 0,
        };
        lab.watches.push(Watch::process(
            "lab itself",
            std::process::id(),
            Arc::clone(&lab.curves),
            lab.began,
        ));
        Ok(lab)
    }

    /// Ends it with the outcome of its work. Fails only if nothing can be known here.
    pub(crate) fn close(mut self, outcome: Result<(), LabError>) -> Result<ExperimentResult, LabError> {
        self.watches.clear();
        self.end_phase();
        match outcome {
            Ok(()) => {}
            Err(error @ LabError::Environment(_)) => return Err(error),
            Err(LabError::System(reason)) => {
                self.expect(COMES_TO_ITS_END, Unit::Count, Limit::Exactly(1.0), 0.0);
                self.result.reason = Some(reason);
            }
            Err(LabError::Refused(reason)) => {
                self.expect_fact(COMES_TO_ITS_END, Unit::Count, Limit::Exactly(1.0), 0.0);
                self.result.reason = Some(reason);
            }
            Err(LabError::Impossible(reason)) => self.void(&reason),
        }
        self.result.seconds = self.began.elapsed().as_secs_f64();
        self.result.curves = std::mem::take(&mut *self.curves.lock());
        self.result.judge();
        Ok(self.result)
    }

    /// Whether this is the quick size.
    pub(crate) fn is_quick(&self) -> bool {
        self.surroundings.size == Size::Quick
    }

    /// A number by size.
    pub(crate) fn pick<T>(&self, quick: T, full: T) -> T {
        if self.is_quick() { quick } else { full }
    }

    /// A number of things by size; the full one is scaled down with the lengths, but not up.
    pub(crate) fn count(&self, quick: u32, full: u32) -> u32 {
        match self.surroundings.size {
            Size::Quick => quick,
            Size::Full(scale) => ((f64::from(full) * scale.min(1.0)) as u32).max(quick),
        }
    }

    /// A schedule by size; the full one is scaled.
    pub(crate) fn schedule(&self, quick: &str, full: &str) -> Result<bench::Schedule, LabError> {
        let schedule = bench::Schedule::parse(self.pick(quick, full)).map_err(LabError::Environment)?;
        Ok(match self.surroundings.size {
            Size::Quick => schedule,
            Size::Full(scale) => schedule.stretched(scale),
        })
    }

    /// A length by size; the full one is scaled.
    pub(crate) fn seconds(&self, quick: f64, full: f64) -> Duration {
        Duration::from_secs_f64(match self.surroundings.size {
            Size::Quick => quick,
            Size::Full(scale) => full * scale,
        })
    }

    /// The schedule that the user has given for the day in ten minutes.
    pub(crate) fn day(&self) -> Option<bench::Schedule> {
        self.surroundings.day.clone()
    }

    /// A variable of every server's environment, for faults that are planted.
    pub(crate) fn planted(&self, name: &str) -> Option<&str> {
        let found = self.surroundings.environment.iter().find(|(variable, _)| variable == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The system to compare with.
    pub(crate) fn peer(&self) -> Option<PeerPlace> {
        self.surroundings.peer.clone()
    }

    /// Stores beside the embedded one.
    pub(crate) fn store_places(&self) -> StorePlaces {
        self.surroundings.stores.clone()
    }

    /// The directory of this experiment's files.
    pub(crate) fn directory(&self) -> &std::path::Path {
        &self.directory
    }

    /// A phase begins, and the one before ends.
    pub(crate) fn phase(&mut self, name: &str) {
        self.open_phase(name, false);
    }

    /// A phase begins in which something is wrong with the system or its surroundings.
    pub(crate) fn fault(&mut self, name: &str) {
        self.open_phase(name, true);
    }

    fn open_phase(&mut self, name: &str, is_fault: bool) {
        self.end_phase();
        let from = self.began.elapsed().as_secs_f64();
        self.result.phases.push(PhaseSpan { name: name.to_owned(), from, to: f64::INFINITY, is_fault });
        self.progress.phase(self.id, name);
    }

    fn end_phase(&mut self) {
        let now = self.began.elapsed().as_secs_f64();
        if let Some(phase) = self.result.phases.last_mut()
            && phase.to.is_infinite()
        {
            phase.to = now;
        }
    }

    /// Lets time pass.
    pub(crate) async fn wait(&self, length: Duration) {
        tokio::time::sleep(length).await;
    }

    /// Starts a server with these settings, on an empty directory and on ports that are free.
    pub(crate) async fn server(&mut self, settings: &[&str]) -> Result<Server, LabError> {
        self.server_with(settings, &[]).await
    }

    /// Starts a server with these settings and variables of its environment.
    pub(crate) async fn server_with(
        &mut self,
        settings: &[&str],
        environment: &[(String, String)],
    ) -> Result<Server, LabError> {
        self.servers += 1;
        let name = if self.servers == 1 { "server".to_owned() } else { format!("server {}", self.servers) };
        let mut all = self.surroundings.settings.clone();
        all.extend(settings.iter().map(|setting| (*setting).to_owned()));
        let mut variables = self.surroundings.environment.clone();
        variables.extend_from_slice(environment);
        let plan = ServerPlan {
            program: self.surroundings.program.clone(),
            settings: all,
            environment: variables,
            log: self.directory.join(format!("{}.log", name.replace(' ', "-"))),
        };
        self.result.started.push(command_line(&plan));
        let server = Server::start(plan, self.scratch()?).await?;
        self.watches.push(Watch::server(&name, server.site(), Arc::clone(&self.curves), self.began));
        Ok(server)
    }

    /// Starts a cluster of brokers on an empty directory and on ports that are free.
    pub(crate) async fn cluster(&mut self, brokers: u16) -> Result<Cluster, LabError> {
        let program = self.surroundings.program.clone();
        self.result.started.push(format!("{} dev-cluster {brokers}", program.display()));
        let cluster = Cluster::start(&program, brokers, self.scratch()?).await?;
        for broker in 0..brokers {
            if let Some(process) = cluster.process(broker) {
                let name = format!("broker {broker}");
                self.watches.push(Watch::process(&name, process, Arc::clone(&self.curves), self.began));
            }
        }
        Ok(cluster)
    }

    /// A directory that is removed in the end.
    pub(crate) fn scratch(&self) -> Result<tempfile::TempDir, LabError> {
        tempfile::tempdir_in(&self.directory)
            .map_err(|error| LabError::environment(&format!("write to {}", self.directory.display()), error))
    }

    /// A worker in a process of its own.
    pub(crate) async fn worker(&mut self, knobs: &Knobs) -> Result<Worker, LabError> {
        self.workers += 1;
        let worker = Worker::start(&self.surroundings.worker, knobs)?;
        let name = format!("worker {}", self.workers);
        self.watches.push(Watch::process(&name, worker.process(), Arc::clone(&self.curves), self.began));
        worker.up().await?;
        Ok(worker)
    }

    /// Options of load on a server: open loop, nothing deployed yet, no progress of its own.
    pub(crate) fn load_options(&self, server: &Server, protocol: Protocol) -> Options {
        self.load_options_at(|name| server.address(name).to_owned(), protocol)
    }

    /// Options of load on a broker of a cluster: open loop, nothing deployed yet, no progress of its own.
    pub(crate) fn cluster_load_options(&self, cluster: &Cluster, broker: u16, protocol: Protocol) -> Options {
        self.load_options_at(|name| cluster.address(broker, name), protocol)
    }

    fn load_options_at(&self, address: impl Fn(&str) -> String, protocol: Protocol) -> Options {
        let url = |name| format!("http://{}", address(name));
        Options {
            rest_address: url("rest"),
            grpc_address: url("grpc"),
            management_address: url("management"),
            protocol,
            warm_up: self.seconds(0.5, 3.0),
            duration: self.seconds(3.0, 20.0),
            no_progress: true,
            ..Options::default()
        }
    }

    /// Runs load to its end, and keeps what comes of it.
    pub(crate) async fn measure(&mut self, title: &str, options: Options) -> Result<Report, LabError> {
        self.phase(title);
        let load = self.load(title, options);
        self.finish(load).await
    }

    /// Begins load that is ended later.
    pub(crate) fn load(&self, title: &str, options: Options) -> Load {
        Load::start(Options { title: Some(title.to_owned()), ..options })
    }

    /// Ends load, and keeps what comes of it.
    pub(crate) async fn end(&mut self, load: Load) -> Result<Report, LabError> {
        let began = load.began;
        let report = load.end().await?;
        self.keep(&report, began);
        Ok(report)
    }

    /// Waits until the time of load is over, and keeps what comes of it.
    pub(crate) async fn finish(&mut self, load: Load) -> Result<Report, LabError> {
        let began = load.began;
        let report = load.finish().await?;
        self.keep(&report, began);
        Ok(report)
    }

    fn keep(&mut self, report: &Report, began: Instant) {
        let offset = (began - self.began).as_secs_f64();
        let several = !self.result.reports.is_empty();
        let named = |what: &str| if several { format!("{}: {what}", report.title) } else { what.to_owned() };
        for row in &report.series {
            let at = offset + row.second;
            let tell = |plot, what: &str, value| add(&self.curves, plot, &named(what), at, value);
            tell(PlotKind::Rate, "instances started", row.created_per_second);
            tell(PlotKind::Rate, "instances ended", row.completed_per_second);
            let millis = |micros: Option<u64>| micros.map(|micros| micros as f64 / 1000.0);
            if let Some(value) = millis(row.request_p50_micros) {
                tell(PlotKind::Latency, "request p50", value);
            }
            if let Some(value) = millis(row.request_p99_micros) {
                tell(PlotKind::Latency, "request p99", value);
            }
            if let Some(value) = millis(row.execution_p99_micros) {
                tell(PlotKind::Latency, "instance p99", value);
            }
        }
        let lag_max = if self.is_quick() { LAG_MAX_QUICK_MICROS } else { LAG_MAX_MICROS };
        let lag = report.generator_lag_p99_micros.unwrap_or(0);
        if lag > lag_max {
            self.void(&format!(
                "the load generator did not keep up: its own timers were {} late (p99)",
                bench::micros(lag as f64)
            ));
        }
        self.result.reports.push(report.clone());
    }

    /// A worker that did not get to run makes the row void: it reports ten times a second.
    pub(crate) fn keeps_up(&mut self, worker: &Worker, since: Instant) {
        const PAUSE_MAX: Duration = Duration::from_millis(350);
        let pause = worker.pause(since, Instant::now());
        if pause > PAUSE_MAX {
            let late = bench::micros(pause.as_secs_f64() * 1e6);
            self.void(&format!("a worker did not keep up: its reports were {late} apart instead of 100 ms"));
        }
    }

    /// The published figure as a line in a plot.
    pub(crate) fn published(&mut self, plot: PlotKind, name: &str, value: f64) {
        self.result.published.push(Published { plot, name: name.to_owned(), value });
    }

    /// A value over time.
    pub(crate) fn point(&self, plot: PlotKind, name: &str, value: f64) {
        add(&self.curves, plot, name, self.began.elapsed().as_secs_f64(), value);
    }

    /// A condition under which the figures came about.
    pub(crate) fn note(&mut self, text: &str) {
        self.result.notes.push(text.to_owned());
    }

    /// Something to know beside the figures.
    pub(crate) fn remark(&mut self, text: &str) {
        self.result.reason = Some(text.to_owned());
    }

    /// Nothing is known of this row, since it was not measured as it must be.
    pub(crate) fn void(&mut self, reason: &str) {
        self.result.judgement = Judgement::Void;
        self.result.reason = Some(reason.to_owned());
    }

    /// A figure that is expected on every machine and in every size.
    pub(crate) fn expect(&mut self, figure: &str, unit: Unit, limit: Limit, value: f64) {
        self.find(figure, unit, limit, value, true);
    }

    /// A figure that no slowness of the machine explains, such as things lost or doubled; a miss always counts.
    pub(crate) fn expect_fact(&mut self, figure: &str, unit: Unit, limit: Limit, value: f64) {
        self.find(figure, unit, limit, value, true);
        if let Some(finding) = self.result.findings.last_mut() {
            finding.stands = true;
        }
    }

    /// A figure that depends on the machine: judged in full size only.
    pub(crate) fn expect_in_full(&mut self, figure: &str, unit: Unit, limit: Limit, value: f64) {
        self.find(figure, unit, limit, value, !self.is_quick());
    }

    /// A figure to know.
    pub(crate) fn tell(&mut self, figure: &str, unit: Unit, value: f64) {
        self.find(figure, unit, Limit::None, value, false);
    }

    /// A figure to know, with the smallest and the largest of its measurements; the value is the middle one.
    pub(crate) fn tell_all(&mut self, figure: &str, unit: Unit, values: &[f64]) {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let Some(middle) = sorted.get(sorted.len() / 2).copied() else { return };
        self.tell(figure, unit, middle);
        if let Some(finding) = self.result.findings.last_mut() {
            finding.spread = Some((sorted[0], sorted[sorted.len() - 1]));
        }
    }

    fn find(&mut self, figure: &str, unit: Unit, limit: Limit, value: f64, is_judged: bool) {
        let judgement = match (is_judged && limit != Limit::None, limit.holds(value)) {
            (false, _) => Judgement::Noted,
            (true, true) => Judgement::Held,
            (true, false) => Judgement::Missed,
        };
        let phase = self.result.phases.last().map(|phase| phase.name.clone()).unwrap_or_default();
        let figure = figure.to_owned();
        let actual = value.is_finite().then_some(value);
        self.result.findings.push(Finding {
            phase,
            figure,
            unit,
            limit,
            actual,
            spread: None,
            judgement,
            stands: false,
        });
    }
}

/// Seconds of a length; none is never.
pub(crate) fn seconds_of(length: Option<Duration>) -> f64 {
    length.map_or(f64::INFINITY, |length| length.as_secs_f64())
}

/// A latency's quantile in seconds.
pub(crate) fn p99(latency: Option<&bench::Latency>) -> f64 {
    latency.map_or(f64::INFINITY, |latency| latency.p99_micros as f64 / 1e6)
}

/// The middle of a latency in seconds.
pub(crate) fn p50(latency: Option<&bench::Latency>) -> f64 {
    latency.map_or(f64::INFINITY, |latency| latency.p50_micros as f64 / 1e6)
}
