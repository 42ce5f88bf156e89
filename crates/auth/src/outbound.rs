//! Outbound HTTP/1.1 connections, with or without TLS.

use std::io;

use bytes::Bytes;
use hyper::body::Body;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use crate::tls::{ClientTls, TlsError};

/// Errors of an attempt to connect.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The host cannot be reached or is no name.
    #[error(transparent)]
    Unreachable(#[from] io::Error),
    /// The TLS settings cannot be used.
    #[error(transparent)]
    Settings(#[from] TlsError),
    /// The peer and this program did not agree on TLS.
    #[error("TLS: {0}")]
    Tls(io::Error),
    /// The peer does not speak HTTP/1.1.
    #[error(transparent)]
    Http(#[from] hyper::Error),
}

/// Connects to a host. The task drives the connection until one side closes it.
///
/// # Errors
/// [`ConnectError`]; there is no time limit here.
pub async fn connect<B>(
    host: &str,
    port: u16,
    tls: Option<&ClientTls>,
) -> Result<(SendRequest<B>, JoinHandle<()>), ConnectError>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    let Some(tls) = tls else { return shake_hands(stream).await };
    // Read anew each time, so that replaced certificates are noticed without watching them.
    let tls = tls.clone();
    let config = tokio::task::spawn_blocking(move || tls.config(&[b"http/1.1"]));
    let config = config.await.map_err(io::Error::other)??;
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    shake_hands(TlsConnector::from(config).connect(name, stream).await.map_err(ConnectError::Tls)?).await
}

async fn shake_hands<B>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<(SendRequest<B>, JoinHandle<()>), ConnectError>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Its end is seen by the next request.
    let task = tokio::spawn(async move { drop(connection.await) });
    Ok((sender, task))
}
