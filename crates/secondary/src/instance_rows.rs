//! Rows that a process instance takes with it: those of its elements, flows, variables and jobs.

use protocol::Key;
use search::Value;
use search::model::{
    ColumnId, Entity, EntityId, element_instance as element, job, process_instance as instance,
    sequence_flow as flow, variable,
};

use crate::change::{Change, Operation, RowId};

/// The instance itself and what goes with it, with the column that names the instance.
pub(crate) static PARTS: &[(&Entity, ColumnId)] = &[
    (&instance::ENTITY, instance::KEY),
    (&element::ENTITY, element::INSTANCE_KEY),
    (&flow::ENTITY, flow::INSTANCE_KEY),
    (&variable::ENTITY, variable::INSTANCE_KEY),
    (&job::ENTITY, job::INSTANCE_KEY),
];

/// The place of an entity among [`PARTS`].
pub(crate) fn part(entity: EntityId) -> Option<usize> {
    PARTS.iter().position(|(part, _)| part.id == entity)
}

/// The instance of a row that begins.
pub(crate) fn owner(change: &Change) -> Option<Key> {
    if change.operation != Operation::Insert {
        return None;
    }
    match (PARTS[part(change.entity)?].1, &change.id) {
        (0, RowId::Key(key)) => Some(*key),
        (0, RowId::Text(_)) => None,
        (column, _) => key(change, column),
    }
}

/// An instance whose row begins in a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BegunInstance {
    pub key: Key,
    /// The outermost instance of those that called it; `None` if nobody did.
    pub root: Option<Key>,
    pub has_ended: bool,
    /// Position of its first record.
    pub since: u64,
}

impl BegunInstance {
    pub fn of(change: &Change) -> Option<Self> {
        if change.entity != EntityId::ProcessInstance || change.operation != Operation::Insert {
            return None;
        }
        let RowId::Key(key) = change.id else { return None };
        let is_called = value(change, instance::PARENT_INSTANCE_KEY).is_some();
        // A called one of an old release names no root, and then has none that is known.
        let root = is_called.then(|| self::key(change, instance::ROOT_INSTANCE_KEY).unwrap_or(0));
        let has_ended = value(change, instance::END).is_some() && change.increments.is_empty();
        Some(Self { key, root, has_ended, since: change.since })
    }
}

/// A value that a change sets.
fn value(change: &Change, column: ColumnId) -> Option<&Value> {
    let at = change.values.binary_search_by_key(&column, |(at, _)| *at).ok()?;
    Some(&change.values[at].1).filter(|value| **value != Value::Null)
}

fn key(change: &Change, column: ColumnId) -> Option<Key> {
    value(change, column)?.integer().map(i64::cast_unsigned)
}
