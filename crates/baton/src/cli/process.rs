//! Arguments of commands that processes and people notice: messages, signals, variables, user tasks, decisions.

use std::time::Duration;

use clap::{Args, Subcommand};
use clap_complete::ArgValueCandidates;

use super::{RestCommand, number};
use crate::complete;

#[derive(Debug, Args)]
pub(crate) struct Messages {
    #[command(subcommand)]
    pub(crate) action: MessagesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MessagesAction {
    /// Publish a message. It is kept for its time to live if nobody waits for it yet.
    Publish(PublishArguments),
    /// Correlate a message now, or fail.
    Correlate(CorrelateArguments),
}

#[derive(Debug, Args)]
pub(crate) struct PublishArguments {
    #[command(flatten)]
    pub(crate) message: MessageArguments,
    /// How long it is kept, such as 10m; 0s keeps nothing.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = bench::duration)]
    pub(crate) ttl: Duration,
    /// ID of the message: another one with it is refused while this one is kept.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct CorrelateArguments {
    #[command(flatten)]
    pub(crate) message: MessageArguments,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct MessageArguments {
    /// Name of the message.
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::messages))]
    pub(crate) name: String,
    /// Correlation key. Default: none, for message start events.
    #[arg(long = "key", value_name = "TEXT", default_value = "")]
    pub(crate) correlation_key: String,
    #[command(flatten)]
    pub(crate) content: EventContent,
}

/// Content of a message or a signal, and its tenant.
#[derive(Debug, Args)]
pub(crate) struct EventContent {
    /// Variables: a JSON object, @FILE, or @- for the standard input.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) variables: Option<String>,
    /// Tenant of the processes.
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Signals {
    #[command(subcommand)]
    pub(crate) action: SignalsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SignalsAction {
    /// Broadcast a signal to all that wait for it.
    Broadcast(BroadcastArguments),
}

#[derive(Debug, Args)]
pub(crate) struct BroadcastArguments {
    /// Name of the signal.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) content: EventContent,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct VariablesCommand {
    #[command(subcommand)]
    pub(crate) action: VariablesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VariablesAction {
    /// Set variables of a process instance or an element instance.
    Set(SetArguments),
    /// Show variables of a process instance or an element instance; the value alone of one that is named.
    Get(GetArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SetArguments {
    /// Key of a process instance or an element instance.
    #[arg(value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::instances))]
    pub(crate) key: i64,
    /// Variables, each with its value as JSON, such as 'name="Ann"' or total=12.
    #[arg(required_unless_present = "variables", value_name = "NAME=JSON")]
    pub(crate) pairs: Vec<String>,
    /// All variables as a JSON object, @FILE, or @- for the standard input.
    #[arg(long, value_name = "JSON|@FILE", conflicts_with = "pairs")]
    pub(crate) variables: Option<String>,
    /// Set them there, even if a scope outside has variables of the same names.
    #[arg(long)]
    pub(crate) local: bool,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct GetArguments {
    /// Key of a process instance or an element instance.
    #[arg(value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::instances))]
    pub(crate) key: i64,
    /// Name of one variable.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct Tasks {
    #[command(subcommand)]
    pub(crate) action: TasksAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TasksAction {
    /// List user tasks, those that are open unless told otherwise.
    List(TaskListArguments),
    /// Assign a user task to somebody, or to nobody.
    Assign(AssignArguments),
    /// Complete user tasks.
    Complete(CompleteTaskArguments),
}

#[derive(Debug, Args)]
pub(crate) struct TaskListArguments {
    /// Tasks of this assignee.
    #[arg(long, value_name = "USER", conflicts_with = "unassigned")]
    pub(crate) assignee: Option<String>,
    /// Tasks without an assignee.
    #[arg(long)]
    pub(crate) unassigned: bool,
    /// Tasks that this user may take.
    #[arg(long, value_name = "USER")]
    pub(crate) candidate_user: Option<String>,
    /// Tasks that this group may take.
    #[arg(long, value_name = "GROUP")]
    pub(crate) candidate_group: Option<String>,
    /// Tasks of this BPMN process ID.
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(complete::processes))]
    pub(crate) process: Option<String>,
    /// Tasks of this process instance.
    #[arg(long, value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::instances))]
    pub(crate) instance: Option<i64>,
    /// State of the tasks, or ALL.
    #[arg(long, value_name = "STATE", default_value = "CREATED")]
    pub(crate) state: String,
    /// How many are shown.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct AssignArguments {
    /// Key of the user task.
    #[arg(value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::tasks))]
    pub(crate) key: i64,
    /// The assignee.
    #[arg(required_unless_present = "nobody", value_name = "USER")]
    pub(crate) assignee: Option<String>,
    /// Take the task away from its assignee.
    #[arg(long, conflicts_with = "assignee")]
    pub(crate) nobody: bool,
    /// Fail if somebody else has it.
    #[arg(long, conflicts_with = "nobody")]
    pub(crate) no_override: bool,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct CompleteTaskArguments {
    /// Keys of user tasks.
    #[arg(required = true, value_name = "KEY", value_parser = number, add = ArgValueCandidates::new(complete::tasks))]
    pub(crate) keys: Vec<i64>,
    /// Result: a JSON object, @FILE, or @- for the standard input.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) variables: Option<String>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
pub(crate) struct Decisions {
    #[command(subcommand)]
    pub(crate) action: DecisionsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DecisionsAction {
    /// Evaluate a deployed decision.
    Evaluate(EvaluateArguments),
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArguments {
    /// ID of a decision, for its latest version, or key of a decision definition.
    #[arg(value_name = "DECISION", add = ArgValueCandidates::new(complete::decisions))]
    pub(crate) decision: String,
    /// Input: a JSON object, @FILE, or @- for the standard input.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) variables: Option<String>,
    /// Tenant of the decision.
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The expression is evaluated here, unless it needs the server: cluster variables are known there alone."
)]
pub(crate) struct Feel {
    /// FEEL expression, with or without `=` in front; @FILE, or @- for the standard input.
    #[arg(value_name = "EXPRESSION|@FILE")]
    pub(crate) expression: String,
    /// Variables of the expression: a JSON object, @FILE, or @-.
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) variables: Option<String>,
    /// Evaluate it at the server, where cluster variables are known.
    #[arg(long)]
    pub(crate) server: bool,
    /// With --server: tenant of the cluster variables.
    #[arg(long, value_name = "ID", requires = "server")]
    pub(crate) tenant: Option<String>,
    #[command(flatten)]
    pub(crate) to: RestCommand,
}
