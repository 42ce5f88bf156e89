//! Typed, ordered tables that live in memory and are written to disk in the background.
//!
//! A [`Table`] is read and written through three layers: the active overlay (decoded values, written by the one thread
//! that applies commands), the frozen overlay (on its way to disk), and a redb file as of the last flush. Nothing but a
//! flush ever writes to the file, so after a crash it holds exactly what the last flush held, and the log is replayed
//! from there.
//!
//! Start reading at [`tables!`] (what a program declares) and `table.rs` (what a read and a write do); `flush.rs` is
//! the way to disk, `snapshot.rs` the way to another machine.
//!
//! This crate knows nothing of what the rows mean, starts no threads and reads no clock.

mod backend;
mod cache;
mod command;
mod disk;
mod error;
mod flush;
mod gaps;
mod key;
mod overlay;
mod retired;
mod seal;
mod snapshot;
mod store;
mod table;
mod tables;
mod value;
mod walk;

pub use error::StateError;
pub use flush::{Flush, Flushed};
pub use key::TableKey;
pub use redb::StorageBackend;
pub use retired::Retired;
pub use snapshot::{Replacement, Snapshot};
pub use store::{Options, Store};
pub use table::{RowChange, Table};
pub use tables::TableSet;
pub use value::TableValue;

/// Support for the macros of this crate. Not for direct use.
#[doc(hidden)]
pub mod hidden {
    use std::{any::Any, sync::Arc};

    pub use crate::{
        flush::FrozenTable,
        store::View,
        tables::{Core, CoreOpening, check_numbers, combine_hashes},
        value::{decode_minicbor, encode_minicbor},
    };

    /// Wraps overlays that are done with.
    pub fn retire(layers: Vec<Arc<dyn Any + Send + Sync>>) -> crate::Retired {
        crate::Retired(layers)
    }
}
