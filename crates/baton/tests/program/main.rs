//! The program as a user runs it.
#![allow(clippy::unwrap_used)]

mod commands;
mod manage;
mod server;
mod support;
mod tls;
