//! Steps to the code that does them. Those of a banned instance are set aside, those of one that is about to end are
//! given up.

use bpmn::graph::ElementKind;
use protocol::Key;
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{ElementInstance, PendingEvent, Phase};
use crate::event::compensation::CompensationScan;

impl CommandContext<'_> {
    /// Runs one step. Its subject may have ended since it was written: then nothing happens.
    pub fn run_step(&mut self, step: Step) -> Result<(), Failure> {
        let Step::Of { operation_reference, batch_operation_reference, step } = step else {
            return self.run_plain_step(step);
        };
        let waiting = self.steps.len();
        let before = (self.operation_reference, self.batch_operation_reference);
        (self.operation_reference, self.batch_operation_reference) =
            (operation_reference, batch_operation_reference);
        let result = self.run_plain_step(*step);
        // Before these run, steps of others may.
        let caused: Vec<Step> = self.steps.drain(waiting..).collect();
        for step in caused {
            let step = self.with_origin(step);
            self.steps.push_back(step);
        }
        (self.operation_reference, self.batch_operation_reference) = before;
        result
    }

    fn run_plain_step(&mut self, step: Step) -> Result<(), Failure> {
        let Some(instance_key) = self.instance_of(&step)? else { return self.dispatch(step) };
        self.blame(instance_key);
        if self.is_banned(instance_key)? {
            // The end of all of it is the way out.
            if !matches!(step, Step::Terminate { key } if key == instance_key) {
                let step = self.with_origin(step);
                self.meta.pending_counter += 1;
                self.tables.banned_steps.insert((instance_key, self.meta.pending_counter), step);
                return Ok(());
            }
            return self.erase_instance(instance_key);
        }
        // An instance that is about to end continues with nothing.
        let step =
            if self.is_terminating(instance_key)? { self.give_up(instance_key, step)? } else { Some(step) };
        match step {
            Some(step) => self.dispatch(step),
            None => Ok(()),
        }
    }

    fn dispatch(&mut self, step: Step) -> Result<(), Failure> {
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
            Step::ListenTask { key, index } => match self.at(key)? {
                Some((at, row)) => self.listen_task(&at, &row, index),
                None => Ok(()),
            },
            Step::Listen { key, index } => match self.at(key)? {
                Some((at, row)) => self.listen(&at, &row, index),
                None => Ok(()),
            },
            Step::FinishTermination { key } => match self.at(key)? {
                Some((at, row)) if row.phase == Phase::Terminating => self.finish_termination(&at, &row),
                _ => Ok(()),
            },
            Step::EraseBanned { root_key, after } => self.erase_banned(root_key, after),
            Step::WorkOnBatch { batch_operation_key, life } => self.work_on_batch(batch_operation_key, life),
            Step::ForgetBatches => self.forget_batches(),
            Step::ForgetIdentity(forgotten) => self.forget_identity(forgotten),
            Step::CheckJoins { scope_key } => self.check_joins(scope_key),
            Step::Compensate { thrower_key, scope_key, entered_by, after, activity, variables } => self
                .walk_compensations(CompensationScan {
                    thrower_key,
                    scope_key,
                    entered_by,
                    after,
                    activity,
                    variables,
                }),
            Step::RunHandler { host_key, scope_key, key, variables } => {
                self.run_handler(host_key, (scope_key, key), &variables)
            }
            Step::DropCompensations { scope_key } => self.drop_compensations(scope_key),
            Step::CheckComplex { key } => self.check_complex(key),
            Step::AnnounceJobs { scope_key, after } => self.announce_jobs(scope_key, after),
            Step::CompensateCancelled { key } => self.compensate_cancelled(key),
            Step::Terminate { key } => self.terminate(key),
            Step::Withdraw { key } => self.withdraw(key),
            Step::TerminateChildren { scope_key, after } => self.terminate_children(scope_key, after),
            Step::StartFromBuffer { tenant_id, process_id, correlation_key } => {
                self.start_from_buffer(&tenant_id, &process_id, &correlation_key)
            }
            Step::MatchBuffered { subscription_key } => self.match_buffered(subscription_key),
            Step::EvaluateConditions { process_instance_key, touches, after } => {
                self.evaluate_conditions(process_instance_key, touches, after)
            }
            Step::TriggerCondition { subscription_key } => self.trigger_condition(subscription_key),
            Step::BroadcastSignal { signal_key, name, tenant_id, variables, after } => {
                self.broadcast_slice(signal_key, name, tenant_id, variables, after)
            }
            Step::PublishMessage { message } => self.publish_sent(&message),
            Step::StartBySignal { definition_key, element, variables } => {
                self.start_by_signal(definition_key, element, variables)
            }
            Step::TriggerSignal { subscription_key, variables } => {
                self.trigger_signal(subscription_key, &variables)
            }
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
            Step::Of { step, .. } => self.dispatch(*step),
        }
    }

    /// The process instance that a step is of.
    pub fn instance_of(&self, step: &Step) -> Result<Option<Key>, StateError> {
        let key = match step {
            Step::Activate { process_instance_key, .. }
            | Step::EvaluateConditions { process_instance_key, .. } => {
                return Ok(Some(*process_instance_key));
            }
            Step::ResumeActivation { key, .. }
            | Step::Complete { key, .. }
            | Step::Listen { key, .. }
            | Step::ListenTask { key, .. }
            | Step::BeginAdHocInner { key, .. }
            | Step::Terminate { key }
            | Step::Withdraw { key }
            | Step::CompensateCancelled { key }
            | Step::CheckComplex { key }
            | Step::Compensate { thrower_key: key, .. }
            | Step::RunHandler { host_key: key, .. }
            | Step::FinishTermination { key }
            | Step::TerminateChildren { scope_key: key, .. }
            | Step::TerminateOlder { scope_key: key, .. }
            | Step::AnnounceJobs { scope_key: key, .. }
            | Step::CheckJoins { scope_key: key }
            | Step::SpawnLoop { body_key: key }
            | Step::ActivateLoop { body_key: key, .. }
            | Step::GatherLoop { body_key: key, .. }
            | Step::ActivateAdHoc { ad_hoc_key: key, .. }
            | Step::CreateAdHocJob { ad_hoc_key: key } => *key,
            Step::TriggerCondition { subscription_key } => {
                let row = self.tables.condition_subscriptions.get(subscription_key)?;
                return Ok(row.map(|row| row.process_instance_key));
            }
            Step::TriggerSignal { subscription_key, .. } => {
                let row = self.tables.signal_subscriptions.get(subscription_key)?;
                return Ok(row.map(|row| row.process_instance_key));
            }
            Step::MatchBuffered { subscription_key } => {
                let row = self.tables.subscriptions.get(subscription_key)?;
                return Ok(row.map(|row| row.process_instance_key));
            }
            Step::Of { step, .. } => return self.instance_of(step),
            // Of none, or what they are of is gone already.
            Step::ForgetLoop { .. }
            | Step::DropCompensations { .. }
            | Step::EraseBanned { .. }
            | Step::WorkOnBatch { .. }
            | Step::ForgetBatches
            | Step::ForgetIdentity(_)
            | Step::StartFromBuffer { .. }
            | Step::BroadcastSignal { .. }
            | Step::PublishMessage { .. }
            | Step::StartBySignal { .. } => return Ok(None),
        };
        Ok(self.tables.element_instances.get(&key)?.map(|row| row.process_instance_key))
    }

    /// Whether a process instance is about to end without completing, or the one at the top of its call hierarchy:
    /// calls that call themselves would go down as fast as its end does.
    fn is_terminating(&self, process_instance_key: Key) -> Result<bool, StateError> {
        let ends = |key: &Key| -> Result<bool, StateError> {
            let top = self.tables.element_instances.get(key)?;
            Ok(top.is_some_and(|top| top.phase == Phase::Terminating))
        };
        if ends(&process_instance_key)? {
            return Ok(true);
        }
        let instance = self.tables.instances.get(&process_instance_key)?;
        match instance.filter(|instance| instance.parent.is_some()) {
            Some(instance) => ends(&instance.root_key),
            None => Ok(false),
        }
    }

    /// Terminates what a step would go on with, whose process instance is about to end. Gives the step if there is
    /// still something to do: to take back what it was counted as, or to end.
    fn give_up(&mut self, instance_key: Key, step: Step) -> Result<Option<Step>, Failure> {
        if self.is_erased(instance_key)? {
            return self.step_of_erased(step);
        }
        match &step {
            Step::Activate { scope_key: key, .. }
            | Step::ActivateLoop { body_key: key, .. }
            | Step::SpawnLoop { body_key: key }
            | Step::ActivateAdHoc { ad_hoc_key: key, .. }
            | Step::Compensate { thrower_key: key, .. }
            | Step::RunHandler { host_key: key, .. } => {
                self.terminate(*key)?;
                Ok(Some(step))
            }
            Step::CheckJoins { scope_key } => {
                self.terminate(*scope_key)?;
                // It leaves the joins of a scope that ends alone, but takes back that it was to come.
                Ok(Some(step))
            }
            Step::ListenTask { key, .. } => {
                let row = self.tables.element_instances.get(key)?;
                if row.is_some_and(|row| row.phase == Phase::Terminating) {
                    // The listeners of its cancellation come before its end.
                    return Ok(Some(step));
                }
                self.terminate(*key)?;
                Ok(None)
            }
            Step::ResumeActivation { key, .. }
            | Step::Complete { key, .. }
            | Step::Listen { key, .. }
            | Step::BeginAdHocInner { key, .. }
            | Step::CompensateCancelled { key }
            | Step::CheckComplex { key }
            | Step::GatherLoop { body_key: key, .. }
            | Step::CreateAdHocJob { ad_hoc_key: key } => {
                self.terminate(*key)?;
                Ok(None)
            }
            Step::AnnounceJobs { .. }
            | Step::EvaluateConditions { .. }
            | Step::TriggerCondition { .. }
            | Step::TriggerSignal { .. }
            | Step::MatchBuffered { .. } => Ok(None),
            Step::Terminate { .. }
            | Step::Withdraw { .. }
            | Step::TerminateChildren { .. }
            | Step::TerminateOlder { .. }
            | Step::FinishTermination { .. }
            | Step::ForgetLoop { .. }
            | Step::DropCompensations { .. }
            | Step::EraseBanned { .. }
            | Step::WorkOnBatch { .. }
            | Step::ForgetBatches
            | Step::ForgetIdentity(_)
            | Step::StartFromBuffer { .. }
            | Step::BroadcastSignal { .. }
            | Step::PublishMessage { .. }
            | Step::Of { .. }
            | Step::StartBySignal { .. } => Ok(Some(step)),
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
