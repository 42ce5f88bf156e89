//! Arguments of commands that look at what happens and mend it.

use clap::Args;

use super::{key, number};
use crate::command::kind::Kind;
use crate::connect::RestTarget;

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
