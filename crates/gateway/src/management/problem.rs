//! Errors of the management port, in the shape of RFC 9457.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) detail: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into() }
    }

    /// The broker is not there yet.
    pub(super) fn starting() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "The broker is starting")
    }

    /// There is no room for anything but probes.
    pub(super) fn busy() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "The management port is busy")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Error").to_uppercase().replace(' ', "_");
        let body = json!({
            "type": "about:blank", "title": title, "status": self.status.as_u16(), "detail": self.detail,
        });
        with_type(self.status, &body, "application/problem+json")
    }
}

pub(super) fn json_answer(status: StatusCode, body: &Value) -> Response {
    with_type(status, body, "application/json")
}

fn with_type(status: StatusCode, body: &Value, media_type: &'static str) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
