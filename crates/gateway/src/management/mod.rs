//! The management port: probes, metrics, log levels, a CPU profile, and what operators change while a broker runs.
//!
//! [`serve`] answers from the moment it is called, also while the broker still starts: [`Slot`] is filled once it runs. The paths are
//! those that probes and dashboards of the compatible system ask for. [`health`], [`metrics`], [`loggers`], [`profile`], [`partitions`],
//! [`exporters`] and [`operate`] each hold the requests of their name.
//!
//! Nothing here knows how the broker does what [`Operations`] asks of it.

mod banned;
mod clock;
mod exporters;
mod gate;
mod health;
mod help;
mod loggers;
mod metrics;
mod operate;
mod operations;
mod partitions;
mod problem;
mod process;
mod profile;

use std::sync::Arc;
use std::time::Duration;

use auth::ServerTls;
use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRef};
use axum::routing::{delete, get, post};
use broker::api::API_VERSION;
use http::{Method, StatusCode, Uri};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::Connections;
use crate::connection::accept;
use crate::connection::http1::{self, Stop};
pub use gate::Gate;
pub use loggers::{Filter, LevelError, Loggers};
pub use metrics::{InstallError, Metrics};
pub use operations::{
    BannedInstance, Component, ComponentState, ExporterStatus, OperationError, Operations, ParkedRecord,
    PartitionStatus, Replayed, Slot,
};
use problem::{Problem, json_answer};

/// How many connections are open at the most; more wait.
const CONNECTIONS_MAX: usize = 128;
/// How long a client may take for the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long open requests may go on once the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);
/// Limit of a request body.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// What the port shows and changes.
#[derive(Clone)]
pub struct Management {
    /// The broker, once it runs.
    pub broker: Slot,
    /// The metrics of the process.
    pub metrics: Metrics,
    /// The log levels of the process.
    pub loggers: Loggers,
    /// Version of the program.
    pub version: &'static str,
    /// Who may come in.
    pub gate: Gate,
    /// What the connections of all ports share.
    pub connections: Connections,
    /// TLS of the connections, if there shall be any.
    pub tls: Option<Arc<ServerTls>>,
}

#[derive(Clone)]
struct Context {
    management: Management,
    profiler: profile::Profiler,
}

macro_rules! part {
    ($($part:ty: $($path:ident).+;)*) => {
        $(impl FromRef<Context> for $part {
            fn from_ref(context: &Context) -> Self {
                context.$($path).+.clone()
            }
        })*
    };
}
part! {
    Slot: management.broker;
    Metrics: management.metrics;
    Loggers: management.loggers;
    profile::Profiler: profiler;
}

fn router(management: Management) -> Router {
    let info = json!({ "build": {
        "name": "baton", "version": management.version, "apiVersion": API_VERSION,
    } });
    Router::new()
        .route("/actuator/health", get(health::all))
        .route("/actuator/health/liveness", get(health::liveness))
        .route("/actuator/health/readiness", get(health::readiness))
        .route("/actuator/health/startup", get(health::startup))
        .route("/actuator/health/status", get(health::readiness))
        .route("/health", get(health::bare_liveness))
        .route("/ready", get(health::bare_readiness))
        .route("/startup", get(health::bare_startup))
        .route("/actuator/prometheus", get(metrics::scrape))
        .route("/metrics", get(metrics::scrape))
        .route("/actuator/loggers", get(loggers::list))
        .route("/actuator/loggers/{name}", get(loggers::read).post(loggers::change))
        .route("/actuator/profile", get(profile::profile))
        .route("/actuator/flowControl", get(operate::flow_control).post(operate::set_flow_control))
        .route("/actuator/partitions", get(partitions::list))
        .route("/actuator/partitions/{action}", post(partitions::change))
        .route("/actuator/exporters", get(exporters::list))
        .route("/actuator/exporters/{id}", delete(exporters::remove))
        .route("/actuator/exporters/{id}/enable", post(exporters::enable))
        .route("/actuator/exporters/{id}/disable", post(exporters::disable))
        .route("/actuator/exporters/{id}/parked", get(exporters::parked))
        .route("/actuator/exporters/{id}/parked/replay", post(exporters::replay))
        .route("/actuator/exporting/pause", post(operate::pause))
        .route("/actuator/exporting/resume", post(operate::resume))
        .route("/actuator/bannedInstances", get(banned::list))
        .route("/actuator/bannedInstances/{key}/release", post(banned::release))
        .route("/actuator/bannedInstances/{key}/cancellation", post(banned::cancel))
        .route("/actuator/clock", get(clock::read).delete(clock::reset))
        .route("/actuator/clock/pin", post(clock::pin))
        .route("/actuator/clock/add", post(clock::add))
        .route("/actuator/info", get(async move || json_answer(StatusCode::OK, &info)))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(axum::middleware::from_fn_with_state(management.gate.clone(), gate::guard))
        .with_state(Context { management, profiler: profile::Profiler::default() })
}

async fn unknown(uri: Uri) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, format!("There is nothing at {}", uri.path()))
}

async fn wrong_method(method: Method, uri: Uri) -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, format!("{} does not take {method}", uri.path()))
}

/// Serves until `shutdown`.
pub async fn serve(listener: TcpListener, management: Management, shutdown: CancellationToken) {
    let tls = management.tls.clone();
    let connections = management.connections.clone();
    let router = router(management);
    let stop = Arc::new(Stop::default());
    let drive = |stream| {
        let serving = drive(stream, tls.clone(), router.clone(), connections.clone(), Arc::clone(&stop));
        let shutdown = shutdown.clone();
        async move {
            let cut = async {
                shutdown.cancelled().await;
                tokio::time::sleep(SHUTDOWN_GRACE).await;
            };
            tokio::select! { () = serving => {}, () = cut => {} }
        }
    };
    let stopping = async {
        shutdown.cancelled().await;
        stop.stop();
    };
    let accepting = accept::accept("management", listener, CONNECTIONS_MAX, &shutdown, drive);
    tokio::join!(accepting, stopping);
}

async fn drive(
    stream: TcpStream,
    tls: Option<Arc<ServerTls>>,
    router: Router,
    connections: Connections,
    stop: Arc<Stop>,
) {
    match tls {
        None => converse(stream, router, &connections, &stop).await,
        Some(tls) => {
            let encrypted = accept::encrypted("management", &tls, stream, &connections.refusals);
            if let Some(stream) = encrypted.await {
                converse(stream, router, &connections, &stop).await;
            }
        }
    }
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    connections: &Connections,
    stop: &Stop,
) {
    let service = TowerToHyperService::new(router);
    http1::converse(stream, HEADER_TIMEOUT, service, connections, stop).await;
}
