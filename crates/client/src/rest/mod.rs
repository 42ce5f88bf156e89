//! The REST client: `operations` writes requests, `pool` and `connection` carry them, `wire` reads the answers.

mod body;
mod call;
mod connection;
mod management;
mod multipart;
mod operations;
mod pool;
mod wire;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Uri, header, uri::PathAndQuery};
use http_body_util::Full;

pub(crate) use self::body::millis;
pub use self::call::ApiCall;
use self::connection::Answer;
pub use self::management::ManagementClient;
use self::pool::{Class, Pool};
use crate::stream::Connector;
use crate::{Address, ClientConfig, Error};

/// Port of the REST API where none is given.
const PORT_DEFAULT: u16 = 8080;
/// Port of the management API of an address that names none.
const MANAGEMENT_PORT_DEFAULT: u16 = 9600;

/// Settings of a [`RestClient`].
#[derive(Debug, Clone)]
pub struct RestOptions {
    /// `http://host:port` or `https://host:port`, with or without `/v2`.
    pub address: String,
    /// Connections for short requests, and so the number of them in flight; more wait. Requests that the server holds
    /// back have connections besides.
    pub connections: usize,
    /// How long a short request may take. Long polls and awaited results may take this longer than asked for.
    pub request_timeout: Duration,
    /// Value of the `Authorization` header, such as `Basic …`.
    pub authorization: Option<String>,
    /// How TLS is spoken, where the address asks for it.
    pub tls: Option<Arc<ClientConfig>>,
}

impl Default for RestOptions {
    fn default() -> Self {
        Self {
            address: "http://localhost:8080".to_owned(),
            connections: 64,
            request_timeout: Duration::from_secs(10),
            authorization: None,
            tls: None,
        }
    }
}

/// Speaks the REST API. Cheap to clone; clones share the connections.
#[derive(Clone)]
pub struct RestClient {
    shared: Arc<ClientState>,
}

struct ClientState {
    pool: Pool,
    /// Everything before an operation's own path, such as `/v2`.
    prefix: String,
    request_timeout: Duration,
    /// Headers of every JSON request, cloned into each.
    headers: HeaderMap,
    create_instance: PathAndQuery,
    activate_jobs: PathAndQuery,
}

/// A request before it has the headers that all requests share.
struct Outgoing {
    method: Method,
    path: PathAndQuery,
    content_type: Option<HeaderValue>,
    body: Bytes,
    class: Class,
    time_limit: Duration,
}

impl RestClient {
    /// Prepares a client; connects with the first request.
    pub fn new(options: RestOptions) -> Result<Self, Error> {
        let address = Address::parse(&options.address, PORT_DEFAULT)?;
        let prefix =
            if address.base.ends_with("/v2") { address.base.clone() } else { format!("{}/v2", address.base) };
        Self::with_prefix(&options, address, prefix)
    }

    /// Prepares a client of the management port; connects with the first request.
    pub(crate) fn of_management(options: &RestOptions) -> Result<Self, Error> {
        let address = Address::parse(&options.address, MANAGEMENT_PORT_DEFAULT)?;
        let prefix = format!("{}/actuator", address.base);
        Self::with_prefix(options, address, prefix)
    }

    fn with_prefix(options: &RestOptions, address: Address, prefix: String) -> Result<Self, Error> {
        let invalid = |reason| Error::Address { address: options.address.clone(), reason };
        let path = |path: &str| {
            PathAndQuery::try_from(format!("{prefix}{path}"))
                .map_err(|_| invalid("the path has invalid characters"))
        };
        let mut headers = HeaderMap::new();
        let host = HeaderValue::try_from(address.authority());
        headers.insert(header::HOST, host.map_err(|_| invalid("the host has invalid characters"))?);
        if let Some(authorization) = &options.authorization {
            let mut value = HeaderValue::try_from(authorization.as_str())
                .map_err(|_| invalid("the authorization has invalid characters"))?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        let (create_instance, activate_jobs) = (path("/process-instances")?, path("/jobs/activation")?);
        let connector = Connector::new(address, options.tls.as_ref(), b"http/1.1")?;
        let pool = Pool::new(connector, options.connections);
        Ok(Self {
            shared: Arc::new(ClientState {
                pool,
                prefix,
                request_timeout: options.request_timeout,
                headers,
                create_instance,
                activate_jobs,
            }),
        })
    }

    /// Where this client sends its requests.
    pub fn address(&self) -> &Address {
        self.shared.pool.address()
    }

    fn path(&self, operation: &'static str, parts: &[&str]) -> Result<PathAndQuery, Error> {
        let mut path = String::with_capacity(64);
        path.push_str(&self.shared.prefix);
        for part in parts {
            path.push_str(part);
        }
        PathAndQuery::try_from(path).map_err(|error| Error::Decode { operation, reason: error.to_string() })
    }

    /// A path below `/baton/v1`.
    fn own_path(&self, path: &str) -> Result<PathAndQuery, Error> {
        let base = self.shared.prefix.strip_suffix("/v2").unwrap_or(&self.shared.prefix);
        let decode =
            |error: http::uri::InvalidUri| Error::Decode { operation: "call", reason: error.to_string() };
        PathAndQuery::try_from(format!("{base}/baton/v1{path}")).map_err(decode)
    }

    fn json(&self, path: PathAndQuery, body: Bytes) -> Outgoing {
        Outgoing {
            method: Method::POST,
            path,
            content_type: Some(HeaderValue::from_static("application/json")),
            body,
            class: Class::Short,
            time_limit: self.shared.request_timeout,
        }
    }

    /// Sends a request and returns the body of a successful answer.
    async fn send(&self, outgoing: Outgoing) -> Result<Bytes, Error> {
        self.send_for_answer(outgoing).await.map(|answer| answer.body)
    }

    async fn send_for_answer(&self, outgoing: Outgoing) -> Result<Answer, Error> {
        let answer = self.exchange(outgoing).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(problem(&answer)) }
    }

    /// Sends a request and returns what is answered.
    async fn exchange(&self, outgoing: Outgoing) -> Result<Answer, Error> {
        let mut request = Request::new(Full::new(outgoing.body));
        *request.method_mut() = outgoing.method;
        *request.uri_mut() = Uri::from(outgoing.path);
        *request.headers_mut() = self.shared.headers.clone();
        if let Some(content_type) = outgoing.content_type {
            request.headers_mut().insert(header::CONTENT_TYPE, content_type);
        }
        self.shared.pool.send(request, outgoing.class, outgoing.time_limit).await
    }
}

#[cold]
fn problem(answer: &Answer) -> Error {
    Error::from_problem(answer.status.as_u16(), answer.problem.as_deref(), &answer.body)
}
