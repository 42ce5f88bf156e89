//! Traces of requests for OpenTelemetry: which took how long, and where the time went.
//!
//! A request that is not chosen costs a look at a header and a random number. One that is chosen is described when
//! it has been answered, and sent in batches by a thread of its own; if the collector does not keep up, spans are
//! dropped.
//!
//! This crate knows neither REST nor gRPC: a gateway says what a request is called and what is to be told about it.

#[cfg(not(feature = "otlp"))]
mod absent;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(feature = "testing")]
pub mod testing;

use std::time::Duration;

#[cfg(not(feature = "otlp"))]
pub use absent::{StartError, Traced, Traces};
#[cfg(feature = "otlp")]
pub use otlp::{StartError, Traced, Traces};

/// The header in which a client says what its request is part of.
pub const TRACE_PARENT: &str = "traceparent";

/// Where traces go, and how many.
#[derive(Debug, Clone)]
pub struct Settings {
    /// OTLP over gRPC, such as `http://localhost:4317`.
    pub endpoint: String,
    /// Part of the requests that are traced, 0 to 1. A client that sends a trace decides for its requests itself.
    pub ratio: f64,
    /// Name of this server in traces.
    pub service: String,
}

/// A traced request.
#[derive(Debug)]
pub struct RequestTrace<'a> {
    /// Such as `createProcessInstance`.
    pub name: &'static str,
    /// Attributes by the names of OpenTelemetry's conventions.
    pub attributes: &'a [(&'static str, &'a str)],
    /// Whether it failed through a fault of the server.
    pub failed: bool,
    /// Its stages, one after the other, up to its end.
    pub stages: &'a [(&'static str, Duration)],
}
