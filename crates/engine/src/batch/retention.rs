//! How long batch operations are kept that have ended: the last hundred of them, with two hundred thousand items in
//! all.

use protocol::Key;

use super::has_ended;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;

/// Items that one step removes.
const REMOVED_PER_STEP: usize = 256;

impl CommandContext<'_> {
    /// Removes the oldest batch operations that have ended, as far as there are too many, a slice at a time.
    pub fn forget_batches(&mut self) -> Result<(), Failure> {
        let Some(key) = self.batch_to_forget()? else { return Ok(()) };
        let items = self.tables.batch_items.keys((key, 0)..(key + 1, 0), REMOVED_PER_STEP)?;
        let is_last = items.len() < REMOVED_PER_STEP;
        for item in items {
            self.tables.batch_items.delete(&item);
        }
        if is_last {
            self.tables.batch_operations.delete(&key);
            self.tables.batch_plans.delete(&key);
        }
        self.leave_step_to(0, Step::ForgetBatches);
        Ok(())
    }

    /// The oldest one that has ended, if there is no room for it. The last one that has ended always has room.
    fn batch_to_forget(&self) -> Result<Option<Key>, Failure> {
        let mut ended = Vec::new();
        self.tables.batch_operations.visit(.., |key, operation| {
            if has_ended(operation.state) {
                ended.push((operation.ended_ms, *key, operation.total));
            }
            std::ops::ControlFlow::Continue(())
        })?;
        ended.sort_unstable();
        let items: u64 = ended.iter().map(|(_, _, total)| total).sum();
        let is_full = ended.len() > self.options.max_ended_batch_operations
            || items > self.options.max_ended_batch_items && ended.len() > 1;
        Ok(ended.first().filter(|_| is_full).map(|(_, key, _)| *key))
    }
}
