//! Arguments of commands that look at what happens and mend it.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap_complete::ArgValueCandidates;

use super::target::RestTarget;
use super::{RestCommand, key, number};
use crate::command::kind::Kind;
use crate::complete;

/// Which entities of a kind are meant.
#[derive(Debug, Default, Args)]
pub(crate) struct SearchFilter {
    /// Filter by BPMN process ID.
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(complete::processes))]
    pub(crate) process: Option<String>,
    /// Only those of this process instance.
    #[arg(long, value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::instances))]
    pub(crate) instance: Option<i64>,
    /// Filter by state, such as ACTIVE.
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
    /// Jobs of this type, element instances of this kind.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) of_type: Option<String>,
    /// Any other filter of the API, as a JSON object; the options above are added to it.
    #[arg(long, value_name = "JSON")]
    pub(crate) filter: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Kind of entity to search for.
    pub(crate) kind: Kind,
    #[command(flatten)]
    pub(crate) filter: SearchFilter,
    /// Order by a property, such as startDate, or startDate:desc. May be repeated. Default: the latest first, where
    /// that is known.
    #[arg(long = "sort", value_name = "PROPERTY[:desc]")]
    pub(crate) sort: Vec<String>,
    /// How many are shown.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    /// Cursor that the previous page ended with, to go on behind it.
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Kind of entity to show: instance, incident, job and so on.
    pub(crate) kind: Kind,
    /// Its key.
    #[arg(value_parser = key)]
    pub(crate) key: String,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Key of the process instance.
    #[arg(value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::instances))]
    pub(crate) key: i64,
    /// Give up after this time, such as 10m, with exit code 1. Default: never.
    #[arg(long, value_name = "TIME", value_parser = bench::duration)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// Keys of process instances.
    #[arg(required = true, value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::instances))]
    pub(crate) keys: Vec<i64>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// Keys of incidents.
    #[arg(required_unless_present = "instance", value_name = "KEY", value_parser = number)]
    #[arg(add = ArgValueCandidates::new(complete::incidents))]
    pub(crate) keys: Vec<i64>,
    /// All incidents of this process instance that are active.
    #[arg(long, value_name = "KEY", value_parser = number, conflicts_with = "keys")]
    #[arg(add = ArgValueCandidates::new(complete::instances))]
    pub(crate) instance: Option<i64>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each line of the output is an entity as the API answers it. The standard output ends early if nobody reads \
    it."
)]
pub(crate) struct Export {
    /// Kind of entity.
    pub(crate) kind: Kind,
    #[command(flatten)]
    pub(crate) filter: SearchFilter,
    /// File to make; it must not exist. Default: the standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Add what `baton import` needs: the XML of process definitions, the variables of process instances.
    #[arg(long)]
    pub(crate) whole: bool,
    #[command(flatten)]
    pub(crate) target: RestTarget,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Definitions (`processes`) are deployed, process instances are started anew with their variables, and \
    variables are set where they were. All else is the outcome of processes, and cannot be imported."
)]
pub(crate) struct Import {
    /// Kind of entity: processes, instances or variables.
    pub(crate) kind: Kind,
    /// File of `baton export --whole`. Default: the standard input.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Tenant that everything shall belong to.
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}
