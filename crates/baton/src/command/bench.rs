//! `baton bench`.

use std::path::Path;
use std::process::ExitCode;

use crate::cli::{Bench, BenchCommand};
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Bench) -> Result<ExitCode, Failure> {
    match &arguments.more {
        #[cfg(feature = "suite")]
        Some(BenchCommand::Suite(options)) => {
            let table = ::bench::suite::run(options).await.map_err(failed)?;
            output::line(if arguments.json { table.json() } else { table.text() })?;
        }
        Some(BenchCommand::Merge { reports, one_after_the_other }) => {
            let reports = reports.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
            let merged = ::bench::merge(&reports, !one_after_the_other);
            let merged = merged.ok_or_else(|| Failure::usage("there is nothing to merge"))?;
            output::line(if arguments.json { merged.json() } else { merged.table() })?;
        }
        None => {
            let report = ::bench::run(&arguments.options).await.map_err(failed)?;
            output::line(if arguments.json { report.json() } else { report.table() })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<::bench::Report, Failure> {
    let cannot = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| cannot(&error))?;
    serde_json::from_str(&text).map_err(|error| cannot(&error))
}

/// Errors of a measurement, printed as for every other command.
pub(super) fn failed(error: ::bench::Error) -> Failure {
    match &error {
        ::bench::Error::Request { action, source } => Failure::request(action, source),
        ::bench::Error::Options(_) | ::bench::Error::Model { .. } => Failure::usage(&error),
        ::bench::Error::File { .. } | ::bench::Error::Server { .. } => Failure::new(&error),
    }
}
