//! Any operation of the API, for callers that want its answer as it is.

use std::time::Duration;

use bytes::Bytes;
use http::Method;

use super::{RestClient, operations::text, pool::Class};
use crate::Error;

/// A request: method, path below `/v2`, and body.
#[derive(Debug, Clone)]
pub struct ApiCall<'a> {
    is_own: bool,
    method: Method,
    path: &'a str,
    body: Option<&'a str>,
    wait: Option<Duration>,
}

impl<'a> ApiCall<'a> {
    /// Reads something; `path` is `/topology`, for instance.
    pub fn get(path: &'a str) -> Self {
        Self { is_own: false, method: Method::GET, path, body: None, wait: None }
    }

    /// Posts JSON text.
    pub fn post(path: &'a str, body: &'a str) -> Self {
        Self { is_own: false, method: Method::POST, path, body: Some(body), wait: None }
    }

    /// Puts JSON text.
    pub fn put(path: &'a str, body: &'a str) -> Self {
        Self { method: Method::PUT, ..Self::post(path, body) }
    }

    /// Changes something by JSON text.
    pub fn patch(path: &'a str, body: &'a str) -> Self {
        Self { method: Method::PATCH, ..Self::post(path, body) }
    }

    /// Deletes something.
    pub fn delete(path: &'a str) -> Self {
        Self { method: Method::DELETE, ..Self::get(path) }
    }

    /// The path is one below `/baton/v1`, where the operations are that other servers do not have.
    #[must_use]
    pub fn of_baton(self) -> Self {
        Self { is_own: true, ..self }
    }

    /// The server may hold the answer back for `wait` beyond the usual time.
    #[must_use]
    pub fn waiting(self, wait: Duration) -> Self {
        Self { wait: Some(wait), ..self }
    }
}

impl RestClient {
    /// Makes a call; the answer is text, mostly JSON, and empty where the operation answers nothing.
    pub async fn call(&self, call: &ApiCall<'_>) -> Result<String, Error> {
        let body = Bytes::copy_from_slice(call.body.unwrap_or_default().as_bytes());
        let path = if call.is_own { self.own_path(call.path) } else { self.path("call", &[call.path]) };
        let mut request = self.json(path?, body);
        request.method = call.method.clone();
        if call.body.is_none() {
            request.content_type = None;
        }
        if let Some(wait) = call.wait {
            request.class = Class::Long;
            request.time_limit += wait;
        }
        text("call", &self.send(request).await?)
    }
}
