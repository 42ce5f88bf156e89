//! One connection to a node.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;

use auth::ClientTls;

use crate::options::Node;

/// A connection that is open, or was.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// Number of the node.
    pub node: usize,
}

impl Connection {
    /// Connects; the error is the reason.
    pub async fn open(number: usize, node: &Node, tls: &ClientTls) -> Result<Self, String> {
        let opened = auth::connect(&node.host, node.port, node.is_https.then_some(tls)).await;
        let (sender, _) = opened.map_err(|error| error.to_string())?;
        Ok(Self { sender, node: number })
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
