//! What can be found: one [`Entity`] for each kind of thing, its columns named as the API names its properties.
//!
//! Everything else follows from this table: the schema of each store, what a search may filter and sort by, and how
//! a result is written. `entities.rs` holds the table.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A key; a string of digits in the API.
    Key,
    /// An integer.
    Integer,
    /// Text.
    Text,
    /// A moment, Unix milliseconds; RFC 3339 in the API.
    Time,
    /// True or false.
    Flag,
    /// A list of texts, as JSON; a test on it asks whether one of them passes.
    List,
    /// JSON as it is, never searched for.
    Json,
}

impl Kind {
    /// Whether values are kept as integers.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Key | Self::Integer | Self::Time | Self::Flag)
    }
}

/// A property of an entity.
#[derive(Debug)]
pub struct Column {
    /// Its name in the API.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether no row lacks it, so that an order by it needs no place for those that do.
    pub is_always_set: bool,
}

/// Lists show longer values of variables cut to this length, unless a request wants them whole.
pub const VALUE_CHARS_MAX: usize = 8191;

/// Position of a column in its entity.
pub type ColumnId = u8;

/// A kind of thing that can be found.
#[derive(Debug)]
pub struct Entity {
    /// Position in [`ENTITIES`].
    pub id: EntityId,
    /// Name of its table or index.
    pub name: &'static str,
    /// Its columns; the first one identifies a row. There are at most 64.
    pub columns: &'static [Column],
    /// What is looked for or sorted by often; the row's identity follows implicitly.
    pub indexes: &'static [&'static [ColumnId]],
}

impl Entity {
    /// The entity of an ID.
    pub fn of(id: EntityId) -> &'static Self {
        ENTITIES[id as usize]
    }

    /// Whether a column stands in an index.
    pub fn is_indexed(&self, column: ColumnId) -> bool {
        column == 0 || self.indexes.iter().any(|columns| columns.contains(&column))
    }

    /// The column of a name.
    pub fn column(&self, name: &str) -> Option<ColumnId> {
        self.columns.iter().position(|column| column.name == name).map(|at| at as ColumnId)
    }
}

/// Numbers constants.
macro_rules! columns {
    ($number:expr; ) => {};
    ($number:expr; $constant:ident $($rest:ident)*) => {
        #[doc = stringify!($constant)]
        pub const $constant: ColumnId = $number;
        columns!($number + 1; $($rest)*);
    };
}

macro_rules! entities {
    ($($(#[$meta:meta])* $variant:ident $module:ident { $($constant:ident $column:ident: $kind:ident $($always:ident)?),* $(,)? }
       index $([$($index:ident)*])*;)*) => {
        /// Names of the entities.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum EntityId { $($(#[$meta])* $variant),* }

        /// All entities, in the order of their IDs.
        pub static ENTITIES: &[&Entity] = &[$(&$module::ENTITY),*];

        $($(#[$meta])*
        pub mod $module {
            use super::{Column, ColumnId, Entity, EntityId, Kind};

            columns!(0; $($constant)*);

            /// The entity.
            pub static ENTITY: Entity = Entity {
                id: EntityId::$variant,
                name: stringify!($module),
                columns: &[$(Column {
                    name: stringify!($column),
                    kind: Kind::$kind,
                    is_always_set: !stringify!($($always)?).is_empty(),
                }),*],
                indexes: &[$(&[$($index),*]),*],
            };
        })*
    };
}

mod entities;
pub mod history;

pub use entities::*;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_fit_their_limits() {
        for (at, entity) in ENTITIES.iter().enumerate() {
            assert_eq!(entity.id as usize, at, "{}", entity.name);
            assert!(entity.columns.len() <= 64, "{}", entity.name);
            for index in entity.indexes {
                assert!(
                    index.iter().all(|&column| !matches!(
                        entity.columns[column as usize].kind,
                        Kind::Json | Kind::List
                    ))
                );
            }
        }
    }
}
