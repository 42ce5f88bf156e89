//! Steps left over for a later command: who they belong to, and whose turn it is.
//!
//! An owner is a call hierarchy, by the key of its root instance, or a batch operation. A step that is of no
//! instance belongs to whoever it was left by; what belongs to nobody shares the owner 0. Steps of one owner run in
//! the order in which they were left. Owners take turns, a step each, in the order of their keys; a round covers
//! those whose keys had been given out when it began, so that a chain of new instances keeps nobody waiting.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{Key, compose_key};
use state::StateError;

use crate::Engine;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::options::Options;
use crate::core::step::Step;
use crate::entity::Meta;
use crate::entity::tables::Tables;

/// Steps left over by earlier commands that are looked through for those of the instance.
const MAX_PENDING_STEPS: usize = 10_000;

/// A step with its number.
pub(crate) type Numbered = (u64, Arc<Step>);

/// Removes a step that was left over.
pub(crate) fn remove(tables: &mut Tables, number: u64) -> Result<(), StateError> {
    tables.pending_steps.delete(&number);
    // Those left by an earlier release have none.
    if let Some(owner) = tables.pending_owners.get(&number)? {
        tables.pending_owners.delete(&number);
        debug_assert!(
            tables.pending_by_owner.contains(&(*owner, number))?,
            "step {number} is listed with its owner {owner}"
        );
        tables.pending_by_owner.delete(&(*owner, number));
    }
    Ok(())
}

impl CommandContext<'_> {
    /// Leaves a step to a later command.
    pub fn leave_step(&mut self, step: Step) -> Result<(), Failure> {
        let owner = self.owner_of(&step)?;
        self.leave_step_to(owner, step);
        Ok(())
    }

    /// Leaves a step to a later command, behind those that its new owner has.
    pub fn leave_step_to(&mut self, owner: Key, step: Step) {
        let step = self.origin.noted_with(step);
        self.meta.pending_counter += 1;
        let number = self.meta.pending_counter;
        self.tables.pending_steps.insert(number, step);
        self.tables.pending_owners.insert(number, owner);
        self.tables.pending_by_owner.insert((owner, number), ());
    }

    fn owner_of(&self, step: &Step) -> Result<Key, StateError> {
        let instance_key = match step.process_instance(self.tables)? {
            Some(key) => key,
            None if self.step_owner != 0 => return Ok(self.step_owner),
            None => self.current_instance,
        };
        let instance = self.tables.instances.get(&instance_key)?;
        Ok(instance.map_or(self.step_owner, |instance| instance.root_key))
    }

    /// Whether steps of an instance are left over. If too many wait to look at all of them, they may be.
    pub fn has_pending_steps(&self, key: Key) -> Result<bool, StateError> {
        let pending = self.tables.pending_steps.scan(.., MAX_PENDING_STEPS)?;
        for (_, step) in &pending {
            if step.process_instance(self.tables)? == Some(key) {
                return Ok(true);
            }
        }
        Ok(pending.len() == MAX_PENDING_STEPS)
    }

    /// Leaves all further steps to later commands.
    pub fn leave_steps(&mut self) -> Result<(), Failure> {
        while let Some(step) = self.steps.pop_front() {
            self.leave_step(step)?;
        }
        Ok(())
    }
}

impl Engine {
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
        let mut turns = Turns::of(&self.meta);
        let next = turns.next(&self.tables, &self.meta, &self.options)?;
        (self.meta.turn_from, self.meta.turn_until) = (turns.from, turns.until);
        debug_assert!(next.is_some(), "a step without an owner in turn");
        Ok(next.or(Some(oldest)))
    }

    /// The owner of a step, or 0.
    pub(crate) fn owner_of_step(&self, number: u64) -> Result<Key, StateError> {
        Ok(self.tables.pending_owners.get(&number)?.map_or(0, |owner| *owner))
    }
}

/// The steps that a command would take up, so many at the most: one of each owner in turn, or the oldest first.
pub(crate) fn next_steps(
    tables: &Tables,
    meta: &Meta,
    options: &Options,
    in_turn: bool,
) -> Result<Vec<Numbered>, StateError> {
    let most = options.max_steps_per_command;
    let mut steps = tables.pending_steps.scan(.., most)?;
    if !in_turn {
        return Ok(steps);
    }
    // Those left by an earlier release have no owner, and are first.
    let mut without_owner = 0;
    for (number, _) in &steps {
        if tables.pending_owners.contains(number)? {
            break;
        }
        without_owner += 1;
    }
    steps.truncate(without_owner);
    let mut turns = Turns::of(meta);
    while steps.len() < most
        && let Some(next) = turns.next(tables, meta, options)?
    {
        steps.push(next);
    }
    Ok(steps)
}

struct Turns {
    /// The first owner that has not had its turn in this round.
    from: Key,
    /// The last of the round.
    until: Key,
    /// The last step of each owner that has had its turn here.
    taken: BTreeMap<Key, u64>,
}

impl Turns {
    fn of(meta: &Meta) -> Self {
        Self { from: meta.turn_from, until: meta.turn_until, taken: BTreeMap::new() }
    }

    fn next(
        &mut self,
        tables: &Tables,
        meta: &Meta,
        options: &Options,
    ) -> Result<Option<Numbered>, StateError> {
        for _ in 0..2 {
            let round_end = (self.until, u64::MAX);
            while let Some((owner, _)) = tables.pending_by_owner.keys((self.from, 0)..=round_end, 1)?.pop() {
                self.from = owner + 1;
                let after = self.taken.get(&owner).map_or(0, |last| last + 1);
                let left = tables.pending_by_owner.keys((owner, after)..=(owner, u64::MAX), 1)?.pop();
                if let Some((_, number)) = left {
                    self.taken.insert(owner, number);
                    let step = tables.pending_steps.get(&number)?;
                    debug_assert!(step.is_some(), "an owner of a step that is not there");
                    return Ok(step.map(|step| (number, step)));
                }
            }
            self.from = 0;
            self.until = compose_key(options.partition_id, meta.key_counter);
        }
        Ok(None)
    }
}
