//! Packed rows: many rows of one entity as columns, once they have ended and change no more.
//!
//! A pack has the rows of some hundred or thousand things that ended at about the same time. Each column is kept in
//! the smallest of a few forms (`column`): most have one value for all rows, or a few that a byte tells apart, or
//! numbers near another column's. Long texts stand beside the pack in compressed blocks (`texts`), so that a search
//! reads them only where it must. `zones` says what a pack can contain without reading it.
//!
//! A pack is read where it lies: a test of a column looks at its bytes, and only rows that are shown become rows
//! again. `select` evaluates filters, `order` compares. Bytes have a checksum; damage is told and costs the pack that
//! has it, not the others.

mod bytes;
mod column;
mod condition;
mod encode;
mod order;
mod rows;
mod select;
mod texts;
mod zones;

pub(crate) use condition::{Condition, Relation};
pub(crate) use encode::{Encoded, Unpacked, encode};
pub(crate) use order::{Place, compare, placed};
pub(crate) use rows::{Opened, PackedRows};
pub(crate) use select::{Group, retain_values, select};
pub(crate) use texts::TextSource;
pub(crate) use zones::Zones;

/// Why packed rows cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PackError {
    /// The bytes are not those that were written.
    #[error("packed rows are damaged: {0}")]
    Damaged(&'static str),
    #[error(transparent)]
    Store(#[from] search::StoreError),
}
