//! The metrics of connections.

use metrics::{Gauge, counter, gauge};

/// Open connections, by `port`.
const CONNECTIONS_OPEN: &str = "baton_connections_open";
/// Bytes that are being received or sent over all connections.
const TRANSFER_BYTES: &str = "baton_transfer_bytes";
/// Requests and connections that were refused or cut off, by `reason`.
const REFUSED_TOTAL: &str = "baton_refused_total";

/// Open connections of a port.
pub(super) fn open(port: &'static str) -> Gauge {
    gauge!(CONNECTIONS_OPEN, "port" => port)
}

/// Bytes on their way.
pub(super) fn transfer() -> Gauge {
    gauge!(TRANSFER_BYTES)
}

pub(super) fn refused(reason: &'static str) {
    counter!(REFUSED_TOTAL, "reason" => reason).increment(1);
}
