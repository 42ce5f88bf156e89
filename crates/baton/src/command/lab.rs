//! `baton lab`.

use std::process::ExitCode;

use lab::{LabArguments, LabCommand};

use crate::failure::Failure;
use crate::runtime::block_on;

pub(crate) fn run(arguments: &LabArguments) -> Result<ExitCode, Failure> {
    if let LabCommand::Worker { knobs } = &arguments.command {
        lab::worker::run(knobs);
    }
    // Figures of such a build are no figures of the product.
    let build = if cfg!(debug_assertions) { ", with debug assertions" } else { "" };
    let version = format!("{}{build}", env!("CARGO_PKG_VERSION"));
    block_on(async { Ok(ExitCode::from(lab::run(&arguments.command, &version).await)) })
}
