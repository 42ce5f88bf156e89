//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::connect::Target;

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
    /// Deploy files together: all or none.
    Deploy(Deploy),
    /// Start an instance of a process.
    Run(Run),
    /// List process instances that the engine failed on and set aside; release or cancel them.
    Banned(Banned),
    /// Put load on a server and measure it.
    Bench(Box<Bench>),
    /// Start a server, run orders through it over gRPC and over REST, and compare.
    Demo(Demo),
    /// Print the completions of a shell.
    Completions(Completions),
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
    /// What is logged, such as info or info,broker=debug (logging.level).
    #[arg(long, value_name = "LEVELS")]
    pub(crate) log_level: Option<String>,
    /// Shape of the log lines: text or json (logging.format).
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,
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
pub(crate) struct Banned {
    /// Let this process instance go on where it stood.
    #[arg(long, value_name = "KEY", conflicts_with = "cancel")]
    pub(crate) release: Option<i64>,
    /// Cancel this process instance, with all that called it and all that it called.
    #[arg(long, value_name = "KEY")]
    pub(crate) cancel: Option<i64>,
    /// Address of the management port.
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://localhost:9600",
        env = "BATON_MANAGEMENT_ADDRESS"
    )]
    pub(crate) management_address: String,
    /// How long a request may take.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = bench::duration)]
    pub(crate) request_timeout: Duration,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Deploy {
    /// BPMN, DMN, form and any other files.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
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
    fn settings_are_pairs() {
        assert_eq!(key_value("a.b=c=d"), Ok(("a.b".to_owned(), "c=d".to_owned())));
        assert!(key_value("a.b").is_err() && key_value("=c").is_err());
    }
}
