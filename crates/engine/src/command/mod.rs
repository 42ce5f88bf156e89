//! Batches at work: each command in a transaction, and the dispatch of commands and steps to the rooms that carry
//! them out.

mod clock;
mod dispatch;
pub(crate) mod gone;
mod leader;
mod set_aside;
mod transaction;

use std::sync::Arc;

use protocol::{Actor, Command, Response};

use crate::core::context::{Attribution, CommandContext};
use crate::core::failure::Failure;

impl CommandContext<'_> {
    /// Runs the first part of a command; the steps it leaves come after. `None`: the answer comes later.
    pub(super) fn execute(&mut self, command: &Command) -> Result<Option<Response>, Failure> {
        self.caller = command.caller().map(|caller| Arc::new(caller.clone()));
        self.tenant_id = command.tenant_id().cloned();
        self.operation_reference = command.operation_reference();
        let actor = Actor::of(command.caller());
        self.asked = Some(Attribution { actor, subjects: command.subjects() });
        self.check_access(command)?;
        self.check_variables_of(command)?;
        self.perform(command)
    }

    /// Does what a command says, for whom that has been checked and is noted.
    pub fn perform(&mut self, command: &Command) -> Result<Option<Response>, Failure> {
        let response = match command.asked() {
            Command::Deploy(deploy) => self.deploy(deploy)?,
            Command::DeleteResource(delete) => self.delete_resource(delete)?,
            Command::DeleteHistory(delete) => self.delete_history(delete)?,
            Command::CreateInstance(create) => return self.create_instance(create),
            Command::CancelInstance { process_instance_key, .. } => {
                self.cancel_instance(*process_instance_key)?
            }
            Command::ActivateAdHoc(activate) => self.activate_ad_hoc_elements(activate)?,
            Command::CompleteJob(complete) => self.complete_job(complete)?,
            Command::FailJob(fail) => self.fail_job(fail)?,
            Command::ThrowError(throw) => self.throw_job_error(throw)?,
            Command::UpdateJob(update) => self.update_job(update)?,
            Command::YieldJobs { job_keys } => self.yield_jobs(job_keys)?,
            Command::PublishMessage(publish) => self.publish_message(publish)?,
            Command::CorrelateMessage(correlate) => self.correlate_message(correlate)?,
            Command::BroadcastSignal(broadcast) => self.broadcast_signal(broadcast),
            Command::EvaluateConditionals(evaluate) => self.evaluate_conditionals(evaluate)?,
            Command::ResolveIncident { incident_key, .. } => self.resolve_incident(*incident_key)?,
            Command::SetVariables(set) => return self.set_variables(set),
            Command::UserTask(command) => return self.change_user_task(command),
            Command::GlobalListener(command) => self.change_global_listener(command)?,
            Command::Identity(command) => self.change_identity(command)?,
            Command::Clock(clock) => self.set_clock(clock),
            // The engine runs these in many transactions; they never come here.
            Command::Tick | Command::Continue { .. } | Command::Asked { .. } => Response::Done,
            Command::AcknowledgeExport { exporter, position } => {
                self.acknowledge_export(exporter, *position)?
            }
            Command::ForgetExporter { exporter } => self.forget_exporter(exporter)?,
            Command::MigrateInstance(migrate) => self.migrate_instance(migrate)?,
            Command::ModifyInstance(modify) => self.modify_instance(modify)?,
            Command::ClusterVariable(variable) => self.change_cluster_variable(variable)?,
            Command::EvaluateDecision(evaluate) => self.evaluate_decision_alone(evaluate)?,
            Command::CreateBatchOperation(create) => self.create_batch_operation(create)?,
            Command::AddBatchItems(add) => self.add_batch_items(add)?,
            Command::ChangeBatchOperation { batch_operation_key, change } => {
                self.change_batch_operation(*batch_operation_key, *change)?
            }
            Command::ResolveInstanceIncidents { process_instance_key } => {
                self.resolve_instance_incidents(*process_instance_key)?
            }
            Command::Unban { process_instance_key } => self.unban(*process_instance_key)?,
        };
        Ok(Some(response))
    }
}
