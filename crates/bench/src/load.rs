//! Runs one measurement: starters, workers, and the clock that cuts it into warm-up, window and end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use client::{
    Client, GrpcClient, GrpcOptions, JobWorker, Protocol, Resource, RestClient, RestOptions, Transport,
    WorkerHandle, WorkerOptions,
};
use tokio::sync::Semaphore;

use crate::bar::Bar;
use crate::{
    Error, Options, WorkerTransport,
    cost::{Probe, Spent, own_cpu_seconds},
    creation::{Creation, LaneWork},
    jobs::Completer,
    lag::Lag,
    pace::Pace,
    record::{Counts, Recorder},
    report::{Report, Second, ServerCost, Setup},
    track::Tracker,
};

const SECOND: Duration = Duration::from_secs(1);
/// The end waits for instances that are under way until none has ended for so long.
const DRAIN_MAX: Duration = Duration::from_secs(10);
/// It waits at most so long in all.
const DRAIN_ALL_MAX: Duration = Duration::from_mins(2);
const DRAIN_STEP: Duration = Duration::from_millis(20);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs one measurement as `options` say. Writes the files that they name; prints nothing but the progress bar.
///
/// Must run on a tokio runtime with more than one thread for high rates; two suffice.
pub async fn run(options: &Options) -> Result<Report, Error> {
    run_until(options, &AtomicBool::new(false)).await
}

/// Runs one measurement like [`run`], and ends it early once `stop` is set.
pub async fn run_until(options: &Options, stop: &AtomicBool) -> Result<Report, Error> {
    let probe =
        Probe::management(&options.management_address).map_err(Error::request("management address"))?;
    run_with(options, &probe, stop).await
}

pub(crate) async fn run_with(options: &Options, probe: &Probe, stop: &AtomicBool) -> Result<Report, Error> {
    // In a closed loop with workers, an instance leaves its place when it ends, not when its creation is answered.
    let closed = options.starts().is_none() && !options.no_workers;
    let room = closed.then(|| Arc::new(Semaphore::new(options.concurrency.max(1))));
    let creation = Arc::new(Creation::of(options, room.clone())?);
    let starter = connect(options, options.concurrency)?;
    if !options.no_deploy {
        deploy(options, &starter, &creation).await?;
    }
    let recorder = Arc::new(Recorder::new());
    let tracker = Arc::new(Tracker::new(Arc::clone(&recorder), room));
    let workers = start_workers(options, &creation, &tracker)?;

    let mut run = Run {
        options,
        probe,
        stop,
        pace: Pace::new(options.starts(), options.instances),
        recorder,
        tracker,
        bar: Bar::new(!options.no_progress),
        series: Vec::new(),
        begin: Instant::now(),
    };
    let setup = setup(options, &creation);
    let lag = Lag::watch();
    let (measured, lanes) = run.measure(&starter, &creation).await;
    let lag_p99 = lag.end().await;
    for lane in lanes {
        // A lane ends after its request; a panic in one has been printed already.
        let _ = lane.await;
    }
    if !options.no_workers {
        run.drain().await;
    }
    for worker in workers {
        worker.stop().await;
    }
    run.bar.clear();
    let mut report = run.report(setup, &measured);
    report.generator_lag_p99_micros = lag_p99;
    write_files(options, &report)?;
    Ok(report)
}

async fn deploy(options: &Options, starter: &Client, creation: &Creation) -> Result<(), Error> {
    for process in creation.processes.choices() {
        let file = Resource { name: &process.model.file_name, content: process.model.xml.as_bytes() };
        let tenants: Vec<Option<&str>> = match &options.tenants {
            Some(tenants) => tenants.choices().map(|tenant| Some(tenant.as_str())).collect(),
            None => vec![None],
        };
        for tenant in tenants {
            starter.deploy(&[file], tenant).await.map_err(Error::request("deploy the process"))?;
        }
    }
    Ok(())
}

/// A client of the chosen protocol with room for `in_flight` requests.
fn connect(options: &Options, in_flight: usize) -> Result<Client, Error> {
    let connections = options.connections(in_flight);
    let client = match options.protocol {
        Protocol::Rest => RestClient::new(RestOptions {
            address: options.rest_address.clone(),
            connections,
            request_timeout: REQUEST_TIMEOUT,
            authorization: options.authorization.clone(),
            ..RestOptions::default()
        })
        .map(Client::Rest),
        Protocol::Grpc => grpc(options, connections, in_flight).map(Client::Grpc),
    };
    client.map_err(Error::request("connect"))
}

fn grpc(options: &Options, connections: usize, window: usize) -> Result<GrpcClient, client::Error> {
    GrpcClient::new(GrpcOptions {
        address: options.grpc_address.clone(),
        connections,
        window,
        request_timeout: REQUEST_TIMEOUT,
        authorization: options.authorization.clone(),
        ..GrpcOptions::default()
    })
}

fn start_workers(
    options: &Options,
    creation: &Creation,
    tracker: &Arc<Tracker>,
) -> Result<Vec<WorkerHandle>, Error> {
    let mut workers = Vec::new();
    if options.no_workers {
        return Ok(workers);
    }
    let reporter = connect(options, options.worker_capacity)?;
    let streams = grpc(options, 1, 1).map_err(Error::request("connect"))?;
    let tenants = options.tenants.iter().flat_map(|tenants| tenants.choices().cloned());
    let tenants: Vec<String> = tenants.collect();
    for job in creation.jobs() {
        for _ in 0..options.workers.max(1) {
            let settings = WorkerOptions {
                name: "baton-bench".to_owned(),
                capacity: options.worker_capacity,
                timeout: options.job_timeout,
                tenant_ids: tenants.clone(),
                // Fetching one that is not there keeps the documents at home.
                fetch_variables: if options.no_fetch {
                    vec!["baton-bench-none".to_owned()]
                } else {
                    Vec::new()
                },
                transport: match options.worker_transport {
                    WorkerTransport::Poll => Transport::Poll,
                    WorkerTransport::Stream => Transport::Stream(streams.clone()),
                },
                ..WorkerOptions::new(job.name.clone())
            };
            let handler = Completer::new(options, tracker, job.result);
            workers.push(JobWorker::new(reporter.clone(), settings, handler).start());
        }
    }
    Ok(workers)
}

fn setup(options: &Options, creation: &Creation) -> Setup {
    let load = match (options.shape(), options.rate) {
        (Some(shape), _) => format!("open loop, {}", shape.text()),
        (None, Some(rate)) => format!("open loop, {rate}/s"),
        (None, None) => format!("closed loop, {} at a time", options.concurrency),
    };
    let workers = if options.no_workers {
        Setup::NO_WORKERS.to_owned()
    } else {
        let transport = match options.worker_transport {
            WorkerTransport::Poll => "poll",
            WorkerTransport::Stream => "stream",
        };
        let mut delay = options.worker_delay.as_millis().to_string();
        if options.longest_work() > options.worker_delay {
            delay += &format!(" to {}", options.longest_work().as_millis());
        }
        let failed = match options.worker_error_rate {
            rate if rate > 0.0 => format!(", {} % fail", rate * 100.0),
            _ => String::new(),
        };
        let capacity = options.worker_capacity * options.workers.max(1);
        format!("{transport}, capacity {capacity}, delay {delay} ms{failed}")
    };
    Setup {
        protocol: options.protocol.to_string(),
        process: creation.processes.to_string(),
        load,
        workers,
        payload_bytes: creation.payload_bytes(),
        connections: options.connections(options.concurrency),
        measured_ms: options.duration().as_millis() as u64,
        warm_up_ms: options.warm_up().as_millis() as u64,
    }
}

/// A measurement under way.
struct Run<'a> {
    options: &'a Options,
    probe: &'a Probe,
    stop: &'a AtomicBool,
    pace: Pace,
    recorder: Arc<Recorder>,
    tracker: Arc<Tracker>,
    bar: Bar,
    series: Vec<Second>,
    begin: Instant,
}

/// Readings at both ends of the measured window.
struct Measured {
    length: Duration,
    counts: (Counts, Counts),
    spent: (Spent, Spent),
    own_cpu_seconds: (Option<f64>, Option<f64>),
}

type Lane = tokio::task::JoinHandle<()>;

impl Run<'_> {
    /// As many tasks as requests may be in flight; each makes one after the other, and none is spawned per request.
    fn start_lanes(&mut self, starter: &Client, creation: &Arc<Creation>) -> Vec<Lane> {
        self.pace.start();
        self.begin = Instant::now();
        let lane = |_| {
            let work = LaneWork {
                pace: self.pace.clone(),
                recorder: Arc::clone(&self.recorder),
                tracker: Arc::clone(&self.tracker),
                starter: starter.clone(),
                creation: Arc::clone(creation),
                closed: self.options.starts().is_none(),
                follow: !self.options.no_workers,
            };
            tokio::spawn(work.run())
        };
        (0..lanes(self.options).max(1)).map(lane).collect()
    }

    /// Warm-up, then the measured window.
    async fn measure(&mut self, starter: &Client, creation: &Arc<Creation>) -> (Measured, Vec<Lane>) {
        let mut before = Counts::default();
        let mut lanes = Vec::new();
        let warm_up = self.options.warm_up();
        if !warm_up.is_zero() {
            lanes = self.start_lanes(starter, creation);
            self.pass("warming up", warm_up, &lanes, &mut before).await;
        }
        let spent = self.probe.read().await;
        let own_cpu = own_cpu_seconds();
        self.recorder.open_window();
        let (from, counts) = (Instant::now(), self.recorder.counts());
        // Without a warm-up every request counts, the first included.
        if warm_up.is_zero() {
            lanes = self.start_lanes(starter, creation);
        }
        // A run that ends by count has no other end.
        let length = if self.options.instances.is_some() { Duration::MAX } else { self.options.duration() };
        self.pass("measuring", length, &lanes, &mut before).await;
        let measured = Measured {
            length: from.elapsed(),
            counts: (counts, self.recorder.counts()),
            own_cpu_seconds: (own_cpu, own_cpu_seconds()),
            spent: (spent, self.probe.read().await),
        };
        self.recorder.close_window();
        self.pace.stop();
        // Lanes that wait for room in a closed loop find that it is over.
        self.tracker.give_room(lanes.len());
        (measured, lanes)
    }

    /// Lets `length` pass, closing a row of the series each second. Ends early when all lanes have ended.
    async fn pass(&mut self, what: &'static str, length: Duration, lanes: &[Lane], before: &mut Counts) {
        let from = Instant::now();
        let mut last = from;
        while from.elapsed() < length && !lanes.iter().all(Lane::is_finished) && !self.is_stopped() {
            let left = length.saturating_sub(from.elapsed());
            tokio::time::sleep(left.min(SECOND.saturating_sub(last.elapsed())).min(DRAIN_STEP * 5)).await;
            let done = from.elapsed() >= length || lanes.iter().all(Lane::is_finished) || self.is_stopped();
            if last.elapsed() < SECOND && !done {
                continue;
            }
            let (now, counts) = (Instant::now(), self.recorder.counts());
            // A remainder too short to be a second would make a spike in the plots.
            if now - last > SECOND / 2 {
                let row = self.recorder.second((now - self.begin).as_secs_f64(), now - last, *before, counts);
                self.show(what, length, from, &row);
                self.series.push(row);
                *before = counts;
                last = now;
            }
            self.tracker.sweep(now);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn show(&mut self, what: &'static str, length: Duration, from: Instant, row: &Second) {
        let done = match self.options.instances {
            Some(instances) => self.recorder.counts().created as f64 / instances.max(1) as f64,
            None => from.elapsed().as_secs_f64() / length.as_secs_f64(),
        };
        self.bar.reach(done);
        let p99 = row.request_p99_micros.map_or(0.0, |micros| micros as f64 / 1000.0);
        self.bar.print(&format!(
            "{what}: {:.0}/s started, {:.0}/s ended, {:.0}/s failed, request p99 {p99:.1} ms",
            row.created_per_second, row.completed_per_second, row.failed_per_second
        ));
    }

    /// Waits for instances that are under way, so that the slowest are not left out of the latencies.
    async fn drain(&self) {
        let patience = DRAIN_MAX + self.options.longest_work();
        let (began, mut since, mut least) = (Instant::now(), Instant::now(), self.tracker.under_way());
        while least > 0 && since.elapsed() < patience && began.elapsed() < DRAIN_ALL_MAX {
            let left = self.tracker.under_way();
            if left < least {
                (least, since) = (left, Instant::now());
            }
            self.bar.print(&format!("waiting for {} instances", self.tracker.under_way()));
            tokio::time::sleep(DRAIN_STEP).await;
        }
    }

    fn report(&self, setup: Setup, measured: &Measured) -> Report {
        let (request_latency, execution_latency) = self.recorder.latencies();
        let (before, after) = measured.counts;
        let (created, completed) = (after.created - before.created, after.completed - before.completed);
        let seconds = measured.length.as_secs_f64().max(1e-9);
        let instances = if self.options.no_workers { created } else { completed };
        let (spent_before, spent_after) = measured.spent;
        let difference = |before: Option<f64>, after: Option<f64>| Some(after? - before?);
        let per_instance = |total: Option<f64>| (instances > 0).then_some(total? / instances as f64);
        let cpu = difference(spent_before.cpu_seconds, spent_after.cpu_seconds);
        let written = difference(spent_before.disk_written_bytes, spent_after.disk_written_bytes);
        let own_cpu = difference(measured.own_cpu_seconds.0, measured.own_cpu_seconds.1);
        let errors = self.recorder.errors();
        let title = self.options.title.clone();
        Report {
            title: title.unwrap_or_else(|| format!("{} over {}", setup.process, setup.protocol)),
            setup: Setup { measured_ms: measured.length.as_millis() as u64, ..setup },
            request_latency,
            execution_latency,
            created,
            completed,
            acknowledged: self.recorder.counts().created,
            unanswered: self.recorder.open(),
            created_per_second: created as f64 / seconds,
            completed_per_second: completed as f64 / seconds,
            unfinished: self.tracker.under_way() + self.tracker.lost(),
            failures: errors.failures,
            rejections: errors.rejections,
            server: ServerCost {
                cpu_micros_per_instance: per_instance(cpu).map(|seconds| seconds * 1e6),
                cpu_percent_of_core: cpu.map(|cpu| cpu / seconds * 100.0),
                resident_bytes: spent_after.resident_bytes,
                disk_written_bytes_per_instance: per_instance(written),
            },
            generator_cpu_micros_per_instance: per_instance(own_cpu).map(|seconds| seconds * 1e6),
            generator_lag_p99_micros: None,
            histograms: self.recorder.histograms(),
            series: self.series.clone(),
        }
    }
}

/// Requests in flight at most: over REST no more than there are connections.
fn lanes(options: &Options) -> usize {
    match options.protocol {
        Protocol::Rest => options.concurrency.min(options.connections(options.concurrency)),
        Protocol::Grpc => options.concurrency,
    }
}

fn write_files(options: &Options, report: &Report) -> Result<(), Error> {
    if let Some(path) = &options.html {
        std::fs::write(path, report.html()).map_err(Error::file(path))?;
    }
    if let Some(path) = &options.report {
        std::fs::write(path, report.json()).map_err(Error::file(path))?;
    }
    Ok(())
}
