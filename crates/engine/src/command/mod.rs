//! Batches at work: each command in a transaction, and the dispatch of commands and steps to the rooms that carry
//! them out.

mod clock;
mod describe;
mod dispatch;
pub(crate) mod gone;
mod halt;
mod idempotent;
mod leader;
mod parking;
mod purge;
mod receive;
mod set_aside;
mod transaction;

use protocol::{Command, FIRST_PARTITION, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::origin::CommandOrigin;

impl CommandContext<'_> {
    /// Runs the first part of a command; the steps it leaves come after. `None`: the answer comes later.
    pub(super) fn execute(&mut self, command: &Command) -> Result<Option<Response>, Failure> {
        self.refuse_if_of_first(command)?;
        self.origin = CommandOrigin::of(command);
        self.check_access(command, None)?;
        self.check_variables_of(command)?;
        self.perform(command)
    }

    /// Refuses a command whose rows partition 1 gives to all, anywhere else.
    fn refuse_if_of_first(&self, command: &Command) -> Result<(), Failure> {
        let is_of_first = || {
            matches!(
                command.asked(),
                Command::Deploy(_)
                    | Command::DeleteResource(_)
                    | Command::Identity(_)
                    | Command::ClusterVariable(_)
                    | Command::GlobalListener(_)
                    | Command::Clock(_)
            )
        };
        let partition = self.options.partition_id;
        if partition == FIRST_PARTITION || !is_of_first() {
            return Ok(());
        }
        let reason = format!(
            "Expected to change what all partitions have on partition 1, but this is partition {partition}"
        );
        Err(Rejection::invalid_state(reason).into())
    }

    /// Performs a command whose caller has been checked and noted.
    fn perform(&mut self, command: &Command) -> Result<Option<Response>, Failure> {
        let response = match command.asked() {
            command @ (Command::CreateInstance(_)
            | Command::CancelInstance { .. }
            | Command::SuspendInstance { .. }
            | Command::ResumeInstance { .. }
            | Command::AssignBusinessId { .. }
            | Command::ActivateAdHoc(_)
            | Command::ResolveIncident { .. }
            | Command::SetVariables(_)
            | Command::MigrateInstance(_)
            | Command::ModifyInstance(_)) => return self.perform_process_command(command),
            command @ (Command::CreateAgentInstance(_) | Command::UpdateAgentInstance(_)) => {
                self.perform_agent_command(command)?
            }
            command @ (Command::PublishMessage(_)
            | Command::CorrelateMessage(_)
            | Command::BroadcastSignal(_)
            | Command::EvaluateConditionals(_)) => self.perform_event_command(command)?,
            command @ (Command::CompleteJob(_)
            | Command::FailJob(_)
            | Command::ThrowError(_)
            | Command::UpdateJob(_)) => self.perform_job_command(command)?,
            command @ (Command::DeleteHistory(_)
            | Command::CreateBatchOperation(_)
            | Command::AddBatchItems(_)
            | Command::ChangeBatchOperation { .. }
            | Command::ResolveInstanceIncidents { .. }) => self.perform_batch_command(command)?,
            command @ (Command::Deploy(_)
            | Command::DeleteResource(_)
            | Command::ClusterVariable(_)
            | Command::EvaluateDecision(_)) => self.perform_definition_command(command)?,
            Command::YieldJobs { job_keys, deadlines_ms } => {
                self.yield_jobs(job_keys, deadlines_ms.as_deref())?
            }
            Command::UserTask(command) => return self.change_user_task(command),
            Command::GlobalListener(command) => self.change_global_listener(command)?,
            Command::Identity(command) => self.change_identity(command)?,
            Command::Clock(clock) => self.set_clock(clock)?,
            // The engine runs these itself; they never come here.
            Command::Tick
            | Command::Continue { .. }
            | Command::Configure { .. }
            | Command::ActivateVersion { .. }
            | Command::Purge { .. }
            | Command::EndChange(_)
            | Command::Receive(_)
            | Command::Asked { .. }
            | Command::Idempotent { .. } => Response::Done,
            Command::AcknowledgeExport { exporter, position } => {
                self.acknowledge_export(exporter, *position)?
            }
            Command::AcknowledgeMessages { target, up_to } => {
                self.acknowledge_messages(*target, *up_to)?;
                Response::Done
            }
            Command::ForgetExporter { exporter } => self.forget_exporter(exporter)?,
            Command::ParkRecord(park) => self.park_record(park)?,
            Command::UnparkRecords { exporter, positions } => self.unpark_records(exporter, positions)?,
            Command::Unban { process_instance_key } => self.unban(*process_instance_key)?,
        };
        Ok(Some(response))
    }
}
