//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::command::kind::Kind;
use crate::connect::{ManagementTarget, RestTarget, Target};

/// A process orchestration engine that speaks the Camunda 8 API.
#[derive(Debug, Parser)]
#[command(name = "baton", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 refused or failed, 2 wrong command line or configuration, 3 server not reachable."
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
    /// Find process instances, incidents, jobs and other entities in secondary storage.
    Search(Box<Search>),
    /// Show one entity and its parts.
    Show(Show),
    /// Cancel process instances.
    Cancel(Cancel),
    /// Resolve incidents and retry the stopped elements.
    Resolve(Resolve),
    /// Give jobs retries, and resolve their incidents.
    Retry(Retry),
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
    /// Start a server, run orders through it over gRPC and over REST, and compare.
    Demo(Demo),
    /// Run the brokers of one cluster on this machine, until SIGTERM or Ctrl-C. Not for production.
    DevCluster(DevCluster),
    /// Print the completions of a shell.
    Completions(Completions),
    /// Make a picture of the samples at the standard input, for a server.
    #[command(hide = true)]
    ProfilePicture(ProfilePicture),
}

#[derive(Debug, Args)]
pub(crate) struct ProfilePicture {
    /// Output format: svg or collapsed.
    #[arg(value_name = "FORMAT")]
    pub(crate) format: String,
}

/// Settings may also stand in the configuration file (see `baton config`) or in BATON_* variables; flags win.
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// Configuration file.
    #[arg(long, value_name = "FILE", env = "BATON_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the log, the state and the snapshots (data.directory).
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<String>,
    /// Where the REST API listens (rest.listen).
    #[arg(long, value_name = "ADDR")]
    pub(crate) rest: Option<String>,
    /// Where the gRPC API listens (grpc.listen).
    #[arg(long, value_name = "ADDR")]
    pub(crate) grpc: Option<String>,
    /// Where probes, metrics and operations listen (management.listen).
    #[arg(long, value_name = "ADDR")]
    pub(crate) management: Option<String>,
    /// Log levels, such as info or info,broker=debug (logging.level).
    #[arg(long, value_name = "LEVELS")]
    pub(crate) log_level: Option<String>,
    /// Shape of the log lines: text or json (logging.format).
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,
    /// Brokers that are asked for the list of their cluster, such as host-a:26502 (cluster.join).
    #[arg(long, value_name = "ADDRS")]
    pub(crate) join: Option<String>,
    /// Any other setting, such as state.flush_interval=1s. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) settings: Vec<(String, String)>,
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

/// The same of what has a number alone.
fn number(text: &str) -> Result<i64, String> {
    text.parse().ok().filter(|key| *key > 0).ok_or_else(|| "expected a key: digits".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct Config {
    /// Check this file together with the BATON_* variables instead.
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Health {
    #[command(flatten)]
    pub(crate) target: ManagementTarget,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Partition {
    #[command(subcommand)]
    pub(crate) action: PartitionAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PartitionAction {
    /// Set the batch aside that the server stood at: it is not applied at the next start, and the instances that it
    /// is about are banned.
    Skip {
        /// Position of the batch in the log, as the liveness probe and the log of the server tell it.
        #[arg(value_name = "POSITION", value_parser = clap::value_parser!(u64).range(1..))]
        position: u64,
        /// Directory of the log and the state; no server may have it open.
        #[arg(long, value_name = "DIR")]
        data_dir: PathBuf,
        /// Take any batch that the state on disk does not have, though the server has not noted that it stood
        /// there. Its changes are undone, acknowledged ones included.
        #[arg(long)]
        force: bool,
    },
    /// List the batches that were set aside, or show the commands of one.
    Skipped {
        /// Position of the batch in the log.
        #[arg(value_name = "POSITION")]
        position: Option<u64>,
        /// Directory of the log and the state.
        #[arg(long, value_name = "DIR")]
        data_dir: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct History {
    #[command(subcommand)]
    pub(crate) action: HistoryAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryAction {
    /// Copy the file of the embedded history as of one moment. The server goes on meanwhile.
    Copy {
        /// File to make; it must not exist.
        #[arg(value_name = "FILE")]
        target: PathBuf,
        /// Directory that the server is started with.
        #[arg(long, value_name = "DIR")]
        data_dir: PathBuf,
        /// File of the history in it (secondary_storage.sqlite.path).
        #[arg(long, value_name = "FILE")]
        path: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// Number of the backup.
    #[arg(value_name = "ID")]
    pub(crate) backup_id: u64,
    /// Directory of the backups (backup.directory).
    #[arg(long, value_name = "DIR")]
    pub(crate) backups: PathBuf,
    /// Directory to begin, without state and log.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Banned {
    /// Let this process instance go on where it stood.
    #[arg(long, value_name = "KEY", value_parser = number, conflicts_with = "cancel")]
    pub(crate) release: Option<i64>,
    /// Cancel this process instance, with all that called it and all that it called.
    #[arg(long, value_name = "KEY", value_parser = number)]
    pub(crate) cancel: Option<i64>,
    #[command(flatten)]
    pub(crate) target: ManagementTarget,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Deploy {
    /// BPMN, DMN, form and any other files.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Tenant that they shall belong to.
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// BPMN process ID.
    pub(crate) process_id: String,
    /// Start variables: a JSON object, @FILE, or @- for the standard input.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) variables: Option<String>,
    /// Version of the process. Default: the latest.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) version: Option<i32>,
    /// Tenant of the process.
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    /// Wait for the end of the instance and print its variables.
    #[arg(long = "await")]
    pub(crate) wait: bool,
    /// With --await: how long to wait.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = bench::duration)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Kind of entity to search for.
    pub(crate) kind: Kind,
    /// Filter by BPMN process ID.
    #[arg(long, value_name = "ID")]
    pub(crate) process: Option<String>,
    /// Only those of this process instance.
    #[arg(long, value_name = "KEY", value_parser = number)]
    pub(crate) instance: Option<i64>,
    /// Filter by state, such as ACTIVE.
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
    /// Jobs of this type, element instances of this kind.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) job_type: Option<String>,
    /// Any other filter of the API, as a JSON object; the options above are added to it.
    #[arg(long, value_name = "JSON")]
    pub(crate) filter: Option<String>,
    /// Order by a property, such as startDate, or startDate:desc. May be repeated. Default: the latest first, where
    /// that is known.
    #[arg(long = "sort", value_name = "PROPERTY[:desc]")]
    pub(crate) sort: Vec<String>,
    /// How many are shown.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    /// Cursor at the end of the previous page.
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
    #[command(flatten)]
    pub(crate) target: RestTarget,
    /// Print the answer of the API.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Kind of entity to show: instance, incident, job and so on.
    pub(crate) kind: Kind,
    /// Its key.
    #[arg(value_parser = key)]
    pub(crate) key: String,
    #[command(flatten)]
    pub(crate) target: RestTarget,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// Keys of process instances.
    #[arg(required = true, value_name = "KEY", value_parser = number)]
    pub(crate) keys: Vec<i64>,
    #[command(flatten)]
    pub(crate) target: RestTarget,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// Keys of incidents.
    #[arg(required_unless_present = "instance", value_name = "KEY", value_parser = number)]
    pub(crate) keys: Vec<i64>,
    /// All incidents of this process instance that are active.
    #[arg(long, value_name = "KEY", value_parser = number, conflicts_with = "keys")]
    pub(crate) instance: Option<i64>,
    #[command(flatten)]
    pub(crate) target: RestTarget,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// Keys of jobs.
    #[arg(required = true, value_name = "KEY", value_parser = number)]
    pub(crate) keys: Vec<i64>,
    /// How many retries they get.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) retries: i32,
    #[command(flatten)]
    pub(crate) target: RestTarget,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) options: bench::Options,
    /// Print JSON instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) more: Option<BenchCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Take all measurements that the project promises, each against a server of its own.
    Suite(bench::suite::SuiteOptions),
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Instances started per second.
    #[arg(long, value_name = "PER_SECOND", default_value_t = 150.0)]
    pub(crate) rate: f64,
    /// How long each of the two runs is measured.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = bench::duration)]
    pub(crate) duration: Duration,
    /// How long each runs before that.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = bench::duration)]
    pub(crate) warm_up: Duration,
    /// Where the scratch directory is made. Default: the system's place for temporary files.
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// Write a page with plots to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave the server running on the usual ports, with orders in it, until Ctrl-C.
    #[arg(long)]
    pub(crate) stay: bool,
}

/// Broker i, from 0, listens at P+10i (REST), P+10i+1 (gRPC), P+10i+2 (management) and P+10i+3 (peers), P being the
/// base port. Its configuration is DIR/broker-i/baton.yaml, its log DIR/broker-i/log and its process ID
/// DIR/broker-i/pid. A broker that ends is not started again: start it with
/// `baton start --config DIR/broker-i/baton.yaml`; then it is no longer stopped with the others.
#[derive(Debug, Args)]
pub(crate) struct DevCluster {
    /// How many brokers.
    #[arg(value_name = "N", value_parser = clap::value_parser!(u16).range(1..=9))]
    pub(crate) brokers: u16,
    /// Directory of all of them.
    #[arg(long, value_name = "DIR", default_value = "baton-cluster")]
    pub(crate) data_dir: PathBuf,
    /// First port.
    #[arg(long, value_name = "PORT", default_value_t = 26500, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) base_port: u16,
    /// A setting of all of them; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) settings: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell.
    pub(crate) shell: clap_complete::Shell,
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
        assert!(key_value("a.b").is_err() && key_value("=c").is_err());
    }
}
