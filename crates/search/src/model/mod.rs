//! The model of searches: one [`Entity`] for each kind of row, its columns named as the API names its properties.
//!
//! Everything else follows from this table: the schema of each store, what a search may filter and sort by, and how
//! a result is written. `entities.rs` holds the table.

#![expect(missing_docs, reason = "names say what is held")]

mod entities;
mod entity;
mod entity_id;
mod step_kind;

pub use entities::*;
pub use entity::{
    CUT_CHARS, Column, ColumnId, Entity, INDEXES_RETIRED, Index, IndexScope, Kind, ORDER_CHARS,
    VALUE_CHARS_MAX,
};
pub use entity_id::EntityId;
pub use step_kind::StepKind;
