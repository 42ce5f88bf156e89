//! Support of all scenarios: harness, scripts, transcripts.

pub mod batch;
pub mod check;
mod cluster_variable;
pub mod harness;
pub mod identity;
pub mod model;
pub mod partitions;
pub mod transcript;
pub mod user_task;

pub use check::{check, check_with};
pub use harness::{Harness, document};
pub use models::Random;
