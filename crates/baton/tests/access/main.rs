//! Authentication, authorization and visibility, end to end: the real program, over its ports.
#![allow(clippy::unwrap_used)]

mod backups;
mod bad_input;
mod base_path;
mod brokers;
mod contract;
mod entries;
mod grpc_states;
mod identity;
mod instance_questions;
#[allow(dead_code)]
#[path = "../../../auth/tests/auth/issuer.rs"]
mod issuer;
mod nothing_allowed;
mod operators;
mod own_operations;
mod passwords;
mod permissions;
mod positions;
mod seed;
mod server;
mod sessions;
mod sign_in;
mod sites;
mod task_grants;
mod tenants;
mod tenants_apart;
mod tokens;
mod uninvited;
