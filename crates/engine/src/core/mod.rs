//! The machinery below all areas: the transaction's view of the state, steps, records, fuel, limits and counts.

pub(crate) mod context;
pub(crate) mod counters;
pub(crate) mod due;
pub(crate) mod effects;
pub(crate) mod failure;
mod known_json;
pub(crate) mod left_over;
pub(crate) mod meter;
pub(crate) mod options;
pub(crate) mod origin;
pub(crate) mod outbox;
pub(crate) mod record;
pub(crate) mod recorded;
pub(crate) mod settings;
pub(crate) mod slices;
pub mod step;
pub(crate) mod step_instance;
