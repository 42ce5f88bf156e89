//! Rows that a command changes, for other sets of the same tables.

use std::collections::BTreeSet;

use super::Table;
use crate::{StateError, TableKey, TableValue, key::decode_whole};

/// A row as a command leaves it: its table, its key, and its value unless it is deleted, in the encoding of the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowChange {
    /// Number of the table.
    pub table: u32,
    /// Encoded key.
    pub key: Vec<u8>,
    /// Encoded value; `None`: there is no such row.
    pub value: Option<Vec<u8>>,
}

/// The interface of each table to [`tables!`](crate::tables).
#[doc(hidden)]
impl<K: TableKey, V: TableValue> Table<K, V> {
    /// Adds the rows that the command at hand has changed, in the order of their keys.
    pub fn changes(&self, changes: &mut Vec<RowChange>) -> Result<(), StateError> {
        let keys: BTreeSet<&K> = self.undo.iter().map(|undo| &undo.key).collect();
        for key in keys {
            let mut change = RowChange { table: self.number, key: Vec::new(), value: None };
            key.encode(&mut change.key);
            if let Some(value) = self.get(key)? {
                value.encode(change.value.insert(Vec::new()));
            }
            changes.push(change);
        }
        Ok(())
    }

    /// Makes a change that a table of the same kind has told.
    pub fn apply_change(&mut self, change: &RowChange) -> Result<(), StateError> {
        debug_assert_eq!(change.table, self.number, "a change of another table than {}", self.name);
        let key = decode_whole(&change.key)?;
        match &change.value {
            Some(value) => self.put(key, V::decode(value)?),
            None => self.delete(&key),
        }
        Ok(())
    }
}
