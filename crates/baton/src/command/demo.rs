//! `baton demo`: a server of its own in a process of its own, so that what it costs is seen apart from the load.

mod next;
mod scene;

use std::fs::File;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use ::bench::{Options, Report, compare};
use client::Protocol;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::bench::failed;
use crate::cli::Demo;
use crate::failure::Failure;
use crate::output;
use crate::start::ReadyLine;
use scene::ORDER;

/// How long the server may take to be ready.
const READY_MAX: Duration = Duration::from_secs(30);
/// How much of the server's log is shown when it fails.
const LOG_LINES: usize = 20;
/// CPU of the shipped program for this rate of one-task instances with history, of one core: `docs/performance.md`.
const SHIPPED_CPU: &str = "17.8 %";
const SHIPPED_RATE: u32 = 150;
/// Whether this program was built in the profile `demo`, as the Makefile says to the compiler.
const IS_QUICK_BUILD: bool = option_env!("BATON_QUICK_BUILD").is_some();
/// Where a server that stays listens, so that every command finds it: REST, gRPC, management.
const CUSTOMARY: [&str; 3] = ["127.0.0.1:8080", "127.0.0.1:26500", "127.0.0.1:9600"];

pub(crate) async fn run(arguments: &Demo) -> Result<ExitCode, Failure> {
    let scratch = match &arguments.scratch {
        Some(parent) => tempfile::tempdir_in(parent),
        None => tempfile::tempdir(),
    }
    .map_err(|error| Failure::new(format!("cannot make a scratch directory: {error}")))?;
    let mut server = None;
    let (ready, ended) = tokio::select! {
        ended = demonstrate(arguments, scratch.path(), &mut server) => ended?,
        _ = tokio::signal::ctrl_c() => return Err(Failure::new("interrupted")),
    };
    let program = std::env::args().next().unwrap_or_else(|| "baton".to_owned());
    match server {
        Some(mut server) if arguments.stay => next::stay(&mut server, &ready, &program).await,
        Some(mut server) => {
            // Its directory goes next; how it ends is of no interest.
            let _ = server.kill().await;
            if !arguments.json {
                next::suggest(&program);
            }
            Ok(ended)
        }
        None => unreachable!("the demonstration has started a server"),
    }
}

/// Returns where the server is, which is left in `server`, and how it went.
async fn demonstrate(
    arguments: &Demo,
    scratch: &Path,
    server: &mut Option<Child>,
) -> Result<(ReadyLine, ExitCode), Failure> {
    output::note(format_args!("starting a server in {}", scratch.display()));
    let (child, ready) = start(scratch, if arguments.stay { CUSTOMARY } else { ["127.0.0.1:0"; 3] }).await?;
    *server = Some(child);
    output::note(format_args!(
        "ready after {} ms; {} orders per second, three workers",
        ready.milliseconds, arguments.rate
    ));
    let mut reports = Vec::with_capacity(2);
    for protocol in [Protocol::Grpc, Protocol::Rest] {
        output::note(format_args!("running over {}", title(protocol)));
        match ::bench::run(&options(arguments, &ready, protocol)).await {
            Ok(report) => reports.push(report),
            Err(error) => {
                show_log(scratch);
                return Err(failed(error));
            }
        }
    }
    if let Some(path) = &arguments.html {
        std::fs::write(path, ::bench::page(&reports))
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?;
    }
    show(&reports, arguments.json)?;
    if IS_QUICK_BUILD && !arguments.json {
        output::note(format_args!(
            "This program was built in minutes, hardly optimized. The shipped one (make dist) spent {SHIPPED_CPU} of one \
             core on {SHIPPED_RATE} one-task instances per second, with history: docs/performance.md"
        ));
    }
    let is_good = reports.iter().all(|report| report.errors() == 0);
    Ok((ready, if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }))
}

fn show(reports: &[Report], json: bool) -> Result<(), Failure> {
    if json {
        output::line(serde_json::to_string_pretty(reports).map_err(Failure::new)?)?;
    } else if let [grpc, rest] = reports {
        output::line(compare(grpc, rest))?;
    }
    Ok(())
}

const fn title(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Rest => "REST",
        Protocol::Grpc => "gRPC",
    }
}

fn options(arguments: &Demo, ready: &ReadyLine, protocol: Protocol) -> Options {
    Options {
        rest_address: format!("http://{}", ready.rest),
        grpc_address: format!("http://{}", ready.grpc),
        management_address: format!("http://{}", ready.management),
        protocol,
        process: ORDER.to_owned(),
        rate: Some(arguments.rate),
        warm_up: arguments.warm_up,
        duration: arguments.duration,
        title: Some(title(protocol).to_owned()),
        ..Options::default()
    }
}

async fn start(scratch: &Path, [rest, grpc, management]: [&str; 3]) -> Result<(Child, ReadyLine), Failure> {
    let cannot = |reason: &dyn std::fmt::Display| Failure::new(format!("cannot start the server: {reason}"));
    let program = std::env::current_exe().map_err(|error| cannot(&error))?;
    let log = File::create(log_path(scratch)).map_err(|error| cannot(&error))?;
    let mut command = Command::new(program);
    command
        .arg("start")
        .arg("--data-dir")
        .arg(scratch.join("data"))
        .args(["--rest", rest, "--grpc", grpc, "--management", management])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .kill_on_drop(true);
    // The demonstration shows the defaults, whatever is set for the servers of this machine.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
    let mut server = command.spawn().map_err(|error| cannot(&error))?;
    let output = server.stdout.take().ok_or_else(|| cannot(&"it has no output"))?;
    let first = tokio::time::timeout(READY_MAX, BufReader::new(output).lines().next_line()).await;
    let ready = match first {
        Ok(Ok(Some(line))) => line.parse::<ReadyLine>().map_err(|reason| cannot(&reason)),
        Ok(Ok(None)) => Err(cannot(&"it ended before it was ready")),
        Ok(Err(error)) => Err(cannot(&error)),
        Err(_) => Err(cannot(&format_args!("it was not ready within {} s", READY_MAX.as_secs()))),
    };
    match ready {
        Ok(ready) => Ok((server, ready)),
        Err(failure) => {
            show_log(scratch);
            // Otherwise the ports are free ones.
            Err(if rest == CUSTOMARY[0] {
                failure.hint("if a port is taken: stop the program that uses it, or leave out --stay")
            } else {
                failure
            })
        }
    }
}

fn log_path(scratch: &Path) -> std::path::PathBuf {
    scratch.join("server.log")
}

fn show_log(scratch: &Path) {
    let log = std::fs::read_to_string(log_path(scratch)).unwrap_or_default();
    let lines: Vec<_> = log.lines().collect();
    for line in &lines[lines.len().saturating_sub(LOG_LINES)..] {
        output::note(format_args!("  {line}"));
    }
}
