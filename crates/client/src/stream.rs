//! One connection: plain, or with TLS.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{ClientConfig, pki_types::ServerName},
};
use tokio_util::either::Either;
use tonic::codegen::Service;

use crate::{Address, Error, fault};

pub(crate) type Stream = Either<TcpStream, TlsStream<TcpStream>>;

/// How connections to one address are made.
#[derive(Clone)]
pub(crate) struct Connector {
    address: Address,
    tls: Option<TlsConnector>,
}

impl Connector {
    /// For an address whose server speaks `protocol` (ALPN, RFC 7301).
    pub(crate) fn new(
        address: Address,
        tls: Option<&Arc<ClientConfig>>,
        protocol: &[u8],
    ) -> Result<Self, Error> {
        let tls = match (address.tls, tls) {
            (false, _) => None,
            (true, Some(config)) => {
                let mut config = ClientConfig::clone(config);
                config.alpn_protocols = vec![protocol.to_vec()];
                Some(TlsConnector::from(Arc::new(config)))
            }
            (true, None) => {
                return Err(Error::Address {
                    address: address.authority(),
                    reason: "TLS is not set up for this client",
                });
            }
        };
        Ok(Self { address, tls })
    }

    /// Where the connections lead.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) async fn open(&self) -> io::Result<Stream> {
        let stream = TcpStream::connect((self.address.host.as_str(), self.address.port)).await;
        let stream = stream.map_err(|error| fault::unreachable(&error))?;
        stream.set_nodelay(true)?;
        let Some(tls) = &self.tls else { return Ok(Either::Left(stream)) };
        let name = ServerName::try_from(self.address.host.clone()).map_err(io::Error::other)?;
        let stream = tls.connect(name, stream).await;
        stream.map(Either::Right).map_err(|error| fault::handshake(&error))
    }
}

/// As gRPC asks for a connection. The address is its own.
impl Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<TokioIo<Stream>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let this = self.clone();
        Pin::from(Box::new(async move { this.open().await.map(TokioIo::new) }))
    }
}
