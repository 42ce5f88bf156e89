//! Another system beside ours: the same scenario on both, and what to bear in mind when their figures are compared.

mod driver;
mod place;

use std::time::Duration;

use bench::{Options, Probe, Report, Spent};
use client::Protocol;

use self::driver::Driver;
use self::place::PeerAccess;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, p50, p99};
use crate::result::Limit;
use crate::server::Server;
use crate::unit::Unit;

pub use place::PeerChoice;
pub(crate) use place::PeerPlace;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "P1",
    title: "A peer beside it",
    hypothesis: "The same scenario costs less CPU, memory and disk here, and is done sooner.",
    set_up: "A peer that a driver starts and drives with the peer's own client (`--peer-driver`), or one that runs \
        already where `--peer-rest` and `--peer-grpc` say, and a broker of the lab; all on this machine, one loaded \
        after the other.",
    steady_state: "Instances of a process with one task are created and completed as fast as they go through, 16 at a \
        time.",
    action: "After the load, instances that wait are created.",
    measurement: "Time of the start, instances a second, their latency from creation to end, CPU, memory and bytes \
        written of the system's process, without those of clients and workers; memory with the waiting instances.",
    reference: "",
    seconds: (30, 180),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

/// Instances at a time.
const CONCURRENCY: usize = 16;

/// A system under the scenario.
enum System {
    /// One that speaks our API, under our load generator.
    Api { options: Box<Options>, process: Option<u32> },
    /// One under its driver.
    Driven { driver: Box<Driver>, process: u32, data: tempfile::TempDir },
}

/// The results of one of both.
#[derive(Debug, Default)]
struct Figures {
    ready_seconds: Option<f64>,
    per_second: Option<f64>,
    p50_seconds: Option<f64>,
    p99_seconds: Option<f64>,
    cpu_seconds: Option<f64>,
    written_bytes: Option<f64>,
    resident_bytes: Option<f64>,
    waiting_per_second: Option<f64>,
    resident_waiting_bytes: Option<f64>,
}

/// Figures with their units; where less is better the ratio is that of the peer by ours.
type Line = (&'static str, Unit, fn(&Figures) -> Option<f64>);

const LINES: [Line; 9] = [
    ("start until the first answer", Unit::Seconds, |figures| figures.ready_seconds),
    ("instances ended", Unit::PerSecond, |figures| figures.per_second),
    ("instance, p50", Unit::Seconds, |figures| figures.p50_seconds),
    ("instance, p99", Unit::Seconds, |figures| figures.p99_seconds),
    ("CPU for an instance", Unit::Seconds, |figures| figures.cpu_seconds),
    ("bytes written for an instance", Unit::Bytes, |figures| figures.written_bytes),
    ("resident memory", Unit::Bytes, |figures| figures.resident_bytes),
    ("waiting instances created", Unit::PerSecond, |figures| figures.waiting_per_second),
    ("resident memory with them", Unit::Bytes, |figures| figures.resident_waiting_bytes),
];

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let place = lab.peer().ok_or_else(|| LabError::Environment("P1 needs --against".to_owned()))?;
    let name = place.choice.name();
    let theirs = peer(lab, &place).await?;
    let server = lab.server(&[]).await?;
    let ours = ours(lab, &server).await?;
    lab.phase("peer by baton");
    for (figure, _, of) in LINES {
        if let (Some(ours), Some(theirs)) = (of(&ours), of(&theirs)) {
            lab.tell(figure, Unit::Ratio, theirs / ours.max(1e-9));
        }
    }
    let ended = ours.per_second.unwrap_or(0.0);
    lab.expect("instances that ended here", Unit::PerSecond, Limit::AtLeast(1.0), ended);
    lab.note(&format!(
        "{name}, the load generators and the workers share the cores with the system under load"
    ));
    lab.note(
        "baton is driven by the load generator of the lab in Rust, over gRPC with a job stream; it syncs each entry of \
         its log before it answers, with one replica, and keeps a history that can be searched",
    );
    server.stop().await
}

async fn peer(lab: &mut Lab, place: &PeerPlace) -> Result<Figures, LabError> {
    let name = place.choice.name();
    // A virtual machine gets faster with time.
    let warm_up = lab.seconds(2.0, 20.0);
    match &place.access {
        PeerAccess::Runs { rest, grpc, process } => {
            lab.note(
                "both are driven by the load generator of the lab, not by the peer's own client; durability, replicas \
                 and exporters of the peer are as its user has set them",
            );
            let options = Options {
                rest_address: rest.clone(),
                grpc_address: grpc.clone(),
                // Its figures are the kernel's.
                management_address: "http://127.0.0.1:1".to_owned(),
                warm_up,
                ..load_options(lab)
            };
            let mut system = System::Api { options: Box::new(options), process: *process };
            measure(lab, name, &mut system, Figures::default()).await
        }
        PeerAccess::Driver(words) => {
            lab.phase(&format!("{name}: start"));
            let data = lab.scratch()?;
            let mut driver = Box::new(Driver::start(words, &lab.directory().join(format!("{name}.log")))?);
            let started = driver.begin(data.path()).await?;
            lab.note(&format!("{name} is {}; warm-up {:.0} s", started.version, warm_up.as_secs_f64()));
            for note in &started.notes {
                lab.note(&format!("{name}: {note}"));
            }
            let figures = Figures { ready_seconds: Some(started.ready_seconds), ..Figures::default() };
            let mut system = System::Driven { driver, process: started.process, data };
            let figures = measure(lab, name, &mut system, figures).await?;
            if let System::Driven { driver, data, .. } = system {
                driver.stop().await?;
                drop(data);
            }
            Ok(figures)
        }
    }
}

async fn ours(lab: &mut Lab, server: &Server) -> Result<Figures, LabError> {
    let options = Options { warm_up: lab.seconds(1.0, 10.0), ..lab.load_options(server, Protocol::Grpc) };
    let options = Options { concurrency: CONCURRENCY, duration: window(lab), ..options };
    let mut system = System::Api { options: Box::new(options), process: Some(server.process()) };
    let ready_seconds = Some(server.ready_after.as_secs_f64());
    measure(lab, "baton", &mut system, Figures { ready_seconds, ..Figures::default() }).await
}

fn window(lab: &Lab) -> Duration {
    lab.seconds(4.0, 30.0)
}

fn load_options(lab: &Lab) -> Options {
    Options {
        protocol: Protocol::Grpc,
        concurrency: CONCURRENCY,
        duration: window(lab),
        no_progress: true,
        ..Options::default()
    }
}

async fn measure(
    lab: &mut Lab,
    name: &str,
    system: &mut System,
    mut figures: Figures,
) -> Result<Figures, LabError> {
    let process = match system {
        System::Api { process, .. } => *process,
        System::Driven { process, .. } => Some(*process),
    };
    let spent = || process.map(Probe::of_process).unwrap_or_default();
    let before = spent();
    lab.phase(&format!("{name}: load"));
    let all = load(lab, name, system, &mut figures).await?;
    let after = spent();
    let each = |of: fn(&Spent) -> Option<f64>| Some((of(&after)? - of(&before)?) / all.max(1.0));
    figures.cpu_seconds = each(|spent| spent.cpu_seconds);
    figures.written_bytes = each(|spent| spent.disk_written_bytes);
    figures.resident_bytes = after.resident_bytes;
    tell(lab, &figures, 0..7);

    let count = lab.count(2_000, 20_000);
    lab.phase(&format!("{name}: {count} waiting instances"));
    figures.waiting_per_second = Some(wait(lab, name, system, count).await?);
    figures.resident_waiting_bytes = spent().resident_bytes;
    tell(lab, &figures, 7..9);
    Ok(figures)
}

fn tell(lab: &mut Lab, figures: &Figures, lines: std::ops::Range<usize>) {
    for (figure, unit, of) in &LINES[lines] {
        if let Some(value) = of(figures) {
            lab.tell(figure, *unit, value);
        }
    }
}

/// The load, and all instances that it had.
async fn load(
    lab: &mut Lab,
    name: &str,
    system: &mut System,
    figures: &mut Figures,
) -> Result<f64, LabError> {
    match system {
        System::Api { options, .. } => {
            let load = lab.load(name, (**options).clone());
            let report = lab.finish(load).await.map_err(|error| of_peer(name, error))?;
            nothing_completed(name, &report)?;
            figures.per_second = Some(report.completed_per_second);
            figures.p50_seconds = Some(p50(report.execution_latency.as_ref()));
            figures.p99_seconds = Some(p99(report.execution_latency.as_ref()));
            Ok(report.acknowledged as f64)
        }
        System::Driven { driver, .. } => {
            let loaded = driver.run(lab.seconds(2.0, 20.0), window(lab), CONCURRENCY).await?;
            figures.per_second = Some(loaded.per_second);
            (figures.p50_seconds, figures.p99_seconds) = (loaded.p50_seconds, loaded.p99_seconds);
            Ok(loaded.all)
        }
    }
}

/// Creates instances that wait; so many a second.
async fn wait(lab: &mut Lab, name: &str, system: &mut System, count: u32) -> Result<f64, LabError> {
    match system {
        System::Api { options, .. } => {
            let options = Options {
                no_workers: true,
                no_deploy: true,
                instances: Some(u64::from(count)),
                warm_up: Duration::ZERO,
                ..(**options).clone()
            };
            let load = lab.load(&format!("{name}: waiting instances"), options);
            let report = lab.finish(load).await.map_err(|error| of_peer(name, error))?;
            Ok(report.created_per_second)
        }
        System::Driven { driver, .. } => Ok(driver.wait(count, CONCURRENCY).await?.per_second),
    }
}

/// A peer that does not answer is no fault of ours.
fn of_peer(name: &str, error: LabError) -> LabError {
    if name == "baton" { error } else { LabError::Environment(format!("the peer {name}: {error}")) }
}

fn nothing_completed(name: &str, report: &Report) -> Result<(), LabError> {
    if report.completed > 0 {
        return Ok(());
    }
    let reason = format!("{name} completed nothing, {} errors", report.errors());
    Err(of_peer(name, LabError::System(reason)))
}
