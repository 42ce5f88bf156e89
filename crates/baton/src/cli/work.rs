//! Arguments of commands that deploy and run processes and do their work.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use clap_complete::ArgValueCandidates;

use super::target::Target;
use super::{RestCommand, number};
use crate::complete;

#[derive(Debug, Args)]
pub(crate) struct Deploy {
    /// BPMN, DMN, form and any other files.
    #[arg(required = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Refuse files that are neither models nor forms, instead of deploying them as generic resources.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Tenant that they shall belong to.
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print the answer of the API.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// BPMN process ID, or key of a process definition.
    #[arg(value_name = "PROCESS", add = ArgValueCandidates::new(complete::processes))]
    pub(crate) process: String,
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
    /// With --await: how long to wait, such as 30s. The instance goes on afterwards.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = bench::duration)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print the answer of the API.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Jobs {
    #[command(subcommand)]
    pub(crate) action: JobsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobsAction {
    /// Take jobs. Until their time-out nobody else gets them.
    Activate(ActivateArguments),
    /// Complete jobs.
    Complete(CompleteArguments),
    /// Report that jobs could not be done.
    Fail(FailArguments),
    /// Throw a BPMN error at jobs, for the process to catch.
    Throw(ThrowArguments),
    /// Give jobs retries, and resolve their incidents.
    Retry(Retry),
}

#[derive(Debug, Args)]
pub(crate) struct ActivateArguments {
    /// Type of the jobs.
    #[arg(value_name = "TYPE", add = ArgValueCandidates::new(complete::job_types))]
    pub(crate) job_type: String,
    /// How many at the most.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) count: u32,
    /// How long they are this worker's, such as 5m.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = bench::duration)]
    pub(crate) timeout: Duration,
    /// How long to wait for a job, such as 10s. Default: not at all.
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true, value_parser = bench::duration)]
    pub(crate) wait: Duration,
    #[command(flatten)]
    pub(crate) worker: WorkerArguments,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

/// Jobs that something is done with.
#[derive(Debug, Args)]
pub(crate) struct JobKeys {
    /// Keys of jobs.
    #[arg(required = true, value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::jobs))]
    pub(crate) keys: Vec<i64>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

/// Name of a worker, and the jobs that it takes.
#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    /// Name of the worker.
    #[arg(id = "worker", long = "worker", value_name = "NAME", default_value = "baton")]
    pub(crate) name: String,
    /// Variable to hand out. May be repeated. Default: all.
    #[arg(long = "fetch", value_name = "NAME")]
    pub(crate) fetch: Vec<String>,
    /// Tenant of the jobs. May be repeated.
    #[arg(long = "tenant", value_name = "ID")]
    pub(crate) tenants: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompleteArguments {
    #[command(flatten)]
    pub(crate) jobs: JobKeys,
    /// Result: a JSON object, @FILE, or @- for the standard input.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) variables: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FailArguments {
    #[command(flatten)]
    pub(crate) jobs: JobKeys,
    /// Reason, for people.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) message: String,
    /// Retries left; 0 raises an incident. Default: one less than the job has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    pub(crate) retries: Option<i32>,
    /// Pause before the next try, such as 30s. Default: none.
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true, value_parser = bench::duration)]
    pub(crate) backoff: Duration,
    /// Variables of the element: a JSON object, @FILE, or @-.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) variables: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ThrowArguments {
    /// Code of the error, which error events catch.
    #[arg(value_name = "CODE")]
    pub(crate) code: String,
    #[command(flatten)]
    pub(crate) jobs: JobKeys,
    /// Reason, for people.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) message: String,
    /// Variables for the catching event: a JSON object, @FILE, or @-.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) variables: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Retry {
    #[command(flatten)]
    pub(crate) jobs: JobKeys,
    /// How many retries they get.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) retries: i32,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A handler gets the variables of a job at its standard input, as a JSON object, and is run by `sh -c`. Its \
    exit code is the outcome: 0 completes the job, with the JSON object of its standard output as result, if \
    any; 100 throws a BPMN error, whose code is its standard output; any other code fails the job with one retry \
    less and with the last lines of its standard error output as message. Variables JOB_KEY, JOB_TYPE, \
    JOB_RETRIES, JOB_HEADERS, JOB_ELEMENT_ID, JOB_PROCESS_ID and JOB_PROCESS_INSTANCE_KEY tell about the \
    job.\n\nA job in work is renewed before its time-out. The first SIGINT or SIGTERM lets handlers end, the \
    second kills them and gives their jobs back."
)]
pub(crate) struct Work {
    /// Type of the jobs.
    #[arg(value_name = "TYPE", add = ArgValueCandidates::new(complete::job_types))]
    pub(crate) job_type: String,
    /// Command of the shell that handles a job. Default: each job is completed as it is.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) handler: Option<String>,
    /// Without a handler: result of each job, a JSON object, @FILE, or @-.
    #[arg(long, value_name = "JSON|@FILE", conflicts_with = "handler")]
    pub(crate) variables: Option<String>,
    /// End after so many jobs. Default: work until SIGINT or SIGTERM.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) count: Option<u32>,
    /// Jobs in work at a time.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) parallel: u32,
    /// How long a job is this worker's at a time, such as 1m; renewed while its handler runs.
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = bench::duration)]
    pub(crate) timeout: Duration,
    /// How long a handler may run, such as 10m; then it is killed and its job fails. Default: for ever.
    #[arg(long, value_name = "TIME", requires = "handler", value_parser = bench::duration)]
    pub(crate) time_limit: Option<Duration>,
    /// Pause of a failed job before its next try, such as 30s. Default: none.
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true, value_parser = bench::duration)]
    pub(crate) backoff: Duration,
    #[command(flatten)]
    pub(crate) worker: WorkerArguments,
    #[command(flatten)]
    pub(crate) target: Target,
    /// Print a JSON object on a line for each job.
    #[arg(long)]
    pub(crate) json: bool,
}
