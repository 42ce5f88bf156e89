//! One connection to a node.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use auth::ClientTls;

use crate::options::Node;

/// A connection that is open, or was.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// Number of the node.
    pub node: usize,
}

impl Connection {
    /// Connects; says why not.
    pub async fn open(number: usize, node: &Node, tls: &ClientTls) -> Result<Self, String> {
        let stream = TcpStream::connect((&*node.host, node.port)).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        if !node.is_https {
            return Self::shake_hands(number, stream).await;
        }
        // Read anew each time, so that replaced authorities are noticed without watching them.
        let tls = tls.clone();
        let config = tokio::task::spawn_blocking(move || tls.config(&[b"http/1.1"])).await;
        let config = config.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let name = ServerName::try_from(node.host.clone()).map_err(|error| error.to_string())?;
        let stream = TlsConnector::from(config).connect(name, stream).await;
        Self::shake_hands(number, stream.map_err(|error| format!("TLS: {error}"))?).await
    }

    async fn shake_hands(
        node: usize,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<Self, String> {
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        Ok(Self { sender, node })
    }

    /// Whether it can take a request, as far as is known.
    pub fn is_usable(&self) -> bool {
        self.sender.is_ready()
    }

    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, hyper::Error> {
        self.sender.ready().await?;
        self.sender.send_request(request).await
    }
}
