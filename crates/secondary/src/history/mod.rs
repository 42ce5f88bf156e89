//! Forgetting: rows of what ended long ago are removed, in slices, beside the writers.
//!
//! [`Retention`] says what is kept how long, `kinds` what belongs together. A [`Sweeper`] looks for what is older
//! and has a [`Cleaner`] remove it, the parts first, so that a sweep that is cut off is found again by the next
//! one.

mod kinds;
mod retention;
mod sweeper;

pub use kinds::{KINDS, Kind, PROCESS_INSTANCES};
pub use retention::{Keep, Retention, Rule};
pub use sweeper::{Sweeper, Swept};
