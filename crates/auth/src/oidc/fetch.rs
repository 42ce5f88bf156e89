//! Small requests to the issuer over HTTP. They are seldom, so nothing is kept open.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};

use crate::outbound::{ConnectError, connect};
use crate::tls::{ClientTls, TlsError};

/// A document takes at most this long, connection included.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest document, in bytes.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Why a document is not there.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("no answer within {} s", TIMEOUT.as_secs())]
    Timeout,
    #[error("connection: {0}")]
    Connection(#[from] std::io::Error),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("HTTP: {0}")]
    Http(#[from] hyper::Error),
    #[error("the answer is {0}")]
    Status(StatusCode),
    #[error("the answer cannot be read: {0}")]
    Body(String),
}

/// A form for an endpoint of the issuer.
pub(super) struct Form {
    /// The fields, encoded.
    pub fields: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
}

/// The document at `url`, which has a host and the scheme http or https. Redirects are not followed.
pub(super) async fn fetch(url: &Uri, tls: &ClientTls) -> Result<Bytes, FetchError> {
    match send(url, tls, None).await? {
        (StatusCode::OK, document) => Ok(document),
        (status, _) => Err(FetchError::Status(status)),
    }
}

/// The answer to a form, whatever its status.
pub(super) async fn post(url: &Uri, tls: &ClientTls, form: &Form) -> Result<(StatusCode, Bytes), FetchError> {
    send(url, tls, Some(form)).await
}

async fn send(url: &Uri, tls: &ClientTls, form: Option<&Form>) -> Result<(StatusCode, Bytes), FetchError> {
    tokio::time::timeout(TIMEOUT, send_patiently(url, tls, form)).await.map_err(|_| FetchError::Timeout)?
}

async fn send_patiently(
    url: &Uri,
    tls: &ClientTls,
    form: Option<&Form>,
) -> Result<(StatusCode, Bytes), FetchError> {
    let is_https = url.scheme_str() == Some("https");
    let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = url.port_u16().unwrap_or(if is_https { 443 } else { 80 });
    let (mut sender, connection) = connect(host, port, is_https.then_some(tls)).await?;
    let path = url.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let authority = url.authority().map_or("", http::uri::Authority::as_str);
    // User information before an @ stays out of the log.
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let request = Request::builder().uri(path).header(HOST, authority).header(ACCEPT, "application/json");
    let request = match form {
        None => request.body(Full::default()),
        Some(Form { fields, authorization }) => {
            let request = request.method(Method::POST);
            let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
            let request = match authorization {
                Some(authorization) => request.header(AUTHORIZATION, authorization),
                None => request,
            };
            request.body(Full::from(fields.clone()))
        }
    };
    let request = request.map_err(std::io::Error::other)?;
    let result = async {
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), BODY_BYTES_MAX).collect().await;
        Ok((status, body.map_err(|error| FetchError::Body(error.to_string()))?.to_bytes()))
    };
    let result = result.await;
    connection.abort();
    result
}

impl From<ConnectError> for FetchError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Unreachable(error) | ConnectError::Tls(error) => Self::Connection(error),
            ConnectError::Settings(error) => Self::Tls(error),
            ConnectError::Http(error) => Self::Http(error),
        }
    }
}
