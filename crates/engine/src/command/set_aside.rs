//! A batch that operators have set aside: it is not applied, and what it was about is banned, so that nothing runs
//! into the same again.
//!
//! That the batch is set aside is known before it is applied, on every replica alike; what it touched follows from the
//! state.

use std::collections::BTreeSet;

use protocol::{Batch, Command, ENGINE_VERSION, Key};

use crate::Engine;
use crate::command::transaction::Attempt;
use crate::core::context::CommandContext;
use crate::core::due::{self, Due};
use crate::core::effects::Effects;
use crate::core::failure::{ApplyError, Failure};
use crate::core::left_over;

impl Engine {
    /// Bans the instances that the commands of a batch are about, and the one that was at work when applying it
    /// took too long, if that is known. Without it, these are also those whose left-over steps or timers were to be
    /// next.
    pub fn set_aside(
        &mut self,
        batch: &Batch,
        at_work: Option<Key>,
        effects: &mut Effects,
    ) -> Result<(), ApplyError> {
        if batch.engine_version > ENGINE_VERSION {
            return Err(ApplyError::UnknownVersion(batch.engine_version));
        }
        self.meta.wall_ms = self.meta.wall_ms.max(batch.timestamp_ms);
        self.meta.set_now();
        // Each takes its position, as if it had been refused.
        self.meta.position += batch.commands.len() as u64;
        effects.responses.resize_with(batch.commands.len(), || None);
        let next_of_version = at_work.is_none().then_some(batch.engine_version);
        let touched = self.attempt(&mut Effects::default(), |work| {
            let mut touched: BTreeSet<Key> = at_work.into_iter().collect();
            for command in &batch.commands {
                work.note_touched(command, next_of_version, &mut touched)?;
            }
            Ok(touched)
        })?;
        if let Attempt::Done(touched) = touched {
            for key in touched {
                if self.tables.instances.contains(&key)? {
                    self.ban(key, "A batch of commands about it was set aside", effects)?;
                }
            }
        }
        effects.unmet_subscribers.extend(batch.demand.iter().map(|demand| demand.subscriber_id));
        self.finish(effects)
    }
}

impl CommandContext<'_> {
    /// With a version of the engine's behaviour, also those that would have been next by it.
    fn note_touched(
        &mut self,
        command: &Command,
        next_of_version: Option<u16>,
        touched: &mut BTreeSet<Key>,
    ) -> Result<(), Failure> {
        let of_job = |work: &Self, key| -> Result<Option<Key>, Failure> {
            Ok(work.tables.jobs.get(&key)?.map(|job| job.process_instance_key))
        };
        let of_element = |work: &Self, key| -> Result<Option<Key>, Failure> {
            Ok(work.tables.element_instances.get(&key)?.map(|row| row.process_instance_key))
        };
        let key = match command.asked() {
            Command::CompleteJob(complete) => of_job(self, complete.job_key)?,
            Command::FailJob(fail) => of_job(self, fail.job_key)?,
            Command::ThrowError(throw) => of_job(self, throw.job_key)?,
            Command::UpdateJob(update) => of_job(self, update.job_key)?,
            Command::SetVariables(set) => of_element(self, set.element_instance_key)?,
            Command::ActivateAdHoc(activate) => of_element(self, activate.element_instance_key)?,
            Command::CreateAgentInstance(create) => of_element(self, create.element_instance_key)?,
            Command::UpdateAgentInstance(update) => {
                let agent = self.tables.agent_instances.get(&update.agent_instance_key)?;
                agent.map(|agent| agent.process_instance_key)
            }
            Command::UserTask(task) => {
                self.tables.user_tasks.get(&task.user_task_key)?.map(|task| task.process_instance_key)
            }
            Command::ResolveIncident { incident_key, .. } => {
                self.tables.incidents.get(incident_key)?.map(|incident| incident.process_instance_key)
            }
            Command::CancelInstance { process_instance_key, .. }
            | Command::SuspendInstance { process_instance_key, .. }
            | Command::ResumeInstance { process_instance_key, .. }
            | Command::AssignBusinessId { process_instance_key, .. }
            | Command::ResolveInstanceIncidents { process_instance_key } => Some(*process_instance_key),
            Command::MigrateInstance(migrate) => Some(migrate.process_instance_key),
            Command::ModifyInstance(modify) => Some(modify.process_instance_key),
            Command::Continue { max_records } if next_of_version.is_some() => {
                let in_turn = max_records.is_some();
                for (_, step) in left_over::next_steps(self.tables, self.meta, self.options, in_turn)? {
                    touched.extend(step.process_instance(self.tables)?);
                }
                None
            }
            Command::Tick => {
                let Some(version) = next_of_version else { return Ok(()) };
                for due in due::next(self.tables, self.meta, self.options, version)? {
                    // Jobs and messages take no steps that could be at work for long.
                    let Due::Timer(_, key, _) = due else { continue };
                    let timer = self.tables.timers.get(&key)?;
                    touched.extend(timer.and_then(|timer| timer.process_instance_key));
                }
                None
            }
            _ => None,
        };
        touched.extend(key);
        Ok(())
    }
}
