//! `baton completions`.

use std::io;

use clap::CommandFactory;

use crate::cli::{Cli, Completions};

pub(crate) fn run(arguments: &Completions) {
    clap_complete::generate(arguments.shell, &mut Cli::command(), "baton", &mut io::stdout());
}
