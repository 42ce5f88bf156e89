//! `baton bench`.

use std::process::ExitCode;

use crate::cli::{Bench, BenchCommand};
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Bench) -> Result<ExitCode, Failure> {
    match &arguments.more {
        Some(BenchCommand::Suite(options)) => {
            let table = ::bench::suite::run(options).await.map_err(failed)?;
            output::line(if arguments.json { table.json() } else { table.text() })?;
        }
        None => {
            let report = ::bench::run(&arguments.options).await.map_err(failed)?;
            output::line(if arguments.json { report.json() } else { report.table() })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Errors of a measurement, printed as for every other command.
pub(super) fn failed(error: ::bench::Error) -> Failure {
    match &error {
        ::bench::Error::Request { action, source } => Failure::request(action, source),
        ::bench::Error::Options(_) | ::bench::Error::Model { .. } => Failure::usage(&error),
        ::bench::Error::File { .. } | ::bench::Error::Server { .. } => Failure::new(&error),
    }
}
