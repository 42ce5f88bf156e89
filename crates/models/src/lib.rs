//! Models for tests, and bounds for every batch. Nothing of this is part of the program.
//!
//! A model is written as lines of text ([`bpmn`]), by hand or at random ([`generate`]). With some [`Hostility`] a
//! random model ([`generate_hostile`]) has parts with extreme use of time or memory, or without an end. [`Bounds`]
//! are the figures that hold nevertheless, and [`check_cancellation`] checks that an instance of it can be cancelled.
//! [`check_mappings`] evaluates mappings apart from the engine.

mod bounds;
mod cancellation;
mod decisions;
mod expressions;
mod generator;
mod hostile;
mod mappings;
mod random;
mod text;

pub use bounds::{Bounds, Taken};
pub use cancellation::{OWNERS_MAX, Subject, cancellable, check_cancellation, owners};
pub use generator::{CODES, Hostility, Model, STARTED, generate, generate_hostile};
pub use hostile::limits;
pub use mappings::check_mappings;
pub use random::Random;
pub use text::bpmn;
