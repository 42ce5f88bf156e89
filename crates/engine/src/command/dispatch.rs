//! Steps to the code that does them. Those of a banned instance are set aside, those of one that is about to end are
//! given up.

use protocol::Key;
use state::StateError;

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::origin::CommandOrigin;
use crate::core::step::Step;
use crate::core::step_instance::InSuspension;
use crate::entity::Phase;

impl CommandContext<'_> {
    /// Runs one step. Its subject may have ended since it was written: then nothing happens.
    fn run_step(&mut self, step: Step) -> Result<(), Failure> {
        let Step::WithOrigin { operation_reference, batch_operation_reference, step } = step else {
            return self.run_plain_step(step);
        };
        let waiting = self.steps.len();
        let origin = CommandOrigin { operation_reference, batch_operation_reference, ..self.origin.clone() };
        self.on_behalf_of(origin, |work| {
            let result = work.run_plain_step(*step);
            // Before these run, steps of others may.
            let caused: Vec<Step> = work.steps.drain(waiting..).collect();
            let noted = caused.into_iter().map(|step| work.origin.noted_with(step));
            work.steps.extend(noted);
            result
        })
    }

    fn run_plain_step(&mut self, step: Step) -> Result<(), Failure> {
        let Some(instance_key) = step.process_instance(self.tables)? else { return self.dispatch(step) };
        self.blame(instance_key);
        if self.tables.is_banned(instance_key)? {
            // The end of all of it is the way out.
            if !matches!(step, Step::Terminate { key } if key == instance_key) {
                self.set_step_aside(instance_key, step);
                return Ok(());
            }
            return self.erase_instance(instance_key);
        }
        if self.tables.is_suspended(instance_key)? {
            match step.in_suspension_of(instance_key) {
                InSuspension::Runs => {}
                InSuspension::IsLost => return Ok(()),
                InSuspension::Waits => {
                    self.set_step_aside(instance_key, step);
                    return Ok(());
                }
            }
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
            Step::Activate { .. }
            | Step::ResumeActivation { .. }
            | Step::Complete { .. }
            | Step::FinishTermination { .. }
            | Step::EraseBanned { .. }
            | Step::CheckJoins { .. }
            | Step::CheckComplex { .. }
            | Step::Terminate { .. }
            | Step::Withdraw { .. }
            | Step::TerminateChildren { .. }
            | Step::SpawnLoop { .. }
            | Step::ActivateLoop { .. }
            | Step::GatherLoop { .. }
            | Step::ActivateAdHoc { .. }
            | Step::BeginAdHocInner { .. }
            | Step::CreateAdHocJob { .. }
            | Step::TerminateOlder { .. }
            | Step::ForgetLoop { .. } => self.run_process_step(step),
            Step::Compensate { .. }
            | Step::RunHandler { .. }
            | Step::DropCompensations { .. }
            | Step::CompensateCancelled { .. }
            | Step::StartFromBuffer { .. }
            | Step::StartByBusinessId { .. }
            | Step::MatchBuffered { .. }
            | Step::EvaluateConditions { .. }
            | Step::TriggerCondition { .. }
            | Step::BroadcastSignal { .. }
            | Step::PublishMessage { .. }
            | Step::StartBySignal { .. }
            | Step::TriggerSignal { .. } => self.run_event_step(step),
            Step::ListenTask { key, index } => match self.at(key)? {
                Some((at, row)) => self.listen_task(&at, &row, index),
                None => Ok(()),
            },
            Step::Listen { key, index } => match self.at(key)? {
                Some((at, row)) => self.listen(&at, &row, index),
                None => Ok(()),
            },
            Step::WorkOnBatch { batch_operation_key, life } => {
                if let Some(item) = self.work_on_batch(batch_operation_key, life)? {
                    self.check_access(&item.command, None)?;
                    self.perform(&item.command)?;
                    self.end_item(item);
                }
                Ok(())
            }
            Step::DoBatchItem { source, item, attempts } => {
                if let Some(item) = self.begin_remote_item(source, item, attempts)? {
                    self.check_access(&item.command, None)?;
                    self.perform(&item.command)?;
                    self.end_remote_command(&item)?;
                }
                Ok(())
            }
            Step::SettleHistory { .. } | Step::EndAgents { .. } | Step::TellMigratedAgents { .. } => {
                self.run_agent_step(step)
            }
            Step::ForgetBatches => self.forget_batches(),
            Step::ForgetIdentity(forgotten) => self.forget_identity(forgotten),
            Step::AnnounceJobs { scope_key, after } => self.announce_jobs(scope_key, after),
            Step::Revive { scope_key, after } => self.revive(scope_key, after),
            Step::WithOrigin { step, .. } => self.dispatch(*step),
        }
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
        if self.tables.instances.get(&instance_key)?.is_some_and(|instance| instance.is_erased) {
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
            Step::ListenTask { key, .. } | Step::Listen { key, .. } => {
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
            | Step::BeginAdHocInner { key, .. }
            | Step::CompensateCancelled { key }
            | Step::CheckComplex { key }
            | Step::GatherLoop { body_key: key, .. }
            | Step::CreateAdHocJob { ad_hoc_key: key } => {
                self.terminate(*key)?;
                Ok(None)
            }
            Step::EvaluateConditions { .. }
            | Step::TriggerCondition { .. }
            | Step::TriggerSignal { .. }
            | Step::MatchBuffered { .. } => Ok(None),
            // Jobs of the listeners of its cancellation have to be done before its end.
            Step::AnnounceJobs { .. }
            | Step::Revive { .. }
            | Step::Terminate { .. }
            | Step::Withdraw { .. }
            | Step::TerminateChildren { .. }
            | Step::TerminateOlder { .. }
            | Step::FinishTermination { .. }
            | Step::ForgetLoop { .. }
            | Step::DropCompensations { .. }
            | Step::EraseBanned { .. }
            | Step::WorkOnBatch { .. }
            | Step::DoBatchItem { .. }
            | Step::ForgetBatches
            | Step::ForgetIdentity(_)
            | Step::SettleHistory { .. }
            | Step::EndAgents { .. }
            | Step::TellMigratedAgents { .. }
            | Step::StartFromBuffer { .. }
            | Step::StartByBusinessId { .. }
            | Step::BroadcastSignal { .. }
            | Step::PublishMessage { .. }
            | Step::WithOrigin { .. }
            | Step::StartBySignal { .. } => Ok(Some(step)),
        }
    }

    /// Runs the steps caused so far and those they cause, so many at most, and as long as there is fuel for the
    /// command. Gives what is left of the budget.
    pub(super) fn run_steps(&mut self, budget: usize) -> Result<usize, Failure> {
        let mut left = budget;
        while left > 0
            && !self.meter.is_spent()
            && let Some(step) = self.steps.pop_front()
        {
            self.counters.steps += 1;
            self.meter.grant_share(&self.options.work);
            self.run_metered(step)?;
            left = left.saturating_sub(1 + std::mem::take(&mut self.extra_steps));
        }
        self.leave_steps()?;
        Ok(left)
    }

    /// Runs a step, which has to wait if it takes more than it was granted now.
    pub(super) fn run_metered(&mut self, step: Step) -> Result<(), Failure> {
        self.run_step(step)?;
        if self.meter.is_short() { Err(Failure::PutOff) } else { Ok(()) }
    }
}
