//! Authorization at the management port. Probes and metrics may be open beside it: their clients have mostly no
//! credentials.

use std::sync::{Arc, OnceLock};

use auth::{Origins, Presented, Reason};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use broker_api::Broker;
use http::header::WWW_AUTHENTICATE;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use protocol::{PermissionType, ResourceType};

use super::problem::Problem;
use crate::browser::challenge_for;
use crate::rest::forbid_sniffing;
use crate::{Access, Hosts};

const PROBES: &[&str] = &["/health", "/ready", "/startup"];
const DETAILED_PROBES: &str = "/actuator/health";
const METRICS: &[&str] = &["/metrics", "/actuator/prometheus"];

/// Whether a path is that of a probe, or of metrics.
pub(super) fn is_probe(path: &str) -> bool {
    is_health(path) || METRICS.contains(&path)
}

fn is_health(path: &str) -> bool {
    let rest = path.strip_prefix(DETAILED_PROBES);
    PROBES.contains(&path) || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Requests that need credentials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Closed {
    /// All but probes and metrics.
    pub requests: bool,
    /// Probes.
    pub probes: bool,
    /// Metrics.
    pub metrics: bool,
}

impl Closed {
    fn has(self, path: &str) -> bool {
        if is_health(path) {
            self.probes
        } else if METRICS.contains(&path) {
            self.metrics
        } else {
            self.requests
        }
    }
}

/// Requests that need credentials, and the authenticator once the broker runs.
#[derive(Clone, Default)]
pub struct Gate {
    closed: Closed,
    hosts: Hosts,
    origins: Origins,
    keeper: Arc<OnceLock<(Access, Arc<dyn Broker>)>>,
}

impl Gate {
    /// A gate that requires credentials for these requests.
    pub fn new(closed: Closed) -> Self {
        Self { closed, ..Self::default() }
    }

    /// One whose port has these names, and takes changes from pages of these origins beside its own.
    #[must_use]
    pub fn with_sites(self, hosts: Hosts, origins: Origins) -> Self {
        Self { hosts, origins, ..self }
    }

    /// Sets the authenticator. The first one stays.
    pub fn set(&self, access: Access, broker: Arc<dyn Broker>) {
        let _ = self.keeper.set((access, broker));
    }

    async fn check(&self, head: &Parts) -> Result<(), Response> {
        let path = head.uri.path();
        let forbidden = |detail| Problem::new(StatusCode::FORBIDDEN, detail).into_response();
        self.hosts.check(head).map_err(forbidden)?;
        let presented = Presented::from_headers(&head.method, &head.headers)
            .map_err(|reason| Problem::new(StatusCode::BAD_REQUEST, reason.to_string()).into_response())?;
        if presented.changes && self.origins.is_cross_site(&presented) {
            return Err(forbidden(Reason::CrossSite.to_string()));
        }
        if !self.closed.has(path) {
            return Ok(());
        }
        let Some((access, broker)) = self.keeper.get() else {
            return Err(Problem::starting().into_response());
        };
        let principal = access.authenticate(head).await;
        let principal = principal.map_err(|refusal| {
            let status = StatusCode::from_u16(refusal.reason.status()).unwrap_or(StatusCode::UNAUTHORIZED);
            let mut response = Problem::new(status, refusal.to_string()).into_response();
            let challenge = refusal.challenge.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
            if let Some(challenge) = challenge {
                let challenge = challenge_for(&head.headers, challenge);
                response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            }
            response
        })?;
        if !access.options().authorizations {
            return Ok(());
        }
        let permission = if head.method.is_safe() { PermissionType::Read } else { PermissionType::Update };
        let wanted = protocol::Access {
            resource_type: ResourceType::System,
            permission,
            resource_id: None,
            properties: &[],
        };
        match access.known(broker, &principal).await {
            Ok(known) if known.grants.allows(&wanted) => Ok(()),
            Ok(_) => {
                let resource = ResourceType::System;
                let detail =
                    format!("Unauthorized to perform operation '{permission}' on resource '{resource}'");
                Err(Problem::new(StatusCode::FORBIDDEN, detail).into_response())
            }
            Err(error) => {
                Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response())
            }
        }
    }
}

/// Lets a request through, or refuses it.
pub(super) async fn guard(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let mut response = match gate.check(&head).await {
        Ok(()) => next.run(Request::from_parts(head, body)).await,
        Err(refused) => refused,
    };
    forbid_sniffing(response.headers_mut());
    response
}
