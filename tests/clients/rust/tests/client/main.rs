//! The Rust client against a Baton server; tests/clients/run.py starts it and tells where it is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod agents;
mod credentials;
mod features;
mod filters;
mod jobs;
mod messages;
mod reads;
mod user_tasks;
mod workers;
