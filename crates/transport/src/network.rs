//! The network below connections: TCP, or that of a simulation.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// A stream of bytes in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// The future of a new connection.
pub type Opening<'a> = Pin<Box<dyn Future<Output = io::Result<Box<dyn Duplex>>> + Send + 'a>>;

/// Connects to other brokers.
pub trait Network: Send + Sync {
    /// Connects to an address, `host:port`.
    fn connect<'a>(&'a self, address: &'a str) -> Opening<'a>;
}

/// A port that other brokers connect to.
pub trait Listener: Send + Sync + 'static {
    /// Waits for the next connection.
    fn accept(&self) -> Opening<'_>;
}

impl Listener for Box<dyn Listener> {
    fn accept(&self) -> Opening<'_> {
        (**self).accept()
    }
}

impl Listener for Arc<dyn Listener> {
    fn accept(&self) -> Opening<'_> {
        (**self).accept()
    }
}

/// Connections over TCP.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tcp;

/// Frames are written whole: waiting for more to fill a packet would only delay them.
fn prepared(stream: TcpStream) -> io::Result<Box<dyn Duplex>> {
    stream.set_nodelay(true)?;
    Ok(Box::new(stream))
}

impl Network for Tcp {
    fn connect<'a>(&'a self, address: &'a str) -> Opening<'a> {
        Box::pin(async move { prepared(TcpStream::connect(address).await?) })
    }
}

impl Listener for TcpListener {
    fn accept(&self) -> Opening<'_> {
        Box::pin(async move { prepared(TcpListener::accept(self).await?.0) })
    }
}

/// The network of a broker, with the port that others connect to.
pub struct Attachment {
    /// Leads to the others.
    pub network: Arc<dyn Network>,
    /// Brings them here.
    pub listener: Box<dyn Listener>,
}

impl From<TcpListener> for Attachment {
    fn from(listener: TcpListener) -> Self {
        Self { network: Arc::new(Tcp), listener: Box::new(listener) }
    }
}

impl Attachment {
    /// The port, for a while in which nobody else brings connections here.
    pub fn share_listener(&mut self) -> Arc<dyn Listener> {
        // No broker connects to the one that stands here for a moment.
        let listener = std::mem::replace(&mut self.listener, Box::new(NoListener));
        let shared: Arc<dyn Listener> = Arc::from(listener);
        self.listener = Box::new(Arc::clone(&shared));
        shared
    }
}

/// A port that nobody connects to.
struct NoListener;

impl Listener for NoListener {
    fn accept(&self) -> Opening<'_> {
        Box::pin(std::future::pending())
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attachment")
    }
}
