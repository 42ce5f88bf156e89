//! Settings of a server, as one layer of commands has them.

use std::path::PathBuf;
use std::time::Duration;

/// Parts that one layer knows of a server.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    pub(crate) rest_address: Option<String>,
    pub(crate) grpc_address: Option<String>,
    pub(crate) management_address: Option<String>,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) authorities: Option<PathBuf>,
    pub(crate) certificate_chain: Option<PathBuf>,
    pub(crate) private_key: Option<PathBuf>,
    pub(crate) request_timeout: Option<Duration>,
}
