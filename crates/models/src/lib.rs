//! Models for tests, and what no batch may do whatever its model is. Nothing of this is part of the program.
//!
//! A model is written as lines of text ([`bpmn`]), by hand or by chance ([`generate`]). With some [`Hostility`] a random
//! model ([`generate_hostile`]) has parts that want everything: time, memory, or no end. [`Bounds`] are the figures that
//! hold nevertheless, and [`check_cancellation`] looks whether an instance of it can be ended.

mod bounds;
mod cancellation;
mod decisions;
mod expressions;
mod generator;
mod hostile;
mod random;
mod text;

pub use bounds::{Bounds, Taken};
pub use cancellation::{OWNERS_MAX, Subject, cancellable, check_cancellation, owners};
pub use generator::{CODES, Model, STARTED, generate, generate_hostile};
pub use hostile::{Hostility, limits};
pub use random::Random;
pub use text::bpmn;
