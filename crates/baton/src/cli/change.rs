//! Arguments of commands that change instances and resources, one by one or in batches.

use std::time::Duration;

use clap::{Args, Subcommand};
use clap_complete::ArgValueCandidates;

use super::{RestCommand, number, pair};
use crate::complete;

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(subcommand)]
    pub(crate) action: DeleteAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeleteAction {
    /// Delete process definitions, decision requirements, forms and other resources.
    Resources {
        /// Keys, or IDs of processes and decision requirements, with a version if there are several: order:2.
        #[arg(required = true, value_name = "KEY|ID[:VERSION]", add = ArgValueCandidates::new(complete::processes))]
        resources: Vec<String>,
        /// All versions of the IDs.
        #[arg(long)]
        all_versions: bool,
        /// Delete the history of their instances, too.
        #[arg(long)]
        history: bool,
        #[command(flatten)]
        to: RestCommand,
    },
    /// Delete the history of process instances that have ended.
    Instances {
        /// Keys of process instances.
        #[arg(required = true, value_name = "KEY", value_parser = number)]
        keys: Vec<i64>,
        #[command(flatten)]
        to: RestCommand,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Instances {
    #[command(subcommand)]
    pub(crate) action: InstancesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InstancesAction {
    /// Activate, move and terminate elements of a process instance.
    Modify(ModifyArguments),
    /// Let process instances go on in another version or another process.
    Migrate(MigrateArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ModifyArguments {
    /// Key of the process instance.
    #[arg(value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::instances))]
    pub(crate) key: i64,
    /// Activate this element. May be repeated.
    #[arg(long = "activate", value_name = "ELEMENT", required_unless_present_any = ["terminate", "moves"])]
    pub(crate) activate: Vec<String>,
    /// Terminate the element instance with this key, or all of this element. May be repeated.
    #[arg(long = "terminate", value_name = "ELEMENT|KEY")]
    pub(crate) terminate: Vec<String>,
    /// Terminate all instances of an element and activate another one for each. May be repeated.
    #[arg(long = "move", value_name = "FROM:TO", value_parser = pair)]
    pub(crate) moves: Vec<(String, String)>,
    /// Variables of the activated elements: a JSON object, @FILE, or @-.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) variables: Option<String>,
    /// Scope of the variables: a flow scope of the activated elements. Default: the process instance.
    #[arg(long, value_name = "ELEMENT", requires = "variables")]
    pub(crate) scope: Option<String>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

/// Where instances are migrated to.
#[derive(Debug, Args)]
pub(crate) struct MigrationPlan {
    /// BPMN process ID, for its latest version, ID:VERSION, or key of a process definition.
    #[arg(long = "to", value_name = "PROCESS", add = ArgValueCandidates::new(complete::processes))]
    pub(crate) target_process: String,
    /// Elements that have another ID there. May be repeated. All others keep theirs.
    #[arg(long = "map", value_name = "FROM:TO", value_parser = pair)]
    pub(crate) map: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateArguments {
    /// Keys of process instances.
    #[arg(required = true, value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::instances))]
    pub(crate) keys: Vec<i64>,
    #[command(flatten)]
    pub(crate) plan: MigrationPlan,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct BatchCommand {
    #[command(subcommand)]
    pub(crate) action: BatchAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BatchAction {
    /// List batch operations, the latest first.
    List {
        /// Filter by state, such as ACTIVE.
        #[arg(long, value_name = "STATE")]
        state: Option<String>,
        /// How many are shown.
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
        #[command(flatten)]
        to: RestCommand,
    },
    /// Show a batch operation and its items that failed.
    Get(BatchKey),
    /// Cancel batch operations; items that are done stay so.
    Cancel(BatchKeys),
    /// Suspend batch operations.
    Suspend(BatchKeys),
    /// Resume batch operations that are suspended.
    Resume(BatchKeys),
    /// Create a batch operation: the same for all instances that pass a filter.
    Create(BatchCreate),
}

#[derive(Debug, Args)]
pub(crate) struct BatchKey {
    /// Key of the batch operation.
    #[arg(value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::batches))]
    pub(crate) key: i64,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct BatchKeys {
    /// Keys of batch operations.
    #[arg(required = true, value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::batches))]
    pub(crate) keys: Vec<i64>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct BatchCreate {
    #[command(subcommand)]
    pub(crate) work: BatchWork,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BatchWork {
    /// Cancel process instances.
    Cancel(BatchOptions),
    /// Resolve the incidents of process instances.
    Resolve(BatchOptions),
    /// Migrate process instances.
    Migrate {
        #[command(flatten)]
        plan: MigrationPlan,
        #[command(flatten)]
        options: BatchOptions,
    },
    /// Move process instances from element to element.
    Modify {
        /// Terminate all instances of an element and activate another one for each. May be repeated.
        #[arg(long = "move", required = true, value_name = "FROM:TO", value_parser = pair)]
        moves: Vec<(String, String)>,
        #[command(flatten)]
        options: BatchOptions,
    },
    /// Delete the history of process instances that have ended.
    Delete(BatchOptions),
    /// Delete evaluated decisions.
    DeleteDecisions(BatchOptions),
}

/// Which instances, and how it is told.
#[derive(Debug, Args)]
pub(crate) struct BatchOptions {
    /// Filter by BPMN process ID; for decisions, by decision ID.
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(complete::processes))]
    pub(crate) process: Option<String>,
    /// Only this process instance. May be repeated.
    #[arg(long = "instance", value_name = "KEY", value_parser = number)]
    pub(crate) instances: Vec<i64>,
    /// Filter by state, such as ACTIVE.
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
    /// Any other filter of the API, as a JSON object; the options above are added to it.
    #[arg(long, value_name = "JSON")]
    pub(crate) filter: Option<String>,
    /// All there are: an empty filter is refused otherwise.
    #[arg(long)]
    pub(crate) all: bool,
    /// Tell how many would be concerned, and do nothing.
    #[arg(long, conflicts_with = "wait")]
    pub(crate) dry_run: bool,
    /// Wait until it has ended; exit code 1 if an item failed.
    #[arg(long)]
    pub(crate) wait: bool,
    /// With --wait: how long, such as 5m.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = bench::duration)]
    pub(crate) timeout: Duration,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}
