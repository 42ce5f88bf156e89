//! The commands and steps of process instances, each to the code that carries it out.

use bpmn::graph::ElementKind;
use protocol::{Command, Response};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{ElementInstance, PendingEvent, Phase};

impl CommandContext<'_> {
    /// Performs a command of process instances.
    pub fn perform_process_command(&mut self, command: &Command) -> Result<Option<Response>, Failure> {
        let response = match command {
            Command::CreateInstance(create) => return self.create_instance(create),
            Command::CancelInstance { process_instance_key, .. } => {
                self.cancel_instance(*process_instance_key)?
            }
            Command::SuspendInstance { process_instance_key, .. } => {
                self.suspend_instance(*process_instance_key)?
            }
            Command::ResumeInstance { process_instance_key, .. } => {
                self.resume_instance(*process_instance_key)?
            }
            Command::AssignBusinessId { process_instance_key, claim } => {
                self.assign_business_id(*process_instance_key, claim)?;
                Response::Done
            }
            Command::ActivateAdHoc(activate) => self.activate_ad_hoc_elements(activate)?,
            Command::ResolveIncident { incident_key, .. } => self.resolve_incident(*incident_key)?,
            Command::SetVariables(set) => return self.set_variables(set),
            Command::MigrateInstance(migrate) => self.migrate_instance(migrate)?,
            Command::ModifyInstance(modify) => self.modify_instance(modify)?,
            _ => unreachable!("{command:?} is no command of process instances"),
        };
        Ok(Some(response))
    }

    /// Runs a step of process instances.
    pub fn run_process_step(&mut self, step: Step) -> Result<(), Failure> {
        match step {
            Step::Activate { process_instance_key, element, scope_key, trigger } => {
                self.activate(process_instance_key, element, scope_key, trigger)
            }
            Step::ResumeActivation { key, trigger } => match self.at(key)? {
                Some((at, row)) if row.phase == Phase::Activating => self.proceed_activation(&at, trigger),
                _ => Ok(()),
            },
            Step::Complete { key, variables } => match self.at(key)? {
                Some((at, row)) if is_overtaken(&at, &row) => Ok(()),
                Some((at, row)) if row.phase == Phase::Activated => self.complete(&at, variables, false),
                Some((at, row)) if row.phase == Phase::Completing && row.listening.is_none() => {
                    self.complete(&at, variables, true)
                }
                _ => Ok(()),
            },
            Step::FinishTermination { key } => match self.at(key)? {
                Some((at, row)) if row.phase == Phase::Terminating => self.finish_termination(&at, &row),
                _ => Ok(()),
            },
            Step::EraseBanned { root_key, after } => self.erase_banned(root_key, after),
            Step::CheckJoins { scope_key } => self.check_joins(scope_key),
            Step::CheckComplex { key } => self.check_complex(key),
            Step::Terminate { key } => self.terminate(key),
            Step::Withdraw { key } => self.withdraw(key),
            Step::TerminateChildren { scope_key, after } => self.terminate_children(scope_key, after),
            Step::SpawnLoop { body_key } => self.spawn_loop(body_key),
            Step::ActivateLoop { body_key, index } => self.activate_in_loop(body_key, index),
            Step::GatherLoop { body_key, chunk } => self.gather_loop(body_key, chunk),
            Step::ActivateAdHoc { ad_hoc_key, elements } => self.activate_ad_hoc(ad_hoc_key, elements),
            Step::BeginAdHocInner { key, element_id, variables } => match self.at(key)? {
                Some((at, row)) if row.phase == Phase::Activating => {
                    self.begin_inner_again(&at, element_id, variables)
                }
                _ => Ok(()),
            },
            Step::CreateAdHocJob { ad_hoc_key } => self.create_ad_hoc_job(ad_hoc_key),
            Step::TerminateOlder { scope_key, after, until } => self.terminate_older(scope_key, after, until),
            Step::ForgetLoop { body_key } => self.forget_loop(body_key),
            step => unreachable!("{step:?} is no step of process instances"),
        }
    }
}

/// Whether something has come between the decision to complete an element instance and its completion: an event that
/// starts something inside, after which it is decided again, or one that ends it.
fn is_overtaken(at: &ActiveElement, row: &ElementInstance) -> bool {
    let ends =
        |event: &PendingEvent| matches!(at.process.element(event.element).kind, ElementKind::Boundary(_));
    row.active_children > 0 || row.waiting_tokens > 0 || row.pending_event.as_ref().is_some_and(ends)
}
