//! Answers on their way: their bytes count until the connection has written them, or is gone.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::budget::{Budget, Held};
use super::peer::{Busy, Peer};

/// The body of an answer, with the call that it ends.
pub(crate) struct Answer<B> {
    body: B,
    call: Busy,
    budget: Arc<Budget>,
    /// Whether its bytes are with the connection as soon as they are made.
    goes_at_once: bool,
}

/// Bytes that are not with the connection yet.
struct Waiting {
    bytes: Bytes,
    _held: Held,
}

impl AsRef<[u8]> for Waiting {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Bytes that are with the connection, which are counted already.
struct Written {
    bytes: Bytes,
    peer: Arc<Peer>,
}

impl AsRef<[u8]> for Written {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        self.peer.has_sent(self.bytes.len());
    }
}

/// Counts bytes of an answer as waiting in the connection.
pub(crate) fn written(bytes: Bytes, peer: &Arc<Peer>) -> Bytes {
    peer.has_unsent(bytes.len());
    Bytes::from_owner(Written { bytes, peer: Arc::clone(peer) })
}

/// Bytes that hyper keeps until they are written.
struct Unsent {
    bytes: Bytes,
    peer: Arc<Peer>,
    _held: Held,
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.peer.has_sent(self.bytes.len());
    }
}

impl<B> Answer<B> {
    pub(crate) fn new(body: B, call: Busy, budget: Arc<Budget>) -> Self {
        Self { body, call, budget, goes_at_once: true }
    }

    /// The answer to a call among others, which waits for its turn outside of the connection.
    pub(crate) fn of_stream(body: B, call: Busy, budget: Arc<Budget>) -> Self {
        Self { body, call, budget, goes_at_once: false }
    }

    fn count(&self, bytes: Bytes) -> Bytes {
        if bytes.is_empty() {
            return bytes;
        }
        let held = self.budget.send(bytes.len());
        if !self.goes_at_once {
            return Bytes::from_owner(Waiting { bytes, _held: held });
        }
        let peer = Arc::clone(self.call.peer());
        peer.has_unsent(bytes.len());
        Bytes::from_owner(Unsent { _held: held, bytes, peer })
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Answer<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(|bytes| self.count(bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
