//! Events: timers, messages, signals, conditions, errors, escalations and compensation.

mod awaited;
mod broadcast_signal;
mod catch;
pub(crate) mod compensation;
pub(crate) mod condition;
mod correlate_message;
mod describe;
mod dispatch;
mod error_event;
mod escalation;
mod evaluate_conditionals;
mod message;
mod message_business_id;
mod publish_message;
mod record;
mod remote;
mod signal;
mod start_events;
mod thrown;
mod timer;
