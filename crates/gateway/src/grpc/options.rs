//! Settings of the port.

use std::sync::Arc;
use std::time::Duration;

use auth::ServerTls;
use traces::Traces;

use crate::{Access, Connections, Tenancy};

/// Options of the gRPC gateway.
#[derive(Debug, Clone)]
pub struct Options {
    /// Default time-out of a poll for jobs.
    pub poll_timeout: Duration,
    /// Default time-out of a creation that waits for its result.
    pub result_timeout: Duration,
    /// Time-out of a call that waits for listeners of a user task.
    pub listener_timeout: Duration,
    /// How many connections are open at the most; more wait to be accepted.
    pub connections_max: usize,
    /// Limit of open calls of one connection.
    pub calls_per_connection_max: u32,
    /// Time-out of the message of a call.
    pub message_timeout: Duration,
    /// Idle time after which a connection without a call is closed.
    pub idle_timeout: Duration,
    /// Silence after which the server sends a keep-alive ping. Clients that are gone give up their jobs.
    pub keep_alive_interval: Duration,
    /// Time-out of the answer to the ping.
    pub keep_alive_timeout: Duration,
    /// Time that open calls have at shutdown.
    pub shutdown_grace: Duration,
    /// Tenants that requests may name.
    pub tenancy: Tenancy,
    /// Access control.
    pub access: Access,
    /// State shared by the connections of all ports.
    pub connections: Connections,
    /// TLS of the connections, if there shall be any.
    pub tls: Option<Arc<ServerTls>>,
    /// Exporter of traces of some calls.
    pub traces: Option<Traces>,
    /// Whether answers tell positions. Of use where searches can wait for them.
    pub tells_positions: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            poll_timeout: Duration::from_secs(10),
            result_timeout: Duration::from_secs(15),
            listener_timeout: Duration::from_secs(10),
            connections_max: 4096,
            calls_per_connection_max: 4096,
            message_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_mins(10),
            keep_alive_interval: Duration::from_secs(30),
            keep_alive_timeout: Duration::from_secs(20),
            shutdown_grace: Duration::from_secs(5),
            tenancy: Tenancy::default(),
            access: Access::default(),
            connections: Connections::default(),
            tls: None,
            traces: None,
            tells_positions: false,
        }
    }
}
