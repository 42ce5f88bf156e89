//! Common parts of buckets of all providers: where documents are in one, and how patiently it is asked.

#[cfg(feature = "buckets")]
mod client;

use std::path::PathBuf;
use std::time::Duration;

use object_store::path::Path as Place;

/// A bucket, and how it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketOptions {
    /// Its name.
    pub name: String,
    /// Prefix of the names of all objects, a path; empty for none.
    pub prefix: String,
    /// Time limit for a connection, TLS included.
    pub connect_timeout: Duration,
    /// Time limit for one request, its retries included.
    pub request_timeout: Duration,
    /// How often a request that failed is tried again.
    pub retries_max: usize,
    /// PEM file with further trusted authorities.
    pub authorities: Option<PathBuf>,
}

impl BucketOptions {
    /// Whether names of objects can begin with this.
    pub fn is_prefix(prefix: &str) -> bool {
        !prefix.starts_with('/') && !prefix.ends_with('/') && Place::parse(prefix).is_ok()
    }
}
