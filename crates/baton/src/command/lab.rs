//! `baton lab`.

use std::process::ExitCode;

use lab::{LabArguments, LabCommand};

use crate::failure::Failure;

pub(crate) fn run(arguments: &LabArguments) -> Result<ExitCode, Failure> {
    if let LabCommand::Worker { knobs } = &arguments.command {
        lab::worker::run(knobs);
    }
    crate::block_on(async {
        Ok(ExitCode::from(lab::run(&arguments.command, env!("CARGO_PKG_VERSION")).await))
    })
}
