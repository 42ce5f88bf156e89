//! Talking to OpenSearch and Elasticsearch: requests to one of several nodes ([`Client`]), from threads that may block
//! ([`Blocking`]), and many documents at once ([`Bulk`]).
//!
//! [`RecordExporter`] takes records there as they are.
//!
//! A request is sent again when the connection breaks before an answer, so whatever is asked for must be repeatable.
//! All but the exporter knows nothing of what documents mean.

mod blocking;
mod bulk;
mod client;
mod connection;
mod metric_definitions;
mod options;
mod records;

pub use blocking::Blocking;
pub use bulk::{Bulk, Limits, Outcome};
pub use client::{Answer, Client, ClientError, reason_of};
pub use http::{Method, StatusCode};
pub use options::{Options, OptionsError, Secret};
pub use records::{RecordExporter, RecordOptions};
