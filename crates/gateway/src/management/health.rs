//! Probes: alive (or restart me), ready (or send no traffic), started (or keep waiting).

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::operations::Slot;
use super::problem::json_answer;
use super::status::{Component, ComponentState};

#[derive(Debug, Clone, Copy)]
enum Probe {
    Liveness,
    Readiness,
    Startup,
}

impl Probe {
    /// Whether it passes; a broker that is starting has components only if something ails it.
    fn passes(self, is_started: bool, components: &[Component]) -> bool {
        match self {
            Self::Startup => is_started,
            Self::Liveness => components.iter().all(|c| c.state != ComponentState::Dead),
            Self::Readiness => {
                let serves = |c: &Component| match c.state {
                    ComponentState::Healthy | ComponentState::Degraded => true,
                    ComponentState::Unhealthy | ComponentState::Dead => false,
                };
                is_started && components.iter().all(serves)
            }
        }
    }

    fn run(self, slot: &Slot) -> (bool, Option<Vec<Component>>) {
        let started = slot.get().map(|operations| operations.health());
        let is_started = started.is_some();
        let components = started.or_else(|| slot.ailing().map(|component| vec![component]));
        (self.passes(is_started, components.as_deref().unwrap_or_default()), components)
    }
}

fn answer((up, components): (bool, Option<Vec<Component>>), extra: Option<Value>) -> Response {
    let word = |up| if up { "UP" } else { "DOWN" };
    let mut body = Map::new();
    body.insert("status".to_owned(), word(up).into());
    let parts: Map<_, _> = match components {
        Some(components) => components
            .into_iter()
            .map(|c| {
                let status = match c.state {
                    ComponentState::Healthy => "UP",
                    ComponentState::Degraded => "DEGRADED",
                    ComponentState::Unhealthy | ComponentState::Dead => "DOWN",
                };
                let mut part = json!({ "status": status });
                if !c.detail.is_empty() {
                    part["details"] = json!({ "reason": c.detail });
                }
                (c.name, part)
            })
            .collect(),
        None => Map::from_iter([(
            "broker".to_owned(),
            json!({ "status": "DOWN", "details": { "reason": "starting" } }),
        )]),
    };
    body.insert("components".to_owned(), parts.into());
    if let Some(extra) = extra {
        body.insert("groups".to_owned(), extra);
    }
    let status = if up { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json_answer(status, &body.into())
}

/// `/actuator/health`: everything.
pub(super) async fn all(State(slot): State<Slot>) -> Response {
    let groups = json!(["liveness", "readiness", "startup", "status"]);
    answer(Probe::Readiness.run(&slot), Some(groups))
}

/// `/actuator/health/liveness`.
pub(super) async fn liveness(State(slot): State<Slot>) -> Response {
    answer(Probe::Liveness.run(&slot), None)
}

/// `/actuator/health/readiness` and `/actuator/health/status`.
pub(super) async fn readiness(State(slot): State<Slot>) -> Response {
    answer(Probe::Readiness.run(&slot), None)
}

/// `/actuator/health/startup`.
pub(super) async fn startup(State(slot): State<Slot>) -> Response {
    answer(Probe::Startup.run(&slot), None)
}

fn bare((up, _): (bool, Option<Vec<Component>>)) -> Response {
    if up { StatusCode::NO_CONTENT } else { StatusCode::SERVICE_UNAVAILABLE }.into_response()
}

/// `/health`, as older probes ask.
pub(super) async fn bare_liveness(State(slot): State<Slot>) -> Response {
    bare(Probe::Liveness.run(&slot))
}

/// `/ready`, as older probes ask.
pub(super) async fn bare_readiness(State(slot): State<Slot>) -> Response {
    bare(Probe::Readiness.run(&slot))
}

/// `/startup`, as older probes ask.
pub(super) async fn bare_startup(State(slot): State<Slot>) -> Response {
    bare(Probe::Startup.run(&slot))
}
