//! `baton lab`: its arguments, and what it does.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Size, StorePlaces, Surroundings};
use crate::peer::{PeerChoice, PeerPlace};
use crate::result::{Judgement, LabRun};
use crate::run::{QUICK_LANES, run_rows, write_files};
use crate::worker::WorkerKind;
use crate::{document, experiments, machine, plan, table};

/// The lab cannot run here.
const CANNOT_RUN: u8 = 2;
/// The results of a run.
pub(crate) const JSON_FILE: &str = "lab.json";

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
        /// Directory of a later run on the same machine and in the same size: its rows take the place of those of the
        /// first. May be given several times.
        #[arg(long, value_name = "DIR", conflicts_with = "second")]
        later: Vec<PathBuf>,
        /// Write the results to this file as the page of the documents.
        #[arg(long, value_name = "FILE", conflicts_with = "second")]
        document: Option<PathBuf>,
        /// Print the table of REST against gRPC; with a file, write it there between the lines
        /// `<!-- REST against gRPC -->` and `<!-- end -->`.
        #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["second", "document"])]
        rest_against_grpc: Option<Option<PathBuf>>,
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
    /// Shorten the lengths of the full size so that all rows end within this time, such as 25m. Each row tells its
    /// scale; time that one leaves goes to those after it.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["quick", "scale"], value_parser = bench::duration)]
    pub time_budget: Option<Duration>,
    /// Run rows that are void or miss something that a busy machine explains once more at the end, each alone.
    #[arg(long)]
    pub again: bool,
    /// Exit with 0 if rows are void or miss only something that a busy machine explains: for machines that do other
    /// things meanwhile. Something that is lost or doubled fails.
    #[arg(long)]
    pub spoiled_passes: bool,
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
    /// Drive the same scenario on another system, and compare (P1).
    #[arg(long, value_enum)]
    pub against: Option<PeerChoice>,
    /// Command line of a program that starts that system and drives it with its own client, such as those below
    /// crates/lab/peers.
    #[arg(long, value_name = "COMMAND", requires = "against")]
    pub peer_driver: Option<String>,
    /// REST address of a system that runs already and speaks this API.
    #[arg(long, value_name = "URL", requires = "against")]
    pub peer_rest: Option<String>,
    /// gRPC address of that system.
    #[arg(long, value_name = "URL", requires = "against")]
    pub peer_grpc: Option<String>,
    /// Its process, for its CPU and memory, if it is on this machine.
    #[arg(long, value_name = "PID", requires = "against")]
    pub peer_process: Option<u32>,
    /// A PostgreSQL for E15, such as postgres://user@host:5432/database; a schema of its own is made there.
    #[arg(long, value_name = "URL")]
    pub postgres: Option<String>,
    /// An OpenSearch for E15, such as http://host:9200; indices with a prefix of their own are made there.
    #[arg(long, value_name = "URL")]
    pub opensearch: Option<String>,
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
        LabCommand::Report { first, second, later, document, rest_against_grpc } => {
            report(first, second.as_deref(), later, document.as_deref(), rest_against_grpc.as_ref())
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

pub(crate) fn print(text: &str) {
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
    let all = |size| format!("{:.0} s", plan::seconds_of_all(experiments::ALL, size));
    rows.add_row(["all", "one after the other", &all(Size::Quick), &all(Size::Full(1.0))]);
    print(&rows.to_string());
    print(&format!(
        "In quick size {QUICK_LANES} rows run at a time. --time-budget shortens the full size; P1 runs with --against."
    ));
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
    let peer = arguments.against.map(|choice| {
        let addresses = (arguments.peer_rest.as_deref(), arguments.peer_grpc.as_deref());
        PeerPlace::of(choice, arguments.peer_driver.as_deref(), addresses, arguments.peer_process)
    });
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
        peer: peer.transpose()?,
        stores: StorePlaces {
            postgres: arguments.postgres.clone(),
            opensearch: arguments.opensearch.clone(),
        },
        settings: arguments.settings.clone(),
        environment: arguments.environment.iter().map(pair).collect::<Result<_, _>>()?,
    })
}

async fn run_all(arguments: &RunArguments, version: &str) -> Result<u8, LabError> {
    run_rows(arguments, &chosen(arguments)?, surroundings(arguments)?, version).await
}

fn read(directory: &Path) -> Result<LabRun, LabError> {
    let path = directory.join(JSON_FILE);
    let cannot =
        |error: &dyn std::fmt::Display| LabError::environment(&format!("read {}", path.display()), error);
    let text = std::fs::read_to_string(&path).map_err(|error| cannot(&error))?;
    serde_json::from_str(&text).map_err(|error| cannot(&error))
}

/// Puts a table into a page, between its two marks.
fn write_between(page: &Path, table: &str) -> Result<(), LabError> {
    let cannot = |action: &str, reason: &dyn std::fmt::Display| {
        LabError::environment(&format!("{action} {}", page.display()), reason)
    };
    let text = std::fs::read_to_string(page).map_err(|error| cannot("read", &error))?;
    let text = document::between_marks(&text, table);
    let text = text.ok_or_else(|| {
        let (begin, end) = document::MARKS;
        cannot("write a table to", &format_args!("it has no line {begin} with a line {end} after it"))
    })?;
    std::fs::write(page, text).map_err(|error| cannot("write", &error))
}

fn report(
    first: &Path,
    second: Option<&Path>,
    later: &[PathBuf],
    document: Option<&Path>,
    rest_against_grpc: Option<&Option<PathBuf>>,
) -> Result<u8, LabError> {
    let mut run = read(first)?;
    for directory in later {
        run = run.with_later(read(directory)?).map_err(LabError::Environment)?;
    }
    if let Some(path) = document {
        std::fs::write(path, document::document(&run))
            .map_err(|error| LabError::environment(&format!("write {}", path.display()), error))?;
        return Ok(0);
    }
    if let Some(page) = rest_against_grpc {
        let table = document::rest_against_grpc(&run);
        let table = table.ok_or_else(|| LabError::Environment("the run has no E1 and E2".to_owned()))?;
        match page {
            None => print(&table),
            Some(page) => write_between(page, &table)?,
        }
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
