//! Authorization at the management port. Probes and metrics are open: their clients have no credentials.

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
use crate::rest::forbid_sniffing;
use crate::{Access, Hosts};

const OPEN: &[&str] = &["/health", "/ready", "/startup", "/metrics", "/actuator/prometheus"];
const PROBES: &str = "/actuator/health";

/// Whether a path is that of a probe, or of metrics.
pub(super) fn is_probe(path: &str) -> bool {
    OPEN.contains(&path) || path.starts_with(PROBES)
}

/// Whether requests need credentials, and who knows them once the broker runs.
#[derive(Clone, Default)]
pub struct Gate {
    is_closed: bool,
    hosts: Hosts,
    origins: Origins,
    keeper: Arc<OnceLock<(Access, Arc<dyn Broker>)>>,
}

impl Gate {
    /// One that nobody passes without credentials.
    pub fn closed() -> Self {
        Self { is_closed: true, ..Self::default() }
    }

    /// One whose port has these names, and takes changes from pages of these origins beside its own.
    #[must_use]
    pub fn with_sites(self, hosts: Hosts, origins: Origins) -> Self {
        Self { hosts, origins, ..self }
    }

    /// Says who knows them. The first one stays.
    pub fn set(&self, access: Access, broker: Arc<dyn Broker>) {
        let _ = self.keeper.set((access, broker));
    }

    async fn check(&self, head: &Parts) -> Result<(), Response> {
        let path = head.uri.path();
        let forbidden = |detail| Problem::new(StatusCode::FORBIDDEN, detail).into_response();
        self.hosts.check(head).map_err(forbidden)?;
        let is_cross_site = Presented::from_headers(&head.method, &head.headers)
            .is_ok_and(|presented| presented.changes && self.origins.is_cross_site(&presented));
        if is_cross_site {
            return Err(forbidden(Reason::CrossSite.to_string()));
        }
        if !self.is_closed || is_probe(path) {
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

/// Lets a request through, or not.
pub(super) async fn guard(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let mut response = match gate.check(&head).await {
        Ok(()) => next.run(Request::from_parts(head, body)).await,
        Err(refused) => refused,
    };
    forbid_sniffing(response.headers_mut());
    response
}
