//! Bodies that were not read when their request was answered, which is usual of refusals.
//!
//! Left in the connection, such a body would be taken for the next request, or end the connection under it. So the rest of a small
//! body is read and thrown away before the answer leaves; for all others the answer says `Connection: close` (RFC 9112 §9.6).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, EXPECT};
use http::{HeaderMap, HeaderValue, Request, Response, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::timeout;

/// The rest of a body is thrown away up to this size; with more, the connection ends.
pub(crate) const DRAIN_BYTES_MAX: u64 = 64 * 1024;
/// How long an answer waits for that rest. A client that sends head and body apart needs much less.
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The body of a request, as a service gets it. Dropped, it goes back to the [`Rest`].
pub(crate) struct Lent {
    /// `None` once it went back.
    body: Option<Incoming>,
    /// Whether any of it was asked for.
    touched: bool,
    owner: Option<Arc<Owner>>,
}

type Owner = Mutex<Option<Left>>;

struct Left {
    body: Incoming,
    touched: bool,
}

/// What is left of a body that was lent.
pub(crate) struct Rest {
    owner: Arc<Owner>,
    /// Whether the client waits for a word before it sends the body.
    expects: bool,
}

/// Lends the body of a request. There is no rest of a body that is empty.
pub(crate) fn lend(request: Request<Incoming>) -> (Request<Lent>, Option<Rest>) {
    let (head, body) = request.into_parts();
    let rest = (!body.is_end_stream()).then(|| {
        let expects = head.version >= Version::HTTP_11 && expects_continue(&head.headers);
        Rest { owner: Arc::default(), expects }
    });
    let owner = rest.as_ref().map(|rest| Arc::clone(&rest.owner));
    let lent = Lent { body: Some(body), touched: false, owner };
    (Request::from_parts(head, lent), rest)
}

fn expects_continue(headers: &HeaderMap) -> bool {
    headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

impl Body for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.touched = true;
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
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
            *owner.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
        }
    }
}

impl Rest {
    /// Throws away what was not read, or has the answer say that the connection ends.
    pub(crate) async fn settle<B>(self, response: &mut Response<B>) {
        let left = self.owner.lock().unwrap_or_else(PoisonError::into_inner).take();
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
