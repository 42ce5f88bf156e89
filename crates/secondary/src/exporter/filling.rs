//! A history that goes on without records that are missing for good, with what there is.

use std::collections::BTreeSet;

use export::{ExportError, Flush};
use protocol::Record;
use search::model::{Entity, EntityId};
use search::{Filling, Gap};

use super::{RowIds, StoreExporter, failed};
use crate::change::{Batch, Operation};
use crate::store::Left;

/// Rows that are made of what there is: those that tell how something is, not how often it was.
const FILLED: &[EntityId] = &[
    EntityId::ProcessDefinition,
    EntityId::DecisionDefinition,
    EntityId::DecisionRequirements,
    EntityId::Form,
    EntityId::ProcessInstance,
    EntityId::ElementInstance,
    EntityId::Variable,
    EntityId::Incident,
    EntityId::Job,
    EntityId::UserTask,
    EntityId::MessageSubscription,
    EntityId::WaitState,
];

impl StoreExporter {
    /// Goes on without records that do not come again, and notes that they are missing.
    pub(super) fn go_on_without(&mut self, after: u64, upto: u64) -> Result<u64, ExportError> {
        let gap = Gap { after, upto, is_accepted: false };
        // First, so that whatever happens between is told again.
        self.writer.note_gaps(&[gap]).map_err(failed)?;
        match self.writer.left() {
            Some(left) => {
                let left =
                    Left { position: upto, written: left.written.max(upto), instances: BTreeSet::new() };
                self.writer.write_ended(&Batch::default(), &left).map_err(failed)?;
            }
            None => self.writer.write(&Batch::default(), upto).map_err(failed)?,
        }
        self.writer.sync(Flush::Whole).map_err(failed)?;
        tracing::error!(
            after,
            upto,
            "secondary storage lacks records that do not come again: it was emptied, or an older state of it was put \
             back; `baton history begin` goes on without them"
        );
        Ok(upto)
    }

    /// Puts rows of what there is where none are. The records up to its position, as far as they come yet, do not
    /// change these rows any more.
    pub(super) fn fill(&mut self, filling: Filling) -> Result<(), ExportError> {
        let mut batch = Batch::default();
        for record in &filling.records {
            self.projection.apply(record, &mut batch);
            self.projection.take_failure().map_or(Ok(()), |error| Err(failed(error)))?;
        }
        self.projection.discard();
        let mut missing = RowIds::new();
        for change in batch.changes().iter().filter(|change| FILLED.contains(&change.entity)) {
            if change.operation == Operation::Insert
                && !self.writer.has(Entity::of(change.entity), &change.id).map_err(failed)?
            {
                missing.insert((change.entity, change.id.clone()));
            }
        }
        let rows = batch.take(|change| missing.contains(&(change.entity, change.id.clone())));
        let mut filled = Batch::default();
        filled.begin_with(rows);
        let stored = self.writer.left().map_or(self.stored, |left| left.position);
        match self.writer.left() {
            Some(left) => self.writer.write_ended(&filled, &left).map_err(failed)?,
            None => self.writer.write(&filled, stored).map_err(failed)?,
        }
        tracing::info!(
            rows = filled.len(),
            position = filling.position,
            "what there is was put into the history"
        );
        self.filled = Some((filling.position, missing));
        Ok(())
    }

    /// Applies a record to rows that do not show already what it leads to.
    pub(super) fn apply_unfilled(&mut self, record: &Record) {
        let mut batch = Batch::default();
        self.projection.apply(record, &mut batch);
        let Some((_, filled)) = &self.filled else { return };
        self.batch.append(batch, |change| !filled.contains(&(change.entity, change.id.clone())));
    }
}
