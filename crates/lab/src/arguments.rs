//! `baton lab`: its arguments.

use std::path::PathBuf;
use std::time::Duration;

use crate::peer::PeerChoice;
use crate::worker::WorkerChoice;

/// `baton lab …`.
#[derive(Debug, Clone, clap::Args)]
pub struct LabArguments {
    /// The command of the lab.
    #[command(subcommand)]
    pub command: LabCommand,
}

/// Commands of the lab.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum LabCommand {
    /// List the experiments.
    List,
    /// Run experiments, each against servers of its own.
    Run(Box<RunArguments>),
    /// Show the results of a run again, or of two runs side by side.
    Report {
        /// Directory of a run.
        #[arg(value_name = "DIR")]
        first: PathBuf,
        /// Directory of another run, to compare with.
        #[arg(value_name = "DIR")]
        second: Option<PathBuf>,
        /// Directory of a later run on the same machine and in the same size: its rows take the place of those of the
        /// first. May be given several times.
        #[arg(long, value_name = "DIR", conflicts_with = "second")]
        later: Vec<PathBuf>,
        /// Write the results to this file as the page of the documents.
        #[arg(long, value_name = "FILE", conflicts_with = "second")]
        document: Option<PathBuf>,
        /// Print the table of REST against gRPC; with a file, write it there between the lines
        /// `<!-- REST against gRPC -->` and `<!-- end -->`.
        #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["second", "document"])]
        rest_against_grpc: Option<Option<PathBuf>>,
    },
    /// Be a job worker of an experiment: takes name=value, tells its counts.
    #[command(hide = true)]
    Worker {
        /// Pairs.
        #[arg(value_name = "NAME=VALUE")]
        knobs: Vec<String>,
    },
}

/// Choice and size of the experiments, and their surroundings.
#[derive(Debug, Clone, clap::Args)]
pub struct RunArguments {
    /// Experiments, such as E5; see `list`.
    #[arg(value_name = "EXPERIMENT", required_unless_present_any = ["all", "against"])]
    pub experiments: Vec<String>,
    /// Run all of them.
    #[arg(long, conflicts_with = "experiments")]
    pub all: bool,
    /// Seconds instead of minutes, three at a time; only what does not depend on the machine is judged.
    #[arg(long)]
    pub quick: bool,
    /// Lengths of the full size times this, such as 6 for an hour of what takes ten minutes.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, conflicts_with = "quick", value_parser = factor)]
    pub scale: f64,
    /// Shorten the lengths of the full size so that all rows end within this time, such as 25m. Each row tells its
    /// scale; time that one leaves goes to those after it.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["quick", "scale"], value_parser = bench::duration)]
    pub time_budget: Option<Duration>,
    /// Run rows that are void or miss something that a busy machine explains once more at the end, each alone.
    #[arg(long)]
    pub again: bool,
    /// Exit with 0 if rows are void or miss only something that a busy machine explains: for machines that do other
    /// things meanwhile. Something that is lost or doubled fails.
    #[arg(long)]
    pub spoiled_passes: bool,
    /// Directory for results, pages and logs.
    #[arg(long, value_name = "DIR", default_value = "lab-results")]
    pub out: PathBuf,
    /// Workers of the experiments with workers: that of the lab, or real ones. The environment variables
    /// LAB_JAVA_WORKER and LAB_NODE_WORKER are their command lines.
    #[arg(long, value_enum, default_value = "lab")]
    pub worker: WorkerChoice,
    /// Another build of the program to run the experiments on. Default: this one.
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// A setting of every server; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Schedule of creations for the experiment "a day in ten minutes", as of `baton bench --schedule-file`.
    #[arg(long, value_name = "FILE", value_parser = bench::Schedule::read)]
    pub day: Option<bench::Schedule>,
    /// Drive the same scenario on another system, and compare (P1).
    #[arg(long, value_enum)]
    pub against: Option<PeerChoice>,
    /// Command line of a program that starts that system and drives it with its own client, such as those below
    /// crates/lab/peers.
    #[arg(long, value_name = "COMMAND", requires = "against")]
    pub peer_driver: Option<String>,
    /// REST address of a system that runs already and speaks this API.
    #[arg(long, value_name = "URL", requires = "against")]
    pub peer_rest: Option<String>,
    /// gRPC address of that system.
    #[arg(long, value_name = "URL", requires = "against")]
    pub peer_grpc: Option<String>,
    /// Its process, for its CPU and memory, if it is on this machine.
    #[arg(long, value_name = "PID", requires = "against")]
    pub peer_process: Option<u32>,
    /// A PostgreSQL for E15, such as postgres://user@host:5432/database; a schema of its own is made there.
    #[arg(long, value_name = "URL")]
    pub postgres: Option<String>,
    /// An OpenSearch for E15, such as http://host:9200; indices with a prefix of their own are made there.
    #[arg(long, value_name = "URL")]
    pub opensearch: Option<String>,
    /// Experiments at a time. Default: 3 in quick size, else 1.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub lanes: Option<u32>,
    /// Print JSON instead of tables.
    #[arg(long)]
    pub json: bool,
    /// A variable of every server's environment, for tests that plant faults.
    #[arg(long = "server-env", value_name = "NAME=VALUE", hide = true)]
    pub environment: Vec<String>,
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("must be a number above zero".to_owned()),
    }
}
