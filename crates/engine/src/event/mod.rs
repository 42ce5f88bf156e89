//! Events: timers, messages, signals, conditions, errors, escalations and compensation.

mod awaited;
mod broadcast_signal;
mod catch;
pub(crate) mod compensation;
pub(crate) mod condition;
mod correlate_message;
mod error_event;
mod escalation;
mod evaluate_conditionals;
mod message;
mod publish_message;
mod signal;
mod thrown;
mod timer;
