//! The client and the exporter of records, against servers that do not always do what they should.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod client;
mod exporter;
#[path = "../records/record.rs"]
mod record;
mod stub;
