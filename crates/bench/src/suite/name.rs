//! The names of the measurements.

pub(super) const CREATION: &str = "creation over REST";
pub(super) const PROTOCOLS: &str = "CPU per request";
pub(super) const THROUGHPUT: &str = "create, one job, complete";
pub(super) const STEADY: &str = "open loop 150/s";
pub(super) const PAYLOAD: &str = "32 KiB payload that nobody reads";
pub(super) const MANY: &str = "many waiting instances";
pub(super) const LARGE: &str = "large multi-instance beside others";
pub(super) const START: &str = "start on an empty directory";
pub(super) const EXPORT: &str = "export to SQLite";
pub(super) const EXPORT_BACKLOG: &str = "backlog";
pub(super) const ACCESS: &str = "authentication and authorization";

/// All measurements in their order.
pub(super) const NAMES: [&str; 11] =
    [START, CREATION, PROTOCOLS, THROUGHPUT, STEADY, PAYLOAD, EXPORT, EXPORT_BACKLOG, ACCESS, LARGE, MANY];
