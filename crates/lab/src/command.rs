//! `baton lab`: the work of its commands.

use std::path::{Path, PathBuf};

use crate::arguments::{LabCommand, RunArguments};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Size, StorePlaces, Surroundings};
use crate::output::print;
use crate::peer::PeerPlace;
use crate::result::{Judgement, LabRun};
use crate::run::{JSON_FILE, QUICK_LANES, run_rows, write_files};
use crate::worker::WorkerKind;
use crate::{document, experiments, machine, plan, table};

/// The lab cannot run here.
const CANNOT_RUN: u8 = 2;

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
