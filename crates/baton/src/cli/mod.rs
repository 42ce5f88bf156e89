//! The command line: [`Command`] lists the commands; their arguments stand in a file for each kind of user.

mod change;
mod operate;
mod process;
mod server;
mod target;
mod work;

use clap::{Args, Parser, Subcommand};
use client::RestClient;

pub(crate) use self::change::{
    BatchAction, BatchCommand, BatchCreate, BatchKey, BatchKeys, BatchOptions, BatchWork, Delete,
    DeleteAction, Instances, InstancesAction, MigrateArguments, MigrationPlan, ModifyArguments,
};
pub(crate) use self::operate::{Cancel, Export, Import, Resolve, Search, SearchFilter, Show, Watch};
pub(crate) use self::process::{
    AssignArguments, BroadcastArguments, CompleteTaskArguments, CorrelateArguments, Decisions,
    DecisionsAction, EvaluateArguments, EventContent, Feel, GetArguments, MessageArguments, Messages,
    MessagesAction, PublishArguments, SetArguments, Signals, SignalsAction, TaskListArguments, Tasks,
    TasksAction, VariablesAction, VariablesCommand,
};
pub(crate) use self::server::{
    Banned, Bench, BenchCommand, Completions, Config, Demo, DevCluster, Health, History, HistoryAction,
    Partition, PartitionAction, ProfilePicture, ProfileSettings, ProfilesAction, ProfilesCommand, Restore,
    Start, Status,
};
pub(crate) use self::work::{
    ActivateArguments, CompleteArguments, Deploy, FailArguments, JobKeys, Jobs, JobsAction, Retry, Run,
    ThrowArguments, Work,
};
use crate::failure::Failure;
use target::RestTarget;

/// A server's REST API, and how the answer is printed.
#[derive(Debug, Args)]
pub(crate) struct RestCommand {
    #[command(flatten)]
    pub(crate) target: RestTarget,
    /// Print JSON: the answer of the API.
    #[arg(long)]
    pub(crate) json: bool,
}

impl RestCommand {
    /// A client of the server.
    pub(crate) fn connect(&self) -> Result<RestClient, Failure> {
        self.target.connect()
    }
}

/// A process orchestration engine that speaks the Camunda 8 API.
#[derive(Debug, Parser)]
#[command(name = "baton", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 refused or failed, 2 wrong command line or configuration, 3 nothing answers at the address."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server in the foreground, until SIGTERM or Ctrl-C.
    Start(Start),
    /// Print the commented default configuration file, or check one.
    Config(Config),
    /// Show the cluster as its gateway sees it.
    Status(Status),
    /// Say whether a server takes requests and how its parts are, as its management port tells; exit code 1 if it
    /// does not.
    Health(Health),
    /// Deploy files together: all or none.
    Deploy(Deploy),
    /// Start an instance of a process.
    Run(Run),
    /// Be a job worker without code: run a command for each job.
    Work(Box<Work>),
    /// Take jobs and end them.
    Jobs(Jobs),
    /// Publish and correlate messages.
    Messages(Messages),
    /// Broadcast signals.
    Signals(Signals),
    /// Set and show variables.
    Variables(VariablesCommand),
    /// List, assign and complete user tasks.
    Tasks(Tasks),
    /// Evaluate decisions.
    Decisions(Decisions),
    /// Evaluate a FEEL expression.
    Feel(Feel),
    /// Find process instances, incidents, jobs and other entities in secondary storage.
    Search(Box<Search>),
    /// Show one entity and its parts.
    Show(Show),
    /// Watch a process instance until it ends: elements entered and left, incidents.
    Watch(Watch),
    /// Cancel process instances.
    Cancel(Cancel),
    /// Resolve incidents and retry the stopped elements.
    Resolve(Resolve),
    /// Give jobs retries, and resolve their incidents: short for `jobs retry`.
    Retry(Retry),
    /// Modify and migrate process instances.
    Instances(Instances),
    /// Do the same for many instances: batch operations.
    Batch(Box<BatchCommand>),
    /// Delete resources, or the history of instances.
    Delete(Delete),
    /// Write all entities that a search finds, as JSON lines.
    Export(Export),
    /// Bring exported processes, instances or variables to a server.
    Import(Import),
    /// List process instances that the engine failed on and set aside; release or cancel them.
    Banned(Banned),
    /// Set a batch of commands aside that stops a partition, while no server runs on its data directory; look at
    /// such batches.
    Partition(Partition),
    /// Copy the embedded history to another file, while a server runs on its data directory or not.
    History(History),
    /// Begin a new data directory with a backup, while no server runs on it.
    Restore(Restore),
    /// Put load on a server and measure it.
    Bench(Box<Bench>),
    /// Run published experiments again, on servers of its own, and compare with what was published; exit code 1 if an
    /// expectation fails, 2 if it cannot run here.
    #[cfg(feature = "lab")]
    Lab(Box<lab::LabArguments>),
    /// Start a server, run orders through it over gRPC and over REST, and compare.
    Demo(Demo),
    /// Run the brokers of one cluster on this machine, until SIGTERM or Ctrl-C. Not for production.
    DevCluster(DevCluster),
    /// Keep the addresses and credentials of servers under names.
    Profiles(ProfilesCommand),
    /// Print the script that completes commands in a shell, with the processes and keys of the server.
    Completions(Completions),
    /// Make a picture of the samples at the standard input, for a server.
    #[command(hide = true)]
    ProfilePicture(ProfilePicture),
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// Digits; evaluated decisions have two numbers.
fn key(text: &str) -> Result<String, String> {
    let is_key = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '-');
    if is_key { Ok(text.to_owned()) } else { Err("expected a key: digits".to_owned()) }
}

/// A key that is one number above 0.
fn number(text: &str) -> Result<i64, String> {
    text.parse().ok().filter(|key| *key > 0).ok_or_else(|| "expected a key: digits".to_owned())
}

/// Two elements, `FROM:TO`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok((from.to_owned(), to.to_owned())),
        _ => Err("expected two element IDs, FROM:TO".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn settings_are_pairs_and_keys_are_digits() {
        assert_eq!(key_value("a.b=c=d"), Ok(("a.b".to_owned(), "c=d".to_owned())));
        assert_eq!(number("2251799813685249"), Ok(2_251_799_813_685_249));
        for wrong in ["abc", "-1", "0", "1-2", ""] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
        assert_eq!(pair("a:b"), Ok(("a".to_owned(), "b".to_owned())));
        assert!(pair("a").is_err() && pair(":b").is_err() && pair("a:").is_err());
        assert!(key_value("a.b").is_err() && key_value("=c").is_err());
    }
}
