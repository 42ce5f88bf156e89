//! What clients speak to: the REST API, the gRPC API and the management port, each in front of a broker seen
//! through a trait.

mod accept;
pub mod grpc;
pub mod management;
pub mod rest;
mod tenancy;

pub use tenancy::Tenancy;
