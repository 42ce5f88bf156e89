//! Bodies that were not read when their request was answered, which is usual of refusals.
//!
//! Left in the connection, such a body would be taken for the next request, or end the connection under it. So the
//! rest of a small body is read and thrown away before the answer leaves; for all others the answer says
//! `Connection: close` (RFC 9112 §9.6).

use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, EXPECT};
use http::{HeaderMap, HeaderValue, Request, Response, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::budget::{Budget, Held};

/// The rest of a body is thrown away up to this size; with more, the connection ends.
pub(crate) const DRAIN_BYTES_MAX: u64 = 64 * 1024;
/// Time-out of reading that rest. A client that sends head and body apart needs much less.
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The body of a request, as a service gets it. Dropped, it goes back to the [`Rest`].
pub(crate) struct Lent {
    /// `None` once it went back.
    body: Option<Incoming>,
    /// Whether any of it was asked for.
    touched: bool,
    owner: Option<Arc<Owner>>,
}

/// Lives as long as the request.
struct Owner {
    left: Mutex<Option<Left>>,
    held: Held,
    is_over_budget: AtomicBool,
}

/// Reasons why a body did not arrive.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error(transparent)]
    Connection(#[from] hyper::Error),
    #[error("too much is being received")]
    NoRoom,
    #[error("it did not arrive in time")]
    Late,
}

struct Left {
    body: Incoming,
    touched: bool,
}

/// The rest of a body that was lent.
pub(crate) struct Rest {
    owner: Arc<Owner>,
    /// Whether the client waits for a word before it sends the body.
    expects: bool,
}

/// Counts the pieces of a body that is handed on while the rest still comes. Without it, all of a body counts until
/// its request is answered.
#[derive(Clone, Default)]
pub(crate) struct Meter(Option<Arc<Owner>>);

/// A piece that counts until it is dropped.
struct Metered {
    bytes: Bytes,
    owner: Arc<Owner>,
}

impl AsRef<[u8]> for Metered {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        self.owner.held.give_back(self.bytes.len());
    }
}

impl Meter {
    /// Bytes of the body that no longer count once they, and all of their clones, are dropped.
    pub(crate) fn piece(&self, bytes: Bytes) -> Bytes {
        match &self.0 {
            Some(owner) => Bytes::from_owner(Metered { bytes, owner: Arc::clone(owner) }),
            None => bytes,
        }
    }
}

fn is_form(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"multipart/"))
}

/// Lends the body of a request. Among the extensions of a form is its [`Meter`]. There is no rest of a body that is
/// empty.
pub(crate) fn lend(request: Request<Incoming>, budget: &Arc<Budget>) -> (Request<Lent>, Option<Rest>) {
    let (mut head, body) = request.into_parts();
    let rest = (!body.is_end_stream()).then(|| {
        let expects = head.version >= Version::HTTP_11 && expects_continue(&head.headers);
        let (left, held) = (Mutex::default(), budget.receive());
        Rest { owner: Arc::new(Owner { left, held, is_over_budget: AtomicBool::new(false) }), expects }
    });
    let owner = rest.as_ref().map(|rest| Arc::clone(&rest.owner));
    if let Some(owner) = owner.as_ref().filter(|_| is_form(&head.headers)) {
        head.extensions.insert(Meter(Some(Arc::clone(owner))));
    }
    let lent = Lent { body: Some(body), touched: false, owner };
    (Request::from_parts(head, lent), rest)
}

fn expects_continue(headers: &HeaderMap) -> bool {
    headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

impl Body for Lent {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        this.touched = true;
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        Pin::new(body).poll_frame(context).map(|frame| {
            frame.map(|frame| {
                let frame = frame?;
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                if let Some(owner) = &this.owner
                    && !owner.held.add(bytes)
                {
                    owner.is_over_budget.store(true, Ordering::Release);
                    return Err(BodyError::NoRoom);
                }
                Ok(frame)
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (Some(owner), Some(body)) = (self.owner.take(), self.body.take()) {
            let left = Left { body, touched: self.touched };
            *owner.left.lock() = Some(left);
        }
    }
}

impl Rest {
    /// Whether the body found no room, whatever the service made of that.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.owner.is_over_budget.load(Ordering::Acquire)
    }

    /// Throws away what was not read, or has the answer say that the connection ends.
    pub(crate) async fn settle<B>(self, response: &mut Response<B>) {
        let left = self.owner.left.lock().take();
        let Some(Left { mut body, touched }) = left else { return };
        if body.is_end_stream() || ends_connection(response.headers()) {
            return;
        }
        // To read on would tell the client to send what nobody wants.
        let is_held_back = self.expects && !touched;
        if !is_held_back
            && body.size_hint().lower() <= DRAIN_BYTES_MAX
            && timeout(DRAIN_TIMEOUT, drain(&mut body)).await == Ok(true)
        {
            return;
        }
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Whether the body ended within the limit.
async fn drain(body: &mut Incoming) -> bool {
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        bytes += frame.data_ref().map_or(0, Bytes::len) as u64;
        if bytes > DRAIN_BYTES_MAX {
            return false;
        }
    }
    true
}

fn ends_connection(headers: &HeaderMap) -> bool {
    headers.get(CONNECTION).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"close"))
}
