//! A stream whose bytes are encrypted: records with their lengths before them. One that was changed, repeated, left
//! out or moved is an error.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use snow::TransportState;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::Duplex;
use crate::frame::invalid;

/// Bytes of a record's length.
const LENGTH_BYTES: usize = 2;
/// Bytes that a record is longer than what it holds.
const TAG_BYTES: usize = 16;
/// Bytes of a record at most.
const RECORD_BYTES_MAX: usize = u16::MAX as usize;

/// Encrypts what is written to a stream, and decrypts what is read from it.
pub(crate) struct Sealed {
    stream: Box<dyn Duplex>,
    keys: TransportState,
    incoming: Incoming,
    outgoing: Outgoing,
}

/// Bytes that have come.
struct Incoming {
    sealed: Box<[u8]>,
    /// The part of `sealed` that was not opened yet.
    from: usize,
    to: usize,
    opened: Box<[u8]>,
    /// The part of `opened` that was not read yet.
    read: usize,
    end: usize,
}

/// A record on its way.
struct Outgoing {
    sealed: Box<[u8]>,
    written: usize,
    end: usize,
}

impl Sealed {
    pub fn new(stream: Box<dyn Duplex>, keys: TransportState) -> Self {
        let buffer = || vec![0; LENGTH_BYTES + RECORD_BYTES_MAX].into_boxed_slice();
        Self {
            stream,
            keys,
            incoming: Incoming { sealed: buffer(), from: 0, to: 0, opened: buffer(), read: 0, end: 0 },
            outgoing: Outgoing { sealed: buffer(), written: 0, end: 0 },
        }
    }

    /// Writes what is left of the record.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, outgoing, .. } = self;
        while outgoing.written < outgoing.end {
            let rest = &outgoing.sealed[outgoing.written..outgoing.end];
            match ready!(Pin::new(&mut **stream).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => outgoing.written += written,
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl Incoming {
    /// The bounds of the next record, if it is there as a whole.
    fn record(&self) -> io::Result<Option<(usize, usize)>> {
        let Some(length) = self.sealed[self.from..self.to].first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes(*length));
        if length <= TAG_BYTES {
            return Err(invalid(format!("a record of {length} bytes")));
        }
        let (begin, end) = (self.from + LENGTH_BYTES, self.from + LENGTH_BYTES + length);
        Ok((end <= self.to).then_some((begin, end)))
    }

    /// Makes room for the rest of a record.
    fn compact(&mut self) {
        self.sealed.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        self.from = 0;
    }
}

impl AsyncRead for Sealed {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, keys, incoming, .. } = self.get_mut();
        while incoming.read == incoming.end {
            if let Some((begin, end)) = incoming.record()? {
                let record = &incoming.sealed[begin..end];
                let opened = keys.read_message(record, &mut incoming.opened);
                let opened =
                    opened.map_err(|_| invalid("a record that is not of the other side".to_owned()))?;
                assert!(opened > 0, "a record holds something");
                (incoming.read, incoming.end, incoming.from) = (0, opened, end);
                break;
            }
            incoming.compact();
            let mut free = ReadBuf::new(&mut incoming.sealed[incoming.to..]);
            ready!(Pin::new(&mut **stream).poll_read(context, &mut free))?;
            match free.filled().len() {
                0 if incoming.to == 0 => return Poll::Ready(Ok(())),
                0 => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                read => incoming.to += read,
            }
        }
        let length = buffer.remaining().min(incoming.end - incoming.read);
        buffer.put_slice(&incoming.opened[incoming.read..incoming.read + length]);
        incoming.read += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Sealed {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_drain(context))?;
        let taken = &bytes[..bytes.len().min(RECORD_BYTES_MAX - TAG_BYTES)];
        if taken.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let outgoing = &mut this.outgoing;
        let (head, body) = outgoing.sealed.split_at_mut(LENGTH_BYTES);
        let sealed = this.keys.write_message(taken, body).map_err(|error| invalid(error.to_string()))?;
        head.copy_from_slice(&u16::try_from(sealed).expect("a record is no longer").to_be_bytes());
        (outgoing.written, outgoing.end) = (0, LENGTH_BYTES + sealed);
        // The record is taken: what does not go now goes with the next write or flush.
        match this.poll_drain(context) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(taken.len())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_drain(context))?;
        Pin::new(&mut *this.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_drain(context))?;
        Pin::new(&mut *this.stream).poll_shutdown(context)
    }
}
