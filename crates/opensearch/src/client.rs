//! Requests and answers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use parking_lot::Mutex;
use serde_json::Value;

use auth::ClientTls;

use crate::connection::Connection;
use crate::options::{Node, Options, OptionsError};

/// Idle connections that are kept.
const IDLE_MAX: usize = 16;
/// The longest answer, in bytes.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
/// How much of an answer that is no JSON is repeated in an error.
const REASON_CHARS_MAX: usize = 300;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The options are wrong.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// No node can be reached, or the connection broke.
    #[error("{0}")]
    Connection(String),
    /// The answer takes too long.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// The answer is larger than any is read.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// The answer is none that was expected.
    #[error("the answer cannot be read: {0}")]
    Answer(String),
}

/// An answer, good or bad.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its value.
    pub body: Bytes,
}

impl Answer {
    /// Its body as JSON.
    pub fn json(&self) -> Result<Value, ClientError> {
        serde_json::from_slice(&self.body).map_err(|error| ClientError::Answer(error.to_string()))
    }

    /// The reported error.
    pub fn reason(&self) -> String {
        let error = self.json().ok().and_then(|mut body| body.get_mut("error").map(Value::take));
        let reason = error.map_or_else(
            || String::from_utf8_lossy(&self.body).chars().take(REASON_CHARS_MAX).collect(),
            |error| reason_of(&error),
        );
        format!("{}: {reason}", self.status)
    }
}

/// An error object: its type and reason, and those of its causes.
pub fn reason_of(error: &Value) -> String {
    let part = |error: &Value| {
        let text = |name| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        format!("{}: {}", text("type"), text("reason"))
    };
    let deeper = ["caused_by", "root_cause"].iter().find_map(|name| error.get(*name));
    let deeper = deeper.map(|cause| cause.get(0).unwrap_or(cause)).filter(|cause| cause.is_object());
    match (error.as_str(), deeper) {
        (Some(text), _) => text.to_owned(),
        (None, Some(deeper)) if part(deeper) != part(error) => format!("{}; {}", part(error), part(deeper)),
        (None, _) => part(error),
    }
}

/// Sends requests to one of several nodes.
pub struct Client {
    nodes: Vec<Node>,
    tls: ClientTls,
    authorization: Option<HeaderValue>,
    connect_timeout: Duration,
    request_timeout: Duration,
    idle: Mutex<Vec<Connection>>,
    /// The node that worked last.
    current: AtomicUsize,
}

impl Client {
    /// A client; nothing is connected yet.
    pub fn new(options: &Options) -> Result<Self, OptionsError> {
        let authorization = options.username.as_ref().map(|name| {
            let text = BASE64.encode(format!("{name}:{}", options.password.reveal()));
            let mut value = HeaderValue::try_from(format!("Basic {text}")).expect("base64 fits a header");
            value.set_sensitive(true);
            value
        });
        Ok(Self {
            nodes: Node::all(&options.urls)?,
            tls: ClientTls { authorities: options.authorities.clone(), certificate: None },
            authorization,
            connect_timeout: options.connect_timeout,
            request_timeout: options.request_timeout,
            idle: Mutex::new(Vec::new()),
            current: AtomicUsize::new(0),
        })
    }

    /// Sends a request with a body of JSON, or none.
    pub async fn json(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer, ClientError> {
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        self.send(method, path, "application/json", body).await
    }

    /// Sends a request; `path` begins with a slash.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &'static str,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        let timeout = self.request_timeout;
        let patiently = self.send_patiently(method, path, content_type, body);
        tokio::time::timeout(timeout, patiently).await.map_err(|_| ClientError::Timeout(timeout))?
    }

    async fn send_patiently(
        &self,
        method: Method,
        path: &str,
        content_type: &'static str,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        loop {
            let idle = self.idle.lock().pop();
            let is_reused = idle.is_some();
            let mut connection = match idle {
                Some(connection) if connection.is_usable() => connection,
                Some(_) => continue,
                None => self.connect().await?,
            };
            let request = self.request(connection.node, &method, path, content_type, body.clone())?;
            let response = match connection.send(request).await {
                Ok(response) => response,
                // It may have been closed while it was idle.
                Err(_) if is_reused => continue,
                Err(error) => return Err(ClientError::Connection(error.to_string())),
            };
            let status = response.status();
            let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
            let body = body.map_err(|error| match error.downcast::<LengthLimitError>() {
                Ok(_) => ClientError::TooLarge(ANSWER_BYTES_MAX),
                Err(error) => ClientError::Connection(error.to_string()),
            })?;
            let body = body.to_bytes();
            let mut idle = self.idle.lock();
            if idle.len() < IDLE_MAX {
                idle.push(connection);
            }
            return Ok(Answer { status, body });
        }
    }

    /// Connects to the node that worked last, or to the next one that does.
    async fn connect(&self) -> Result<Connection, ClientError> {
        let first = self.current.load(Ordering::Relaxed);
        let mut failures = Vec::new();
        for number in (first..first + self.nodes.len()).map(|number| number % self.nodes.len()) {
            let node = &self.nodes[number];
            let opening = Connection::open(number, node, &self.tls);
            let reason = match tokio::time::timeout(self.connect_timeout, opening).await {
                Ok(Ok(connection)) => {
                    self.current.store(number, Ordering::Relaxed);
                    return Ok(connection);
                }
                Ok(Err(reason)) => reason,
                Err(_) => format!("no connection within {:?}", self.connect_timeout),
            };
            failures.push(format!("{}: {reason}", node.authority));
        }
        Err(ClientError::Connection(failures.join("; ")))
    }

    fn request(
        &self,
        node: usize,
        method: &Method,
        path: &str,
        content_type: &'static str,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let node = &self.nodes[node];
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", node.base))
            .header(HOST, &node.authority)
            .header(ACCEPT, "application/json");
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, content_type);
        }
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        request.body(Full::new(body)).map_err(|error| ClientError::Answer(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_caused_them() {
        let answer = |body: &'static str| Answer { status: StatusCode::BAD_REQUEST, body: body.into() };
        let nested = answer(
            r#"{"error":{"type":"mapper","reason":"field [a]","caused_by":{"type":"number","reason":"no number"}}}"#,
        );
        assert_eq!(nested.reason(), "400 Bad Request: mapper: field [a]; number: no number");
        assert_eq!(answer(r#"{"error":"no handler"}"#).reason(), "400 Bad Request: no handler");
        assert_eq!(answer("<html>").reason(), "400 Bad Request: <html>");
    }
}
