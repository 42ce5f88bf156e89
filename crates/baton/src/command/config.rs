//! `baton config`.

use std::process::ExitCode;

use crate::cli::Config;
use crate::config::{default_file, load};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(arguments: &Config) -> Result<ExitCode, Failure> {
    match &arguments.check {
        Some(path) => {
            load(Some(path), std::env::vars_os(), vec![]).map_err(Failure::usage)?;
            output::line(format_args!("{} is a valid configuration", path.display()))?;
        }
        None => output::text(default_file())?,
    }
    Ok(ExitCode::SUCCESS)
}
