//! The way out of a process instance that the engine failed on.
//!
//! Its rows are removed from the inside outward, as in any termination and with the same records, but no element does
//! anything on the way: nobody knows what the engine failed on, and that must not keep the instance from ending. Each
//! step is a transaction of its own, and each may be repeated: a cancellation that stops half-way is begun again by the
//! next.

use protocol::{Intent, Key};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::slices::Slices;
use crate::core::step::Step;
use crate::entity::ElementInstance;
use crate::event::compensation::WALK;

impl CommandContext<'_> {
    /// Begins to erase a banned process instance; it is banned no more.
    pub fn erase_instance(&mut self, key: Key) -> Result<(), Failure> {
        let Some(instance) = self.tables.instances.get(&key)? else { return Ok(()) };
        let is_first = !instance.is_erased;
        self.tables.instances.update(&key, |instance| instance.is_erased = true)?;
        self.forget_cached();
        self.tables.banned.delete(&key);
        self.tables.suspended.delete(&key);
        let mut slices = Slices::of((key, 0)..(key + 1, 0));
        while let Some(rows) = slices.rows(&self.tables.banned_steps)? {
            for (at, step) in rows {
                self.tables.banned_steps.delete(&at);
                // A part whose erasure failed is left out of the next.
                if is_first && is_part_of_erasure(&step) {
                    self.leave_step((*step).clone())?;
                }
            }
        }
        if let Some((at, row)) = self.at(key)? {
            self.begin_to_end(&at, &row)?;
        }
        self.leave_step(Step::Terminate { key })?;
        Ok(())
    }

    /// Erases the banned instances of a call hierarchy, a slice at a time.
    pub(super) fn erase_banned(&mut self, root_key: Key, after: Key) -> Result<(), Failure> {
        let limit = self.options.max_children_per_step;
        let keys = self.tables.banned.keys(after + 1.., limit)?;
        let last = keys.last().copied().filter(|_| keys.len() == limit);
        for key in keys {
            if self.tables.instances.get(&key)?.is_some_and(|instance| instance.root_key == root_key) {
                self.erase_instance(key)?;
            }
        }
        if let Some(after) = last {
            self.steps.push_back(Step::EraseBanned { root_key, after });
        }
        Ok(())
    }

    /// Goes on with the erasure of an element instance: first what is inside.
    pub(super) fn erase(&mut self, at: &ActiveElement, row: &ElementInstance) -> Result<(), Failure> {
        self.begin_to_end(at, row)?;
        if !self.tables.children.keys((at.key, 0)..(at.key + 1, 0), 1)?.is_empty() {
            self.steps.push_back(Step::TerminateChildren { scope_key: at.key, after: 0 });
            return Ok(());
        }
        if let Some(called) = row.called_instance_key
            && self.tables.instances.contains(&called)?
        {
            self.steps.push_back(Step::Terminate { key: called });
            return Ok(());
        }
        if let Some(task_key) = row.user_task_key {
            self.cancel_user_task(at, task_key)?;
        }
        self.record_element(at, Intent::ElementTerminated);
        self.forget_compensations(at.key, row)?;
        self.erase_rows(at, row)?;
        if at.scope_key == 0 {
            return self.end_instance(at, false);
        }
        self.handler_ended(at, false)?;
        if self.is_last_child(at)? {
            self.steps.push_back(Step::FinishTermination { key: at.scope_key });
        }
        Ok(())
    }

    /// Removes the rows of an element instance, of whatever kind it is.
    fn erase_rows(&mut self, at: &ActiveElement, row: &ElementInstance) -> Result<(), Failure> {
        let key = at.key;
        if row.has_variables {
            self.delete_variables(key, row)?;
        }
        self.tables.element_instances.delete(&key);
        self.tables.children.delete(&(at.scope_key, key));
        self.tables.children_by_element.delete(&(at.scope_key, at.index, key));
        self.tables.compensation_by_thrower.delete(&(key, WALK));
        self.drop_tokens(key)?;
        self.forget_living(key)?;
        self.end_loop(at.process_instance_key, key)
    }

    /// Whether nothing is left beside an element instance that is gone. The younger are looked for first: they end
    /// later, so that all those which have ended are not gone through each time.
    fn is_last_child(&self, gone: &ActiveElement) -> Result<bool, Failure> {
        let children = &self.tables.children;
        let (from, end) = ((gone.scope_key, 0), (gone.scope_key + 1, 0));
        Ok(children.keys((gone.scope_key, gone.key)..end, 1)?.is_empty()
            && children.keys(from..(gone.scope_key, gone.key), 1)?.is_empty())
    }

    /// Takes a step of an instance that is erased. Gives it if there is something to do.
    pub fn step_of_erased(&mut self, step: Step) -> Result<Option<Step>, Failure> {
        // Its origin and its continuations must end before it is removed.
        if let Step::Compensate { thrower_key: key, .. } | Step::RunHandler { host_key: key, .. } = &step {
            self.terminate(*key)?;
        }
        Ok(Some(step).filter(is_part_of_erasure))
    }
}

/// Whether a step belongs to the end of an instance: all others would go on with something. Elements that
/// compensation has begun is taken back by its own steps.
fn is_part_of_erasure(step: &Step) -> bool {
    matches!(
        step,
        Step::Terminate { .. }
            | Step::TerminateChildren { .. }
            | Step::FinishTermination { .. }
            | Step::Compensate { .. }
            | Step::RunHandler { .. }
    )
}
