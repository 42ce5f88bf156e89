//! Completed activities that can be compensated migrate like active ones, unless their compensation has begun.

use protocol::{Intent, Key};

use super::check::check_element;
use super::{Migration, Part, refused};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::slices::Slices;
use crate::entity::Compensation;
use crate::event::compensation::handler_of;

/// Scope and activity, and what is there to compensate.
type Row = ((Key, Key), Compensation);

impl CommandContext<'_> {
    /// Rows of a scope and of the completed scopes inside it.
    fn compensations_below(&self, part: &Part) -> Result<Vec<Row>, Failure> {
        let mut found = Vec::new();
        if !part.row.compensable {
            return Ok(found);
        }
        let mut open = vec![part.key];
        while let Some(scope_key) = open.pop() {
            let mut slices = Slices::of((scope_key, 0)..(scope_key + 1, 0));
            while let Some(rows) = slices.rows(&self.tables.compensations)? {
                for (key, row) in rows {
                    if row.has_inner {
                        open.push(row.activity_instance_key);
                    }
                    found.push((key, (*row).clone()));
                }
            }
        }
        Ok(found)
    }

    /// How many there are.
    pub(super) fn count_compensations(&self, part: &Part) -> Result<usize, Failure> {
        Ok(self.compensations_below(part)?.len())
    }

    pub(super) fn check_compensations(&self, migration: &Migration, part: &Part) -> Result<(), Failure> {
        let mapping = &migration.mapping;
        let thrown = (part.key, 0)..(part.key + 1, 0);
        if !self.tables.compensation_by_thrower.keys(thrown, 1)?.is_empty() {
            let id = &mapping.source_element(part.row.element).id;
            let reason = format_args!("its element '{id}' waits for compensation; try again later");
            return Err(refused(migration.process_instance_key, reason));
        }
        for (_, row) in self.compensations_below(part)? {
            let id = &mapping.source_element(row.activity).id;
            let refuse = |reason: String| Err(refused(migration.process_instance_key, reason));
            if row.thrower_key.is_some() {
                return refuse(format!("its completed activity '{id}' is being compensated"));
            }
            if mapping.element(row.activity).is_none() {
                return refuse(format!(
                    "no mapping instruction is defined for the completed activity '{id}', which can be compensated"
                ));
            }
            check_element(migration, row.activity)?;
            let target = mapping.element(row.activity);
            if row.handler.is_some()
                && target.and_then(|target| handler_of(&mapping.target, target)).is_none()
            {
                return refuse(format!(
                    "the completed activity '{id}' is mapped to an element without a compensation handler"
                ));
            }
        }
        Ok(())
    }

    pub(super) fn move_compensations(
        &mut self,
        migration: &Migration,
        part: &Part,
        definition_key: Key,
    ) -> Result<(), Failure> {
        let mapping = &migration.mapping;
        for (key, mut row) in self.compensations_below(part)? {
            // Checked before.
            let Some(activity) = mapping.element(row.activity) else { continue };
            row.activity = activity;
            row.handler = row.handler.and_then(|_| handler_of(&mapping.target, activity));
            row.definition_key = definition_key;
            self.record_compensation(key.1, Intent::Migrated, key.0, &row)?;
            self.tables.compensations.put(key, row);
        }
        Ok(())
    }
}
