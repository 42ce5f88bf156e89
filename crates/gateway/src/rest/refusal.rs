//! Refusals of requests.

use super::problem::Failure;
use crate::browser::challenge_for;
use http::header::{HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue};

/// Why there is no reply, with a header that says what would do: `Allow`, `Retry-After` or `WWW-Authenticate`.
pub(super) struct Refusal {
    pub(super) failure: Failure,
    pub(super) header: Option<(HeaderName, HeaderValue)>,
}

impl Refusal {
    /// The header for the sender of a request.
    pub(super) fn header_for(&self, headers: &HeaderMap) -> Option<(HeaderName, HeaderValue)> {
        let (name, value) = self.header.clone()?;
        Some(if name == WWW_AUTHENTICATE { (name, challenge_for(headers, value)) } else { (name, value) })
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self { failure, header: None }
    }
}

impl From<auth::Refusal> for Refusal {
    fn from(refusal: auth::Refusal) -> Self {
        let challenge = refusal.challenge.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
        let header = match refusal.retry_after_s() {
            Some(seconds) => Some((RETRY_AFTER, HeaderValue::from(seconds))),
            None => challenge.map(|value| (WWW_AUTHENTICATE, value)),
        };
        Self { failure: Failure::refused(&refusal), header }
    }
}
