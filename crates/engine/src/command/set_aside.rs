//! A batch that operators have set aside: it is not applied, and what it was about is banned, so that nothing runs
//! into the same again.
//!
//! That the batch is set aside is known before it is applied, on every replica alike; what it touched follows from the
//! state.

use std::collections::BTreeSet;

use protocol::{Batch, Command, ENGINE_VERSION, Key, Subject};

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
        let with_next = at_work.is_none();
        let touched = self.attempt(&mut Effects::default(), |work| {
            let mut touched: BTreeSet<Key> = at_work.into_iter().collect();
            for command in &batch.commands {
                work.note_touched(command, with_next, &mut touched)?;
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
    /// `with_next`: also those that would have been next.
    fn note_touched(
        &mut self,
        command: &Command,
        with_next: bool,
        touched: &mut BTreeSet<Key>,
    ) -> Result<(), Failure> {
        if let Some(subject) = command.facts().subject {
            touched.extend(self.instance_of(subject)?);
        }
        if with_next {
            self.note_next(command.asked(), touched)?;
        }
        Ok(())
    }

    /// Instances whose left-over steps or timers the command would have gone on with.
    fn note_next(&mut self, command: &Command, touched: &mut BTreeSet<Key>) -> Result<(), Failure> {
        if let Command::Continue { max_records } = command {
            let in_turn = max_records.is_some();
            for (_, step) in left_over::next_steps(self.tables, self.meta, self.options, in_turn)? {
                touched.extend(step.process_instance(self.tables)?);
            }
        } else if matches!(command, Command::Tick) {
            for due in due::next(self.tables, self.meta, self.options)? {
                // Jobs and messages take no steps that could be at work for long.
                let Due::Timer(_, key, _) = due else { continue };
                let timer = self.tables.timers.get(&key)?;
                touched.extend(timer.and_then(|timer| timer.process_instance_key));
            }
        }
        Ok(())
    }

    /// The process instance of a row, if that is there.
    fn instance_of(&self, subject: Subject) -> Result<Option<Key>, Failure> {
        let tables = &self.tables;
        Ok(match subject {
            Subject::Instance(key) => Some(key),
            Subject::Job(key) | Subject::AnsweredJob(key) => {
                tables.jobs.get(&key)?.map(|row| row.process_instance_key)
            }
            Subject::ElementInstance(key) => {
                tables.element_instances.get(&key)?.map(|row| row.process_instance_key)
            }
            Subject::Incident(key) => tables.incidents.get(&key)?.map(|row| row.process_instance_key),
            Subject::UserTask(key) => tables.user_tasks.get(&key)?.map(|row| row.process_instance_key),
            Subject::AgentInstance(key) => {
                tables.agent_instances.get(&key)?.map(|row| row.process_instance_key)
            }
        })
    }
}
