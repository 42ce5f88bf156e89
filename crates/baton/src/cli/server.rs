//! Arguments of the server, and of commands about servers and their data.

use std::path::PathBuf;
use std::time::Duration;

use broker::set_aside::ClosedPartition;
use clap::{Args, Subcommand};
use clap_complete::ArgValueCandidates;
use protocol::PartitionId;

use super::target::{ManagementTarget, Target};
use super::{key_value, number};
use crate::complete;

#[derive(Debug, Args)]
pub(crate) struct ProfilePicture {
    /// Output format: svg or collapsed.
    #[arg(value_name = "FORMAT")]
    pub(crate) format: String,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Settings may also stand in the configuration file (see `baton config`) or in BATON_* variables; flags win."
)]
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
    /// Let ports that ask for no credentials listen on other addresses than loopback (security.open).
    #[arg(long)]
    pub(crate) open: bool,
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
    /// Print the answer of the API.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Health {
    #[command(flatten)]
    pub(crate) target: ManagementTarget,
    /// Print the answer of the management port.
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
        #[command(flatten)]
        place: PartitionPlace,
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
        #[command(flatten)]
        place: PartitionPlace,
    },
}

/// The place of a partition on this machine.
#[derive(Debug, Args)]
pub(crate) struct PartitionPlace {
    /// Directory of the log and the state; no server may have it open.
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,
    /// Number of the partition.
    #[arg(long, value_name = "N", default_value_t = protocol::FIRST_PARTITION, value_parser = clap::value_parser!(u16).range(1..))]
    partition: PartitionId,
}

impl PartitionPlace {
    /// The partition, which no server has open.
    pub(crate) fn closed(&self) -> ClosedPartition<'_> {
        ClosedPartition::new(&self.data_dir, self.partition)
    }
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
    /// Have the history of a running server go on without the records that are missing for good.
    Begin {
        #[command(flatten)]
        target: ManagementTarget,
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
    #[cfg(feature = "suite")]
    Suite(Box<bench::suite::SuiteOptions>),
    /// Put measurements together, such as those of several load generators: quantiles are those of all requests.
    Merge {
        /// Files that `--report` has written.
        #[arg(value_name = "FILE", required = true)]
        reports: Vec<PathBuf>,
        /// They were taken one after the other. Default: at the same time, so that rates add up.
        #[arg(long)]
        one_after_the_other: bool,
    },
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

#[derive(Debug, Args)]
#[command(
    after_help = "Broker i, from 0, listens at P+10i (REST), P+10i+1 (gRPC), P+10i+2 (management) and P+10i+3 (peers), P being \
    the base port. Its configuration is DIR/broker-i/baton.yaml, its log DIR/broker-i/log and its process ID \
    DIR/broker-i/pid. A broker that ends is not started again: start it with `baton start --config \
    DIR/broker-i/baton.yaml`; then it is no longer stopped with the others."
)]
pub(crate) struct DevCluster {
    /// How many brokers.
    #[arg(value_name = "N", value_parser = clap::value_parser!(u16).range(1..=9))]
    pub(crate) brokers: u16,
    /// How many partitions; each broker has a replica of each.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) partitions: u16,
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
    /// Name of the shell.
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    pub(crate) shell: String,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Profiles are in `baton/profiles.yaml` of the user's configuration directory, which nobody else may read. \
    `--profile NAME` or BATON_PROFILE chooses one; the default one is for commands that name none."
)]
pub(crate) struct ProfilesCommand {
    #[command(subcommand)]
    pub(crate) action: ProfilesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesAction {
    /// List profiles, without their secrets.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make a profile, or change the named settings of one.
    Set(ProfileSettings),
    /// Make a profile the default one.
    Use {
        /// Name of the profile.
        #[arg(add = ArgValueCandidates::new(complete::profiles))]
        name: String,
    },
    /// Remove a profile.
    Remove {
        /// Name of the profile.
        #[arg(add = ArgValueCandidates::new(complete::profiles))]
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ProfileSettings {
    /// Name of the profile.
    #[arg(add = ArgValueCandidates::new(complete::profiles))]
    pub(crate) name: String,
    /// Address of the REST API.
    #[arg(long, value_name = "URL")]
    pub(crate) rest_address: Option<String>,
    /// Address of the gRPC API.
    #[arg(long, value_name = "URL")]
    pub(crate) grpc_address: Option<String>,
    /// Address of the management port.
    #[arg(long, value_name = "URL")]
    pub(crate) management_address: Option<String>,
    /// User name.
    #[arg(long, value_name = "NAME")]
    pub(crate) username: Option<String>,
    /// Read the password of the user from the standard input.
    #[arg(long, conflicts_with = "token_stdin")]
    pub(crate) password_stdin: bool,
    /// Read a bearer token from the standard input.
    #[arg(long, conflicts_with = "username")]
    pub(crate) token_stdin: bool,
    /// PEM file with the authorities that sign the certificates of servers with https.
    #[arg(long, value_name = "FILE")]
    pub(crate) authorities: Option<PathBuf>,
    /// PEM file with the certificate chain for a server that asks for one.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate_chain: Option<PathBuf>,
    /// PEM file with the private key of that certificate.
    #[arg(long, value_name = "FILE")]
    pub(crate) private_key: Option<PathBuf>,
    /// How long a request may take, such as 10s.
    #[arg(long, value_name = "TIME", value_parser = bench::duration)]
    pub(crate) request_timeout: Option<Duration>,
    /// Make it the default one.
    #[arg(long)]
    pub(crate) default: bool,
}
