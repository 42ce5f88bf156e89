//! TLS between brokers, with certificates of both sides.

use std::fmt;
use std::sync::Arc;

use rustls::{ClientConfig, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

type Current<T> = Arc<dyn Fn() -> Arc<T> + Send + Sync>;

/// Certificates of this broker and authorities for those of others, asked for with each connection.
#[derive(Clone)]
pub struct Certificates {
    server: Current<ServerConfig>,
    client: Current<ClientConfig>,
}

impl Certificates {
    /// `server` is for connections that come and must ask for a certificate, `client` for those that go.
    pub fn new(
        server: impl Fn() -> Arc<ServerConfig> + Send + Sync + 'static,
        client: impl Fn() -> Arc<ClientConfig> + Send + Sync + 'static,
    ) -> Self {
        Self { server: Arc::new(server), client: Arc::new(client) }
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        (self.server)().into()
    }

    pub(crate) fn connector(&self) -> TlsConnector {
        (self.client)().into()
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificates")
    }
}
