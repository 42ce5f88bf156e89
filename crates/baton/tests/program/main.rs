//! The program as a user runs it.
#![allow(clippy::unwrap_used)]

mod changes;
mod commands;
mod errors;
mod history;
mod jobs;
mod manage;
mod models;
mod processes;
mod profiles;
mod purge;
mod server;
mod support;
mod tls;
mod work;
