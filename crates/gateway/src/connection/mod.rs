//! Connections of all ports: accepting them, driving HTTP/1.1 on them, ending them so that clients see the last answer.
//!
//! [`accept`] has the loop; [`http1`] serves the REST port and the management port, and with [`unread`] and [`linger`] keeps the bytes
//! of a refused request from breaking the next one. [`refusals`] counts what was refused, for one line of the log now and then.
//!
//! Nothing here knows what a request means.

pub(crate) mod accept;
pub(crate) mod http1;
pub(crate) mod linger;
pub(crate) mod refusals;
pub(crate) mod unread;

use std::sync::Arc;

use refusals::Refusals;

/// What the connections of all ports share. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Connections {
    pub(crate) refusals: Arc<Refusals>,
}
