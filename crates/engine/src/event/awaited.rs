//! Subscriptions of element instances: common parts of timers, messages, signals and conditions.

use std::sync::Arc;

use bpmn::graph::ElementIndex;
use protocol::Key;
use state::{StateError, Table, TableValue};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::slices::keys_of_model;
use crate::entity::tables::Tables;
use crate::entity::{ConditionSubscription, SignalSubscription, Subscription, Timer};

/// All rows of one kind, and the keys of those of an owner.
pub(crate) type Rows<'a, Row> = (&'a Table<Key, Row>, &'a Table<(Key, Key), ()>);

/// A row of something that an element instance waits for.
pub(crate) trait Awaited: TableValue {
    /// Where it is kept.
    fn tables(tables: &Tables) -> Rows<'_, Self>;

    fn element(&self) -> ElementIndex;

    /// Removes it; it has not happened.
    fn close(&self, work: &mut CommandContext, key: Key) -> Result<(), StateError>;

    /// Makes it that of another catch event. `at` is the new place of its owner.
    fn migrate(
        &self,
        work: &mut CommandContext,
        key: Key,
        element: ElementIndex,
        at: &ActiveElement,
    ) -> Result<(), StateError>;
}

impl CommandContext<'_> {
    /// Closes what an owner waits for, as far as its catch event is one of these.
    pub(super) fn close_awaited(
        &mut self,
        owner: Key,
        which: impl Fn(ElementIndex) -> bool + Copy,
    ) -> Result<(), Failure> {
        self.close_rows::<Timer>(owner, which)?;
        self.close_rows::<Subscription>(owner, which)?;
        self.close_rows::<SignalSubscription>(owner, which)?;
        self.close_rows::<ConditionSubscription>(owner, which)
    }

    /// Closes what an owner waits for in one table.
    pub(super) fn close_rows<Row: Awaited>(
        &mut self,
        owner: Key,
        which: impl Fn(ElementIndex) -> bool,
    ) -> Result<(), Failure> {
        for (key, row) in self.awaited::<Row>(owner)? {
            if which(row.element()) {
                row.close(self, key)?;
            }
        }
        Ok(())
    }

    /// Moves what an element instance waits for to other catch events; closes that for which there is none.
    pub fn migrate_awaited(
        &mut self,
        at: &ActiveElement,
        target: impl Fn(ElementIndex) -> Option<ElementIndex> + Copy,
    ) -> Result<(), Failure> {
        self.migrate_rows::<Timer>(at, target)?;
        self.migrate_rows::<Subscription>(at, target)?;
        self.migrate_rows::<SignalSubscription>(at, target)?;
        self.migrate_rows::<ConditionSubscription>(at, target)
    }

    fn migrate_rows<Row: Awaited>(
        &mut self,
        at: &ActiveElement,
        target: impl Fn(ElementIndex) -> Option<ElementIndex>,
    ) -> Result<(), Failure> {
        for (key, row) in self.awaited::<Row>(at.key)? {
            match target(row.element()) {
                Some(element) => row.migrate(self, key, element, at)?,
                None => row.close(self, key)?,
            }
        }
        Ok(())
    }

    fn awaited<Row: Awaited>(&self, owner: Key) -> Result<Vec<(Key, Arc<Row>)>, StateError> {
        let (rows, by_owner) = Row::tables(self.tables);
        let mut found = Vec::new();
        for (_, key) in keys_of_model(by_owner, (owner, 0)..(owner + 1, 0))? {
            found.extend(rows.get(&key)?.map(|row| (key, row)));
        }
        Ok(found)
    }
}
