//! The program `baton`: the server and the commands that talk to one.
//!
//! [`cli`] declares the command line, [`config`] the settings of the server, [`start`] puts the parts of the server
//! together, [`command`] has a file for each other command. [`output`] is how they tell what came of it,
//! [`failure`] how all of them end when they cannot do what was asked, [`connect`] how they reach a server.

mod cli;
mod command;
mod complete;
mod config;
mod connect;
mod failure;
mod layers;
mod logging;
mod output;
mod private;
mod profiles;
mod runtime;
mod server_settings;
mod start;

use std::process::ExitCode;
use std::time::Instant;

use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;

use cli::{Cli, Command};
use failure::Failure;
use runtime::block_on;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let began = Instant::now();
    // A shell that completes a command line ends here.
    CompleteEnv::with_factory(Cli::command).var(complete::VARIABLE).complete();
    let cli = Cli::parse();
    match run(cli.command, began) {
        Ok(code) => code,
        Err(failure) => output::report(&failure),
    }
}

/// Whether a command writes data of a server.
fn keeps_data(command: &Command) -> bool {
    matches!(
        command,
        Command::Start(_)
            | Command::History(_)
            | Command::Restore(_)
            | Command::Partition(_)
            | Command::DevCluster(_)
    )
}

fn run(command: Command, began: Instant) -> Result<ExitCode, Failure> {
    if keeps_data(&command) {
        private::close_to_others();
    }
    match command {
        Command::Start(arguments) => start::run(&arguments, began),
        Command::Config(arguments) => command::config::run(&arguments),
        Command::Status(arguments) => block_on(command::status::run(&arguments)),
        Command::Health(arguments) => block_on(command::health::run(&arguments)),
        Command::Deploy(arguments) => block_on(command::deploy::run(&arguments)),
        Command::Work(arguments) => block_on(command::work::run(&arguments)),
        Command::Jobs(arguments) => block_on(command::jobs::run(&arguments)),
        Command::Messages(arguments) => block_on(command::messages::run(&arguments)),
        Command::Signals(arguments) => block_on(command::messages::signals(&arguments)),
        Command::Variables(arguments) => block_on(command::variables::run(&arguments)),
        Command::Tasks(arguments) => block_on(command::tasks::run(&arguments)),
        Command::Decisions(arguments) => block_on(command::decisions::run(&arguments)),
        Command::Feel(arguments) => block_on(command::feel::run(&arguments)),
        Command::Search(arguments) => block_on(command::search::run(&arguments)),
        Command::Show(arguments) => block_on(command::show::run(&arguments)),
        Command::Watch(arguments) => block_on(command::watch::run(&arguments)),
        Command::Cancel(arguments) => block_on(command::act::cancel(&arguments)),
        Command::Resolve(arguments) => block_on(command::act::resolve(&arguments)),
        Command::Retry(arguments) => block_on(command::act::retry(&arguments)),
        Command::Instances(arguments) => block_on(command::instances::run(&arguments)),
        Command::Batch(arguments) => block_on(command::batch::run(&arguments)),
        Command::Delete(arguments) => block_on(command::delete::run(&arguments)),
        Command::Export(arguments) => block_on(command::export::run(&arguments)),
        Command::Import(arguments) => block_on(command::import::run(&arguments)),
        Command::Banned(arguments) => block_on(command::banned::run(&arguments)),
        Command::History(arguments) => block_on(command::history::run(&arguments)),
        Command::Restore(arguments) => command::restore::run(&arguments),
        Command::Partition(arguments) => block_on(command::partition::run(&arguments)),
        Command::Run(arguments) => block_on(command::run::run(&arguments)),
        #[cfg(feature = "lab")]
        Command::Lab(arguments) => command::lab::run(&arguments),
        Command::Bench(arguments) => block_on(command::bench::run(&arguments)),
        Command::DevCluster(arguments) => block_on(command::dev_cluster::run(&arguments)),
        Command::Demo(arguments) => block_on(command::demo::run(&arguments)),
        Command::ProfilePicture(arguments) => command::profile_picture::run(&arguments),
        Command::Profiles(arguments) => command::profiles::run(&arguments),
        Command::Completions(arguments) => command::completions::run(&arguments),
    }
}
