//! The REST v2 gateway: HTTP/1.1 on hyper, one JSON request in, one command to the broker, one JSON answer out.
//!
//! A request enters at `server` (connections), goes through `exchange` (route, negotiate, read, validate, perform,
//! answer, measure) and one file of `operation`. The tables of `contract` alone define valid requests.
//! Nothing here knows how a broker works; it sees [`broker_api::Broker`] only.
//!
//! There is no framework between the socket and the handlers: routing is a static tree, so a framework would only
//! add boxed services and header copies to a path whose cost is the product's promise.

mod batch_searches;
mod baton;
mod call;
mod checks;
mod contract;
mod download;
mod exchange;
mod fields;
mod gateway;
mod lenient;
mod limits;
mod list_ticks;
mod metric_definitions;
mod moment;
mod multipart;
mod negotiate;
mod operation;
mod operators;
mod outage;
#[cfg(feature = "web")]
mod pages;
mod parameter;
mod position;
mod problem;
pub(crate) mod problem_code;
mod query;
mod refusal;
mod reply;
mod request_body;
mod route;
mod search;
mod server;
mod session;
mod shared_answers;
mod sign_in;
mod storage;
#[cfg(test)]
mod tests;
mod uploads;
mod validate;
mod visible;
mod writer;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use download::forbid_sniffing;
pub use gateway::Gateway;
pub use metric_definitions::HTTP_SERVER_REQUESTS_SECONDS;
pub use reply::{Pieces, ReplyBody};
pub use server::serve;
pub use storage::Storage;

use auth::{Cost, HashLimits, Hasher, ServerTls};
use documents::{Documents, Stores};
use traces::Traces;

use crate::management::Slot;
use crate::{Access, BasePath, Connections, Hosts, Secrets, Tenancy};

/// How many connections are open at once; more wait to be accepted.
pub const DEFAULT_MAX_CONNECTIONS: usize = 10_000;
/// Default idle time-out of a connection, and of the head of a request.
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_mins(1);
/// Default time-out of a body.
pub const DEFAULT_BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Default time-out of a creation that waits for its result.
pub const DEFAULT_AWAIT_TIMEOUT: Duration = Duration::from_secs(15);
/// Default time-out of an activation that waits for jobs.
pub const DEFAULT_LONG_POLL_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time-out that a request may ask for. Longer ones are cut to it.
pub const MAX_WAIT: Duration = Duration::from_hours(24);
/// Time that requests in flight have at shutdown.
pub const DEFAULT_STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest document.
pub const DEFAULT_MAX_DOCUMENT_BYTES: u64 = 10 * 1024 * 1024;

/// Whether the first administrator can be created without credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetUp {
    /// Yes, while there has never been one.
    Open,
    /// No. The text says why, after "but".
    Closed(&'static str),
}

/// Settings of the gateway.
#[derive(Debug, Clone)]
pub struct Options {
    /// See [`DEFAULT_MAX_CONNECTIONS`].
    pub max_connections: usize,
    /// See [`DEFAULT_IDLE_TIMEOUT`].
    pub idle_timeout: Duration,
    /// See [`DEFAULT_BODY_TIMEOUT`].
    pub body_timeout: Duration,
    /// See [`DEFAULT_AWAIT_TIMEOUT`].
    pub await_timeout: Duration,
    /// See [`DEFAULT_LONG_POLL_TIMEOUT`].
    pub long_poll_timeout: Duration,
    /// See [`DEFAULT_STOP_TIMEOUT`].
    pub stop_timeout: Duration,
    /// Whether answers carry a `Server-Timing` header with the time that each stage took.
    pub server_timing: bool,
    /// Whether the first administrator can be created without credentials.
    pub set_up: SetUp,
    /// Characters that a new password has at least.
    pub password_length_min: usize,
    /// Stores of documents.
    pub documents: Stores,
    /// Tenants that requests may name.
    pub tenancy: Tenancy,
    /// Access control.
    pub access: Access,
    /// Names that the header `Host` may have.
    pub hosts: Hosts,
    /// Hosts that the set-up answers to, which needs no credentials where others do.
    pub set_up_hosts: Hosts,
    /// Base path of addresses that browsers use.
    pub base_path: BasePath,
    /// State shared by the connections of all ports.
    pub connections: Connections,
    /// TLS of the connections, if there shall be any.
    pub tls: Option<Arc<ServerTls>>,
    /// Secondary storage. Without it, searches are refused.
    pub storage: Option<Storage>,
    /// The broker as operators see it, once it runs.
    pub operations: Slot,
    /// Secrets that clients may ask for.
    pub secrets: Secrets,
    /// Makes hashes of passwords.
    pub hasher: Hasher,
    /// Exporter of traces of some requests.
    pub traces: Option<Traces>,
    /// Web application, if enabled.
    #[cfg(feature = "web")]
    pub pages: Option<web::Pages>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_connections: DEFAULT_MAX_CONNECTIONS,
            idle_timeout: DEFAULT_IDLE_TIMEOUT,
            body_timeout: DEFAULT_BODY_TIMEOUT,
            await_timeout: DEFAULT_AWAIT_TIMEOUT,
            long_poll_timeout: DEFAULT_LONG_POLL_TIMEOUT,
            stop_timeout: DEFAULT_STOP_TIMEOUT,
            server_timing: false,
            set_up: SetUp::Open,
            password_length_min: 1,
            documents: Documents::in_memory("in-memory", DEFAULT_MAX_DOCUMENT_BYTES).into(),
            tenancy: Tenancy::default(),
            access: Access::default(),
            hosts: Hosts::default(),
            set_up_hosts: Hosts::default(),
            base_path: BasePath::default(),
            connections: Connections::default(),
            tls: None,
            storage: None,
            operations: Slot::default(),
            secrets: Secrets::default(),
            traces: None,
            #[cfg(feature = "web")]
            pages: None,
            hasher: Hasher::new(Cost::default(), HashLimits::default())
                .expect("the default cost is in range"),
        }
    }
}
