//! `baton history`: the embedded history as a file, and what to do when records of it are lost.

use std::path::Path;
use std::process::ExitCode;

use secondary::{CopyError, SqliteOptions};

use crate::cli::{History, HistoryAction};
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &History) -> Result<ExitCode, Failure> {
    match &arguments.action {
        HistoryAction::Copy { target, data_dir, path } => {
            let default = Config::default().secondary_storage_sqlite.path;
            copy(&data_dir.join(path.as_ref().unwrap_or(&default)), target)?;
        }
        HistoryAction::Begin { target } => {
            let begun = target.connect()?.begin_history().await;
            begun.map_err(|error| Failure::request("have the history go on", &error))?;
            output::line("the history goes on without the records that are missing")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn copy(file: &Path, target: &Path) -> Result<(), Failure> {
    let copy = SqliteOptions::new(file).copy(target).map_err(|error| {
        let failure = Failure::new(format!("cannot copy '{}': {error}", file.display()));
        match error {
            CopyError::Source(_) => failure.hint(
                "--data-dir is the directory that the server is started with, --path the file in it that \
                 secondary_storage.sqlite.path names",
            ),
            CopyError::Target { .. } => {
                failure.hint("name a file that is not there yet, on a disk with room for it")
            }
        }
    })?;
    output::line(format_args!("{}: {} bytes", target.display(), copy.bytes))?;
    for (partition, position) in &copy.positions {
        output::line(format_args!("partition {partition}: everything up to position {position}"))?;
    }
    Ok(())
}
