//! Answers and their HTTP form.

use std::fmt::{self, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use broker_api::{Positions, Timing};
use bytes::Bytes;
use documents::Error;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;

use super::contract::METHODS;
use super::download::Download;
use super::problem::Failure;
use super::problem_code::PROBLEM_CODE;
use crate::position;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// The body of an answer.
#[derive(Debug)]
pub enum ReplyBody {
    /// All of it.
    Whole(Full<Bytes>),
    /// A document, read as it is sent.
    Pieces(Pieces),
}

/// The pieces of a document, of a size that is known.
pub struct Pieces {
    stream: BoxStream<'static, Result<Bytes, Error>>,
    left: u64,
}

impl Pieces {
    pub(crate) fn new(stream: BoxStream<'static, Result<Bytes, Error>>, size_bytes: u64) -> Self {
        Self { stream, left: size_bytes }
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pieces").field("left", &self.left).finish_non_exhaustive()
    }
}

impl Default for ReplyBody {
    fn default() -> Self {
        Self::Whole(Full::default())
    }
}

impl From<Vec<u8>> for ReplyBody {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Whole(Full::new(Bytes::from(bytes)))
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match self.get_mut() {
            Self::Whole(whole) => Pin::new(whole).poll_frame(context).map_err(|never| match never {}),
            Self::Pieces(pieces) => pieces.stream.poll_next_unpin(context).map(|piece| {
                let piece = piece?;
                match &piece {
                    Ok(bytes) => pieces.left = pieces.left.saturating_sub(bytes.len() as u64),
                    // The client learns it by the end of the connection.
                    Err(error) => tracing::warn!(%error, "a document could not be sent to its end"),
                }
                Some(piece.map(Frame::data))
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(whole) => whole.is_end_stream(),
            Self::Pieces(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(whole) => whole.size_hint(),
            Self::Pieces(pieces) => SizeHint::with_exact(pieces.left),
        }
    }
}

/// Body of an answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
    /// A body that is read as it is sent, instead.
    pub(crate) pieces: Option<Pieces>,
    /// Type of a body that is not empty.
    pub(crate) content_type: HeaderValue,
    /// Set on a file of a user.
    pub(crate) download: Option<Download>,
    /// Time that the broker took.
    pub(crate) timing: Option<Timing>,
    /// How far the log was after what the request did.
    pub(crate) positions: Positions,
    /// How far secondary storage is behind what it was to show.
    pub(crate) lag: Option<Duration>,
    /// Spans of records that secondary storage lacks for good, which it was asked about.
    pub(crate) gaps: Vec<(u64, u64)>,
}

impl Reply {
    pub(crate) fn json(body: Vec<u8>) -> Self {
        Self::raw(body, JSON)
    }

    /// 200 with anything else.
    fn raw(body: Vec<u8>, content_type: HeaderValue) -> Self {
        Self { body, content_type, ..Self::empty(StatusCode::OK) }
    }

    /// 200 with a file of a user.
    pub(crate) fn file(body: Vec<u8>, download: Download) -> Self {
        Self { download: Some(download), ..Self::raw(body, OCTETS) }
    }

    pub(crate) fn document(pieces: Pieces, download: Download) -> Self {
        Self { pieces: Some(pieces), ..Self::file(Vec::new(), download) }
    }

    /// A status without a body.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            body: Vec::new(),
            pieces: None,
            content_type: JSON,
            download: None,
            timing: None,
            positions: Positions::default(),
            lag: None,
            gaps: Vec::new(),
        }
    }

    /// 204.
    pub(crate) fn no_content(timing: Timing) -> Self {
        Self::empty(StatusCode::NO_CONTENT).timed(timing)
    }

    /// Adds where the time went.
    pub(crate) fn timed(mut self, timing: Timing) -> Self {
        self.timing = Some(timing);
        self
    }

    /// The HTTP form. `took` is set when the answer shall tell where its time went.
    pub(crate) fn into_http(self, took: Option<Duration>) -> Response<ReplyBody> {
        let has_body = !self.body.is_empty() || self.pieces.is_some();
        let mut response = Response::new(self.pieces.map_or_else(|| self.body.into(), ReplyBody::Pieces));
        *response.status_mut() = self.status;
        if has_body {
            response.headers_mut().insert(CONTENT_TYPE, self.content_type);
        }
        if let Some(download) = self.download {
            download.write_headers(response.headers_mut());
        }
        position::write(&self.positions, response.headers_mut());
        if let Some(lag) = self.lag {
            position::write_lag(lag, response.headers_mut());
        }
        position::write_gaps(&self.gaps, response.headers_mut());
        if let Some(took) = took {
            response
                .headers_mut()
                .insert(SERVER_TIMING, server_timing(took, self.timing.unwrap_or_default()));
        }
        response
    }
}

/// A failure in its HTTP form.
pub(crate) fn failure_to_http(
    failure: &Failure,
    path: &str,
    header: Option<(HeaderName, HeaderValue)>,
) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::from(failure.to_json(path)));
    *response.status_mut() = failure.status();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, PROBLEM);
    headers.insert(PROBLEM_CODE, failure.code.header());
    if let Some((name, value)) = header {
        headers.insert(name, value);
    }
    if matches!(failure.status(), StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT) {
        // The rest of the body is not worth reading.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The value of `Allow`.
pub(crate) fn allow(methods: [bool; METHODS.len()]) -> HeaderValue {
    let names: Vec<_> =
        METHODS.iter().zip(methods).filter(|(_, allowed)| *allowed).map(|(name, _)| *name).collect();
    HeaderValue::from_str(&names.join(", ")).expect("methods are visible ASCII")
}

/// Stages in milliseconds, as <https://www.w3.org/TR/server-timing/> has it.
fn server_timing(took: Duration, timing: Timing) -> HeaderValue {
    let broker = timing.queued + timing.commit + timing.apply;
    let mut text = String::with_capacity(96);
    for (stage, duration) in [("gateway", took.saturating_sub(broker))].into_iter().chain(timing.stages()) {
        let separator = if text.is_empty() { "" } else { ", " };
        let milliseconds = duration.as_secs_f64() * 1000.0;
        write!(text, "{separator}{stage};dur={milliseconds:.3}").expect("writing to memory does not fail");
    }
    HeaderValue::from_str(&text).expect("visible ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_timing_names_every_stage() {
        let timing = Timing {
            queued: Duration::from_micros(20),
            commit: Duration::from_micros(150),
            apply: Duration::from_micros(30),
        };
        let value = server_timing(Duration::from_micros(210), timing);
        assert_eq!(value, "gateway;dur=0.010, queue;dur=0.020, commit;dur=0.150, apply;dur=0.030");
    }
}
