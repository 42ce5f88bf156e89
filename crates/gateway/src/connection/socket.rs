//! The socket of a connection, with or without TLS. It reports its bytes to the [`Peer`], so that slow
//! clients are known.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::peer::Peer;

/// Bytes that are read at once. HTTP/1.1 doubles its buffer while reads fill it, up to 128 KiB. For blocks above 84
/// KiB the allocator has pages of 4 MiB, by thread and size, and gives each block of a page once before it gives
/// one again; so long bodies would take tens of MiB.
const READ_BYTES_MAX: usize = 16 * 1024;

/// The stream of a connection.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

enum Kind {
    Plain(TcpStream),
    Encrypted(Box<dyn Stream>),
}

pub(crate) struct Socket {
    kind: Kind,
    peer: Arc<Peer>,
}

impl Socket {
    pub(super) fn plain(stream: TcpStream, peer: Arc<Peer>) -> Self {
        Self { kind: Kind::Plain(stream), peer }
    }

    pub(super) fn encrypted(stream: Box<dyn Stream>, peer: Arc<Peer>) -> Self {
        Self { kind: Kind::Encrypted(stream), peer }
    }

    fn wrote(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => self.peer.has_taken(*bytes as u64),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.peer.is_blocked(),
        }
        written
    }
}

macro_rules! stream {
    ($socket:ident) => {
        match &mut $socket.kind {
            Kind::Plain(stream) => Pin::new(stream) as Pin<&mut dyn Stream>,
            Kind::Encrypted(stream) => Pin::new(&mut **stream),
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = if buffer.remaining() <= READ_BYTES_MAX {
            stream!(self).poll_read(context, buffer)
        } else {
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(READ_BYTES_MAX));
            let read = stream!(self).poll_read(context, &mut part);
            let bytes = part.filled().len();
            buffer.advance(bytes);
            read
        };
        let bytes = buffer.filled().len() - before;
        if bytes > 0 {
            self.peer.has_received(bytes as u64);
            if !self.peer.has_room(bytes) {
                return Poll::Ready(Err(io::Error::other("there is no room for the head of a request")));
            }
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = stream!(self).poll_write(context, bytes);
        self.wrote(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = stream!(self).poll_write_vectored(context, pieces);
        self.wrote(written)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.kind {
            Kind::Plain(stream) => stream.is_write_vectored(),
            Kind::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = stream!(self).poll_flush(context);
        match &flushed {
            Poll::Ready(_) => self.peer.is_flushed(),
            Poll::Pending => self.peer.is_blocked(),
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        stream!(self).poll_shutdown(context)
    }
}
