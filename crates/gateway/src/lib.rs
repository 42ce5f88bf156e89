//! The ports of clients: the REST API, the gRPC API and the management port, each in front of a broker seen
//! through a trait.

mod access;
mod base_path;
mod browser;
mod connection;
pub mod grpc;
mod hosts;
mod idempotency;
pub mod management;
mod position;
pub mod rest;
mod secrets;
mod tenancy;
mod wall_clock;

pub use access::{Access, AccessOptions, EngineUsers};
pub use base_path::BasePath;
pub use connection::{ConnectionSettings, Connections};
pub use hosts::Hosts;
pub use secrets::Secrets;
pub use tenancy::Tenancy;
#[cfg(feature = "web")]
pub use web::{PageSettings, Pages};
