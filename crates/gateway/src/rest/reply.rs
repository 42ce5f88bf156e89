//! Answers and their HTTP form.

use std::fmt::Write as _;
use std::time::Duration;

use broker::api::{Positions, Timing};
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;

use super::contract::METHODS;
use super::download::Download;
use super::problem::Failure;
use crate::position;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// What an operation answers.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    /// May be empty.
    pub(crate) body: Vec<u8>,
    /// Type of a body that is not empty.
    pub(crate) content_type: HeaderValue,
    /// Set on a file of a user.
    pub(crate) download: Option<Download>,
    /// What the broker took.
    pub(crate) timing: Option<Timing>,
    /// How far the log was after what the request did.
    pub(crate) positions: Positions,
    /// How far secondary storage is behind what it was to show.
    pub(crate) lag: Option<Duration>,
}

impl Reply {
    /// 200 with JSON.
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

    /// A status without a body.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            body: Vec::new(),
            content_type: JSON,
            download: None,
            timing: None,
            positions: Positions::default(),
            lag: None,
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
    pub(crate) fn into_http(self, took: Option<Duration>) -> Response<Full<Bytes>> {
        let has_body = !self.body.is_empty();
        let mut response = Response::new(Full::new(Bytes::from(self.body)));
        *response.status_mut() = self.status;
        if has_body {
            response.headers_mut().insert(CONTENT_TYPE, self.content_type);
        }
        if let Some(download) = self.download {
            download.tell(response.headers_mut());
        }
        position::tell(&self.positions, response.headers_mut());
        if let Some(lag) = self.lag {
            position::tell_lag(lag, response.headers_mut());
        }
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
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(failure.to_json(path))));
    *response.status_mut() = failure.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, PROBLEM);
    if let Some((name, value)) = header {
        headers.insert(name, value);
    }
    if matches!(failure.status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT) {
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
