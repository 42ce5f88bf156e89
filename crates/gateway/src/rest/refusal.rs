//! Refusals of requests.

use super::problem::Failure;
use http::HeaderValue;
use http::header::{HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};

/// Why there is no reply, with a header that says what would do: `Allow`, `Retry-After` or `WWW-Authenticate`.
pub(super) struct Refusal {
    pub(super) failure: Failure,
    pub(super) header: Option<(HeaderName, HeaderValue)>,
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
