//! Arguments of commands that deploy and run processes and do their work.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::connect::Target;

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
