//! `baton lab`: its arguments, and what it does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::StreamExt as _;

use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{self, Size, Surroundings};
use crate::peer::{PeerChoice, PeerPlace};
use crate::progress::Progress;
use crate::result::{Judgement, LabRun};
use crate::worker::WorkerKind;
use crate::{document, experiments, machine, page, table};

/// An expectation failed, or a row is void.
const FAILED: u8 = 1;
/// The lab cannot run here.
const CANNOT_RUN: u8 = 2;
/// Experiments at a time in quick size.
const QUICK_LANES: u32 = 3;
/// Time between two drawings of the progress.
const PROGRESS_PACE: Duration = Duration::from_secs(1);
/// The files of a run.
const JSON_FILE: &str = "lab.json";
const PAGE_FILE: &str = "lab.html";

/// `baton lab …`.
#[derive(Debug, Clone, clap::Args)]
pub struct LabArguments {
    /// The command of the lab.
    #[command(subcommand)]
    pub command: LabCommand,
}

/// Commands of the lab.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum LabCommand {
    /// List the experiments.
    List,
    /// Run experiments, each against servers of its own.
    Run(Box<RunArguments>),
    /// Show the results of a run again, or of two runs side by side.
    Report {
        /// Directory of a run.
        #[arg(value_name = "DIR")]
        first: PathBuf,
        /// Directory of another run, to compare with.
        #[arg(value_name = "DIR")]
        second: Option<PathBuf>,
        /// Write the results to this file as the page of the documents.
        #[arg(long, value_name = "FILE", conflicts_with = "second")]
        document: Option<PathBuf>,
        /// Print the table of REST against gRPC, as it stands in the project's first page.
        #[arg(long, conflicts_with_all = ["second", "document"])]
        rest_against_grpc: bool,
    },
    /// Be a job worker of an experiment: takes name=value, tells its counts.
    #[command(hide = true)]
    Worker {
        /// Pairs.
        #[arg(value_name = "NAME=VALUE")]
        knobs: Vec<String>,
    },
}

/// Choice and size of the experiments, and their surroundings.
#[derive(Debug, Clone, clap::Args)]
pub struct RunArguments {
    /// Experiments, such as E5; see `list`.
    #[arg(value_name = "EXPERIMENT", required_unless_present_any = ["all", "against"])]
    pub experiments: Vec<String>,
    /// Run all of them.
    #[arg(long, conflicts_with = "experiments")]
    pub all: bool,
    /// Seconds instead of minutes, three at a time; only what does not depend on the machine is judged.
    #[arg(long)]
    pub quick: bool,
    /// Lengths of the full size times this, such as 6 for an hour of what takes ten minutes.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, conflicts_with = "quick", value_parser = factor)]
    pub scale: f64,
    /// Directory for results, pages and logs.
    #[arg(long, value_name = "DIR", default_value = "lab-results")]
    pub out: PathBuf,
    /// Workers of the experiments with workers: that of the lab, or real ones. The environment variables
    /// LAB_JAVA_WORKER and LAB_NODE_WORKER are their command lines.
    #[arg(long, value_enum, default_value = "lab")]
    pub worker: WorkerChoice,
    /// Another build of the program to run the experiments on. Default: this one.
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// A setting of every server; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Schedule of creations for the experiment "a day in ten minutes", as of `baton bench --schedule-file`.
    #[arg(long, value_name = "FILE", value_parser = bench::Schedule::read)]
    pub day: Option<bench::Schedule>,
    /// Drive the same scenario on another system that runs already, and compare (P1).
    #[arg(long, value_enum, requires_all = ["peer_rest", "peer_grpc"])]
    pub against: Option<PeerChoice>,
    /// REST address of that system.
    #[arg(long, value_name = "URL", requires = "against")]
    pub peer_rest: Option<String>,
    /// gRPC address of that system.
    #[arg(long, value_name = "URL", requires = "against")]
    pub peer_grpc: Option<String>,
    /// Its process, for its CPU and memory, if it is on this machine.
    #[arg(long, value_name = "PID", requires = "against")]
    pub peer_process: Option<u32>,
    /// Experiments at a time. Default: 3 in quick size, else 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub lanes: Option<u32>,
    /// Print JSON instead of tables.
    #[arg(long)]
    pub json: bool,
    /// A variable of every server's environment, for tests that plant faults.
    #[arg(long = "server-env", value_name = "NAME=VALUE", hide = true)]
    pub environment: Vec<String>,
}

/// Which worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum WorkerChoice {
    /// One in a process of its own that behaves like the Java client's.
    Lab,
    /// The official Java client.
    Java,
    /// The Node client.
    Node,
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("must be a number above zero".to_owned()),
    }
}

/// Does what was asked; the exit code. `version` is that of this program.
pub async fn run(command: &LabCommand, version: &str) -> u8 {
    let done = match command {
        LabCommand::List => {
            list();
            Ok(0)
        }
        LabCommand::Run(arguments) => {
            tokio::select! {
                done = run_all(arguments, version) => done,
                () = interrupted() => Err(LabError::Environment(
                    "interrupted; all that was started is stopped".to_owned(),
                )),
            }
        }
        LabCommand::Report { first, second, document, rest_against_grpc } => {
            report(first, second.as_deref(), document.as_deref(), *rest_against_grpc)
        }
        LabCommand::Worker { .. } => Err(LabError::Environment("a worker runs on its own".to_owned())),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            CANNOT_RUN
        }
    }
}

/// Ends with Ctrl-C and with SIGTERM.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hang_up)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()), signal(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hang_up.recv() => {}
    }
}

fn print(text: &str) {
    use std::io::Write as _;
    // A reader may stop early.
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn list() {
    let mut rows = bench::plain_table(&["EXPERIMENT", "TITLE", "QUICK", "FULL"]);
    for experiment in experiments::ALL {
        let (quick, full) = match experiment.body {
            Body::Run(_) => (format!("{} s", experiment.seconds.0), format!("{} s", experiment.seconds.1)),
            Body::NotRun(_) => ("not run".to_owned(), String::new()),
        };
        rows.add_row([experiment.id, experiment.title, &quick, &full]);
    }
    print(&rows.to_string());
}

fn chosen(arguments: &RunArguments) -> Result<Vec<&'static Experiment>, LabError> {
    if arguments.all {
        return Ok(experiments::ALL.to_vec());
    }
    if arguments.against.is_some() && arguments.experiments.is_empty() {
        return Ok(vec![&crate::peer::EXPERIMENT]);
    }
    let unknown =
        |name: &String| LabError::Environment(format!("there is no experiment '{name}'; see `lab list`"));
    arguments.experiments.iter().map(|name| experiments::find(name).ok_or_else(|| unknown(name))).collect()
}

fn surroundings(arguments: &RunArguments) -> Result<Surroundings, LabError> {
    let own = || std::env::current_exe().map_err(|error| LabError::environment("find this program", error));
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| LabError::environment("find the place", error))
    };
    let program = arguments.program.clone().map_or_else(own, Ok)?;
    let directory = absolute(&arguments.out)?;
    std::fs::create_dir_all(&directory)
        .map_err(|error| LabError::environment(&format!("make {}", directory.display()), error))?;
    machine::check_room(&directory, arguments.quick)?;
    for setting in &arguments.settings {
        if !setting.contains('=') {
            return Err(LabError::Environment(format!("--set {setting}: expected KEY=VALUE")));
        }
    }
    let pair = |text: &String| {
        let pair = text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| LabError::Environment(format!("{text}: expected NAME=VALUE")))
    };
    Ok(Surroundings {
        program: absolute(&program)?,
        size: if arguments.quick { Size::Quick } else { Size::Full(arguments.scale) },
        worker: WorkerKind::of(arguments.worker)?,
        directory,
        day: arguments.day.clone(),
        peer: arguments.against.map(|choice| PeerPlace {
            choice,
            rest: arguments.peer_rest.clone().unwrap_or_default(),
            grpc: arguments.peer_grpc.clone().unwrap_or_default(),
            process: arguments.peer_process,
        }),
        settings: arguments.settings.clone(),
        environment: arguments.environment.iter().map(pair).collect::<Result<_, _>>()?,
    })
}

async fn run_all(arguments: &RunArguments, version: &str) -> Result<u8, LabError> {
    let chosen = chosen(arguments)?;
    let surroundings = Arc::new(surroundings(arguments)?);
    let length = |experiment: &Experiment| match (&experiment.body, surroundings.size) {
        (Body::NotRun(_), _) => 0,
        (_, Size::Quick) => experiment.seconds.0,
        (_, Size::Full(scale)) => (f64::from(experiment.seconds.1) * scale) as u32,
    };
    let lanes = arguments.lanes.unwrap_or(if arguments.quick { QUICK_LANES } else { 1 });
    let all = chosen.iter().map(|experiment| length(experiment)).sum();
    let progress = Arc::new(Progress::new(chosen.len(), all, lanes));
    let mut run = LabRun {
        machine: bench::suite::machine(),
        version: version.to_owned(),
        size: match surroundings.size {
            Size::Quick => format!("quick size, {lanes} rows at a time"),
            Size::Full(scale) => format!("full size, scale {scale}"),
        },
        command: std::env::args().collect::<Vec<_>>().join(" "),
        began: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        results: Vec::new(),
    };
    let works = chosen.iter().enumerate().map(|(place, experiment)| {
        let (progress, surroundings) = (Arc::clone(&progress), Arc::clone(&surroundings));
        let seconds = length(experiment);
        let experiment: &'static Experiment = experiment;
        async move {
            progress.begins(experiment.id, seconds);
            let result = lab::run(experiment, surroundings, Arc::clone(&progress)).await;
            progress.ends(experiment.id);
            (place, result)
        }
    });
    let mut works = futures::stream::iter(works).buffer_unordered(lanes as usize);
    let mut ticks = tokio::time::interval(PROGRESS_PACE);
    let mut ended = Vec::new();
    let failure = loop {
        tokio::select! {
            next = works.next() => match next {
                None => break None,
                Some((_, Err(error))) => break Some(error),
                Some((place, Ok(result))) => {
                    progress.clear();
                    if !arguments.json && result.judgement != Judgement::NotRun {
                        print(&table::experiment(&result));
                    }
                    ended.push((place, result));
                    // Results so far are kept, whatever comes next.
                    run.results = in_order(&ended);
                    write_files(&surroundings.directory, &run)?;
                }
            },
            _ = ticks.tick() => progress.draw(),
        }
    };
    drop(works);
    progress.clear();
    print(&if arguments.json { run.json() } else { table::summary(&run) });
    match failure {
        Some(error) => Err(error),
        None if run.count(Judgement::Missed) + run.count(Judgement::Void) > 0 => Ok(FAILED),
        None => Ok(0),
    }
}

/// The results as the experiments were chosen.
fn in_order(ended: &[(usize, crate::ExperimentResult)]) -> Vec<crate::ExperimentResult> {
    let mut all: Vec<_> = ended.iter().collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, result)| result.clone()).collect()
}

fn write_files(directory: &Path, run: &LabRun) -> Result<(), LabError> {
    for (name, text) in [(JSON_FILE, run.json()), (PAGE_FILE, page::page(run))] {
        let path = directory.join(name);
        std::fs::write(&path, text)
            .map_err(|error| LabError::environment(&format!("write {}", path.display()), error))?;
    }
    Ok(())
}

fn read(directory: &Path) -> Result<LabRun, LabError> {
    let path = directory.join(JSON_FILE);
    let cannot =
        |error: &dyn std::fmt::Display| LabError::environment(&format!("read {}", path.display()), error);
    let text = std::fs::read_to_string(&path).map_err(|error| cannot(&error))?;
    serde_json::from_str(&text).map_err(|error| cannot(&error))
}

fn report(
    first: &Path,
    second: Option<&Path>,
    document: Option<&Path>,
    rest_against_grpc: bool,
) -> Result<u8, LabError> {
    let run = read(first)?;
    if let Some(path) = document {
        std::fs::write(path, document::document(&run))
            .map_err(|error| LabError::environment(&format!("write {}", path.display()), error))?;
        return Ok(0);
    }
    if rest_against_grpc {
        let table = document::rest_against_grpc(&run);
        print(&table.ok_or_else(|| LabError::Environment("the run has no E1 and E2".to_owned()))?);
        return Ok(0);
    }
    if let Some(second) = second {
        print(&table::side_by_side(&run, &read(second)?));
        return Ok(0);
    }
    for result in run.results.iter().filter(|result| result.judgement != Judgement::NotRun) {
        print(&table::experiment(result));
    }
    print(&table::summary(&run));
    write_files(first, &run)?;
    Ok(0)
}
