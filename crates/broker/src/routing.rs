//! The partition that a command or a query goes to.
//!
//! Keys name the partition that made them. Things without a key yet are made on each partition in turn, or where the
//! hash of a text says. Definitions, identity and all that is the same everywhere begin on the first partition. A key
//! of a partition that does not exist goes to the first one, too, which has no such thing and says so.

use std::sync::atomic::{AtomicUsize, Ordering};

use protocol::{Command, Key, Name, PartitionId, Query, partition_of, partition_of_text};

/// The partitions of a command or a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    One(PartitionId),
    /// Any: each in turn, so that all have as much to do.
    Any,
    /// All, each by itself.
    All,
}

/// The partitions as they take turns.
#[derive(Debug, Default)]
pub(crate) struct Turns(AtomicUsize);

impl Turns {
    /// The number, below that of the partitions, of the one whose turn it is.
    pub fn next(&self, partitions: usize) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed) % partitions
    }
}

const FIRST: Destination = Destination::One(protocol::FIRST_PARTITION);

fn of_key(key: Key, partitions: PartitionId) -> Destination {
    let number = partition_of(key);
    if (1..=partitions).contains(&number) { Destination::One(number) } else { FIRST }
}

fn of_text(text: &Name, partitions: PartitionId) -> Destination {
    Destination::One(partition_of_text(text.as_str(), partitions))
}

/// The partition of a command, of so many. One that may be done anywhere is done in the same place again when it
/// comes with the same idempotency key.
pub(crate) fn target(command: &Command, partitions: PartitionId) -> Destination {
    match (of_command(command.asked(), partitions), command) {
        // The key is a hash already.
        (Destination::Any, Command::Idempotent { by, .. }) => {
            Destination::One(1 + (by.key[0] % u64::from(partitions)) as PartitionId)
        }
        (target, _) => target,
    }
}

/// See [`target`]; of the command that is asked for.
#[expect(clippy::match_same_arms, reason = "each kind of reason has its lines")]
fn of_command(command: &Command, partitions: PartitionId) -> Destination {
    let of_key = |key: Key| of_key(key, partitions);
    match command {
        Command::Deploy(_)
        | Command::DeleteResource(_)
        | Command::Identity(_)
        | Command::ClusterVariable(_)
        | Command::GlobalListener(_)
        | Command::BroadcastSignal(_)
        // Their start events are there.
        | Command::EvaluateConditionals(_)
        | Command::CreateBatchOperation(_)
        // Partition 1 tells the others.
        | Command::Clock(_)
        | Command::Purge { .. }
        | Command::EndChange(_) => FIRST,
        // A leader writes them to its own partition, and no client sends them.
        Command::Tick
        | Command::Continue { .. }
        | Command::AcknowledgeExport { .. }
        | Command::ParkRecord(_)
        | Command::UnparkRecords { .. }
        | Command::Configure { .. }
        | Command::ActivateVersion { .. }
        | Command::YieldJobs { .. }
        | Command::Receive(_)
        | Command::AcknowledgeMessages { .. }
        | Command::ForgetExporter { .. } => FIRST,
        Command::CreateInstance(create) => match &create.business_id {
            Some(business_id) => of_text(business_id, partitions),
            None => Destination::Any,
        },
        Command::EvaluateDecision(_) => Destination::Any,
        Command::ChangeBatchOperation { batch_operation_key: key, .. } => of_key(*key),
        Command::AddBatchItems(add) => of_key(add.batch_operation_key),
        Command::PublishMessage(message) => of_text(&message.correlation_key, partitions),
        Command::CorrelateMessage(message) => of_text(&message.correlation_key, partitions),
        Command::CancelInstance { process_instance_key: key, .. }
        | Command::SuspendInstance { process_instance_key: key, .. }
        | Command::ResumeInstance { process_instance_key: key, .. }
        | Command::AssignBusinessId { process_instance_key: key, .. }
        | Command::Unban { process_instance_key: key }
        | Command::ResolveInstanceIncidents { process_instance_key: key } => of_key(*key),
        Command::MigrateInstance(migrate) => of_key(migrate.process_instance_key),
        Command::ModifyInstance(modify) => of_key(modify.process_instance_key),
        Command::DeleteHistory(delete) => of_key(delete.key),
        Command::CreateAgentInstance(create) => of_key(create.element_instance_key),
        Command::UpdateAgentInstance(update) => of_key(update.agent_instance_key),
        Command::CompleteJob(complete) => of_key(complete.job_key),
        Command::FailJob(fail) => of_key(fail.job_key),
        Command::ThrowError(error) => of_key(error.job_key),
        Command::UpdateJob(update) => of_key(update.job_key),
        Command::ResolveIncident { incident_key, .. } => of_key(*incident_key),
        Command::SetVariables(set) => of_key(set.element_instance_key),
        Command::ActivateAdHoc(activate) => of_key(activate.element_instance_key),
        Command::UserTask(task) => of_key(task.user_task_key),
        Command::Asked { .. } | Command::Idempotent { .. } => {
            unreachable!("what is asked for is neither of them")
        }
    }
}

/// The partition of a query, of so many. Of all: the answers are put together.
pub(crate) fn target_of_query(query: &Query, partitions: PartitionId) -> Destination {
    match query {
        Query::BatchOperation { key }
        | Query::ProcessInstance { key }
        | Query::ElementInstance { key }
        | Query::Variable { key }
        | Query::Incident { key }
        | Query::CallHierarchy { process_instance_key: key }
        | Query::ProcessDefinition { key }
        | Query::Decision { key }
        | Query::DecisionRequirements { key }
        | Query::Source { key, .. }
        | Query::Form { key }
        | Query::StartForm { process_definition_key: key }
        | Query::Resource { key, .. }
        | Query::Scope { key }
        | Query::UserTask { key }
        | Query::UserTaskForm { key } => of_key(*key, partitions),
        Query::Resources { .. }
        | Query::ClusterVariable { .. }
        | Query::ClusterVariables { .. }
        | Query::ClusterContext { .. }
        | Query::GlobalListener { .. }
        | Query::GlobalListeners { .. }
        | Query::Identity(_) => FIRST,
        Query::BatchOperations
        | Query::BatchSearches
        | Query::BatchItems { .. }
        | Query::RunningDefinitions { .. }
        | Query::Errors { .. }
        | Query::FailingDefinitions { .. }
        | Query::Subscriptions { .. }
        | Query::BannedInstances { .. } => Destination::All,
    }
}

#[cfg(test)]
mod tests;
