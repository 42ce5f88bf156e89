//! `baton completions`.

use std::process::ExitCode;

use clap_complete::env::Shells;

use crate::cli::Completions;
use crate::complete::VARIABLE;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(arguments: &Completions) -> Result<ExitCode, Failure> {
    let shells = Shells::builtins();
    let shell = shells
        .completer(&arguments.shell)
        .ok_or_else(|| Failure::usage(format!("'{}' is no shell that is known here", arguments.shell)))?;
    let program = std::env::current_exe().map_err(Failure::new)?;
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "baton", "baton", &program.to_string_lossy(), &mut script)
        .map_err(Failure::new)?;
    output::text(String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
