//! `baton completions`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, Completions};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(arguments: &Completions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "baton", &mut script);
    output::text(String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
