//! The program as a user runs it.
#![allow(clippy::unwrap_used)]

mod commands;
mod jobs;
mod manage;
mod models;
mod server;
mod support;
mod tls;
mod work;
