//! Rows of secondary storage, and searches for them, as several operations need them.

use protocol::{Key, Name};
use search::model::{ColumnId, Entity};
use search::{EntityRef, Filter, Operand, Position, Row, Search, Sort, Test};

pub(super) fn number(row: &Row, column: ColumnId) -> Option<i64> {
    row[usize::from(column)].integer()
}

pub(super) fn key(row: &Row, column: ColumnId) -> Option<Key> {
    number(row, column).map(i64::cast_unsigned)
}

/// The key of a column that no row lacks.
pub(super) fn key_of(row: &Row, column: ColumnId) -> Key {
    key(row, column).unwrap_or(0)
}

pub(super) fn text(row: &Row, column: ColumnId) -> Option<Name> {
    row[usize::from(column)].text().cloned()
}

/// A key as a column holds it.
pub(super) const fn operand(key: Key) -> Operand {
    Operand::Integer(key.cast_signed())
}

/// The rows with a key in a column.
pub(super) const fn with_key(column: ColumnId, key: Key) -> Filter {
    Filter::Column(column, Test::Equal(operand(key)))
}

/// The rows with a text in a column.
pub(super) fn with_text(column: ColumnId, text: &str) -> Filter {
    Filter::Column(column, Test::Equal(Operand::Text(Name::from(text))))
}

/// All columns of an entity, one bit each.
pub(super) const fn whole(entity: &Entity) -> u64 {
    u64::MAX >> (64 - entity.columns.len())
}

/// A search for whole rows in the order of their identities, from the first on, without a total.
pub(super) fn search(entity: &'static Entity, filter: Filter, limit: u32) -> Search {
    Search {
        entity: EntityRef(entity),
        filter,
        sort: vec![Sort { column: 0, descending: false }],
        position: Position::Offset(0),
        limit,
        count_up_to: 0,
        columns: whole(entity),
        cut: None,
    }
}
