//! Steps left over for a later command: who they belong to, and whose turn it is.
//!
//! An owner is a call hierarchy, by the key of its root instance, or a batch operation. A step that is of no instance
//! belongs to whoever it was left by; what belongs to nobody shares the owner 0. Steps of one owner run in the order in
//! which they were left. Owners take turns, a step each, in the order of their keys; a round covers those whose keys had
//! been given out when it began, so that a chain of new instances keeps nobody waiting.

use std::sync::Arc;

use protocol::{Key, compose_key};
use state::StateError;

use crate::Engine;
use crate::failure::Failure;
use crate::step::Step;
use crate::tables::Tables;
use crate::work::Work;

/// A step with its number.
pub(crate) type Numbered = (u64, Arc<Step>);

/// Removes a step that was left over.
pub(crate) fn remove(tables: &mut Tables, number: u64) -> Result<(), StateError> {
    tables.pending_steps.delete(&number);
    // Those left by an earlier release have none.
    if let Some(owner) = tables.pending_owners.get(&number)? {
        tables.pending_owners.delete(&number);
        tables.pending_by_owner.delete(&(*owner, number));
    }
    Ok(())
}

impl Work<'_> {
    /// Leaves a step to a later command.
    pub fn leave_step(&mut self, step: Step) -> Result<(), Failure> {
        let owner = self.owner_of(&step)?;
        self.leave_step_to(owner, step);
        Ok(())
    }

    /// Leaves a step to a later command, behind those that its new owner has.
    pub fn leave_step_to(&mut self, owner: Key, step: Step) {
        let step = self.with_origin(step);
        self.meta.pending_counter += 1;
        let number = self.meta.pending_counter;
        self.tables.pending_steps.insert(number, step);
        self.tables.pending_owners.insert(number, owner);
        self.tables.pending_by_owner.insert((owner, number), ());
    }

    fn owner_of(&self, step: &Step) -> Result<Key, StateError> {
        let instance_key = match self.instance_of(step)? {
            Some(key) => key,
            None if self.step_owner != 0 => return Ok(self.step_owner),
            None => self.current_instance,
        };
        let instance = self.tables.instances.get(&instance_key)?;
        Ok(instance.map_or(self.step_owner, |instance| instance.root_key))
    }
}

impl Engine {
    /// The oldest step.
    pub(crate) fn oldest_step(&self) -> Result<Option<Numbered>, StateError> {
        self.tables.pending_steps.first(..)
    }

    /// The step whose turn it is. The turn has passed on when this returns.
    pub(crate) fn step_in_turn(&mut self) -> Result<Option<Numbered>, StateError> {
        let Some(oldest) = self.oldest_step()? else { return Ok(None) };
        if !self.tables.pending_owners.contains(&oldest.0)? {
            // Left by an earlier release.
            return Ok(Some(oldest));
        }
        for _ in 0..2 {
            let round = (self.meta.turn_from, 0)..=(self.meta.turn_until, u64::MAX);
            if !round.is_empty()
                && let Some((owner, number)) = self.tables.pending_by_owner.keys(round, 1)?.pop()
            {
                self.meta.turn_from = owner + 1;
                let step = self.tables.pending_steps.get(&number)?;
                debug_assert!(step.is_some(), "an owner of a step that is not there");
                return Ok(step.map(|step| (number, step)));
            }
            self.meta.turn_from = 0;
            self.meta.turn_until = compose_key(self.options.partition_id, self.meta.key_counter);
        }
        debug_assert!(false, "a step without an owner in turn");
        Ok(Some(oldest))
    }

    /// The owner of a step, or 0.
    pub(crate) fn owner_of_step(&self, number: u64) -> Result<Key, StateError> {
        Ok(self.tables.pending_owners.get(&number)?.map_or(0, |owner| *owner))
    }
}
