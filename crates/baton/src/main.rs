//! The program `baton`: the server and the commands that talk to one.
//!
//! [`cli`] declares the command line, [`config`] the settings of the server, [`start`] puts the parts of the server
//! together, [`command`] has a file for each other command. [`output`] is how they tell what came of it,
//! [`failure`] how all of them end when they cannot do what was asked.

mod cli;
mod command;
mod config;
mod connect;
mod failure;
mod logging;
mod output;
mod start;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use cli::{Cli, Command};
use failure::Failure;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let began = Instant::now();
    let cli = Cli::parse();
    match run(cli.command, began) {
        Ok(code) => code,
        Err(failure) => output::report(&failure),
    }
}

fn run(command: Command, began: Instant) -> Result<ExitCode, Failure> {
    match command {
        Command::Start(arguments) => start::run(&arguments, began),
        Command::Config(arguments) => command::config::run(&arguments),
        Command::Status(arguments) => block_on(command::status::run(&arguments)),
        Command::Health(arguments) => block_on(command::health::run(&arguments)),
        Command::Deploy(arguments) => block_on(command::deploy::run(&arguments)),
        Command::Search(arguments) => block_on(command::search::run(&arguments)),
        Command::Show(arguments) => block_on(command::show::run(&arguments)),
        Command::Cancel(arguments) => block_on(command::act::cancel(&arguments)),
        Command::Resolve(arguments) => block_on(command::act::resolve(&arguments)),
        Command::Retry(arguments) => block_on(command::act::retry(&arguments)),
        Command::Banned(arguments) => block_on(command::banned::run(&arguments)),
        Command::History(arguments) => command::history::run(&arguments),
        Command::Restore(arguments) => command::restore::run(&arguments),
        Command::Partition(arguments) => block_on(command::partition::run(&arguments)),
        Command::Run(arguments) => block_on(command::run::run(&arguments)),
        Command::Bench(arguments) => block_on(command::bench::run(&arguments)),
        Command::DevCluster(arguments) => block_on(command::dev_cluster::run(&arguments)),
        Command::Demo(arguments) => block_on(command::demo::run(&arguments)),
        Command::ProfilePicture(arguments) => command::profile_picture::run(&arguments),
        Command::Completions(arguments) => command::completions::run(&arguments),
    }
}

fn block_on(work: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start threads: {error}")))?;
    runtime.block_on(work)
}
