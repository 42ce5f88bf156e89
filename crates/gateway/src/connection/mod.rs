//! Connections of all ports: accepting them, driving HTTP/1.1 on them, ending them so that clients see the last answer.
//!
//! [`accept`] has the loop, and [`places`] decides who may come in and who goes for it; [`peer`] is one connection
//! as they see it, told by [`socket`]. [`http1`] serves the REST port and the management port, and with [`unread`]
//! and [`linger`] keeps the bytes of a refused request from breaking the next one. [`budget`] bounds what is on its
//! way, [`answer`] counts what is sent. [`refusals`] counts what was refused, for one line of the log now and then.
//!
//! Nothing here knows what a request means.

pub(crate) mod accept;
pub(crate) mod answer;
pub(crate) mod budget;
pub(crate) mod http1;
pub(crate) mod linger;
pub(crate) mod metric_definitions;
pub(crate) mod peer;
pub(crate) mod places;
pub(crate) mod refusals;
pub(crate) mod socket;
pub(crate) mod unread;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use budget::Budget;
use refusals::Refusals;

/// Default time-out of TLS, the preface of HTTP/2 or the head of a request.
pub const DEFAULT_HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Default time-out of a client that reads nothing.
pub const DEFAULT_SLOW_TIMEOUT: Duration = Duration::from_secs(30);
/// Default limit of connections of one address to one port.
pub const DEFAULT_PER_ADDRESS: usize = 2048;

/// The address that a request came from, among its extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address(pub(crate) IpAddr);

/// State shared by the connections of all ports. Clones share it.
#[derive(Debug, Clone)]
pub struct Connections {
    pub(crate) refusals: Arc<Refusals>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) settings: ConnectionSettings,
}

/// Options of the connections of all ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionSettings {
    /// See [`DEFAULT_HEAD_TIMEOUT`].
    pub head_timeout: Duration,
    /// See [`DEFAULT_SLOW_TIMEOUT`].
    pub slow_timeout: Duration,
    /// See [`DEFAULT_PER_ADDRESS`].
    pub per_address: usize,
    /// Bytes that are being received and sent over all connections.
    pub transfer_bytes: usize,
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        Self {
            head_timeout: DEFAULT_HEAD_TIMEOUT,
            slow_timeout: DEFAULT_SLOW_TIMEOUT,
            per_address: DEFAULT_PER_ADDRESS,
            transfer_bytes: budget::DEFAULT_BYTES,
        }
    }
}

impl Connections {
    /// New ones.
    pub fn new(settings: ConnectionSettings) -> Self {
        Self { refusals: Arc::default(), budget: Budget::new(settings.transfer_bytes), settings }
    }
}

impl Default for Connections {
    fn default() -> Self {
        Self::new(ConnectionSettings::default())
    }
}
