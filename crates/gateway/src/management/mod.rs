//! The management port: probes, metrics, log levels, a CPU profile, and what operators change while a broker runs.
//!
//! [`serve`] answers from the moment it is called, also while the broker still starts: [`Slot`] is filled once it
//! runs. The paths are those that probes and dashboards of the compatible system ask for. [`health`], [`metrics`],
//! [`loggers`], [`profile`], [`partitions`], [`exporters`], [`backups`] and [`operate`] each hold the requests of their
//! name.
//!
//! Nothing here knows how the broker does what [`Operations`] asks of it.

mod backups;
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
mod status;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use auth::ServerTls;
use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRef};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};
use broker_api::API_VERSION;
use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use http_body::{Body, Frame, SizeHint};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tonic::codegen::Service as _;

use crate::Connections;
use crate::connection::accept::Port;
use crate::connection::http1::Http1;
use crate::connection::peer::{Deadlines, Peer};
use crate::connection::places::Limits;
use crate::connection::unread::{BodyError, Lent};
pub use gate::{Closed, Gate};
pub use loggers::{Filter, LevelError, Loggers};
pub use metrics::{InstallError, Metrics};
pub use operations::{OperationError, Operations, Slot};
use problem::{Problem, json_answer};
pub use profile::Renderer;
pub use status::{
    BackupStatus, BannedInstance, ChangeStatus, ClusterStatus, Component, ComponentState, DifferenceStatus,
    DiskStatus, ExporterStatus, HistoryBackupStatus, MemberStatus, ParkedRecord, PartitionStatus,
    PlannedChange, PlannedOperation, Replayed, ReplicaState, ReplicaStatus, RestoreStatus, StateComparison,
    WorkerStatus,
};

/// How many connections are open at the most; more wait.
pub const CONNECTIONS_MAX: usize = 128;
/// How many more there may be for probes, when all others are busy.
pub const PROBES_MAX: usize = 32;
/// Time-out of the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Time-out of a client that reads nothing of its answer.
const SLOW_TIMEOUT: Duration = Duration::from_secs(10);
/// Time-out of the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Time that open requests have at shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);
/// Limit of a request body.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Interfaces behind the port.
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
    /// Access control.
    pub gate: Gate,
    /// State shared by the connections of all ports.
    pub connections: Connections,
    /// TLS of the connections, if there shall be any.
    pub tls: Option<Arc<ServerTls>>,
    /// Makes pictures of profiles.
    pub renderer: Renderer,
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
    Renderer: management.renderer;
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
        .route("/actuator/cluster", get(partitions::cluster))
        .route("/actuator/cluster/purge", post(partitions::purge))
        .route("/actuator/rebalance", post(partitions::rebalance))
        .route("/actuator/exporters", get(exporters::list))
        .route("/actuator/exporters/{id}", delete(exporters::remove))
        .route("/actuator/exporters/{id}/enable", post(exporters::enable))
        .route("/actuator/exporters/{id}/disable", post(exporters::disable))
        .route("/actuator/exporters/{id}/parked", get(exporters::parked))
        .route("/actuator/exporters/{id}/parked/replay", post(exporters::replay))
        .route("/actuator/exporting/pause", post(operate::pause))
        .route("/actuator/exporting/resume", post(operate::resume))
        .route("/actuator/backupRuntime", get(backups::list).post(backups::take))
        .route("/actuator/backupRuntime/{id}", get(backups::get).delete(backups::delete))
        .route("/actuator/backupHistory", get(backups::list_history).post(backups::take_history))
        .route("/actuator/backupHistory/{id}", get(backups::get_history).delete(backups::delete_history))
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
    let settings = management.connections.settings;
    let port = Port {
        name: "management",
        listener,
        tls: management.tls.clone(),
        limits: Limits { places: CONNECTIONS_MAX, per_address: CONNECTIONS_MAX, for_probes: PROBES_MAX },
        deadlines: Deadlines {
            head: settings.head_timeout.min(HEADER_TIMEOUT),
            idle: None,
            slow: settings.slow_timeout.min(SLOW_TIMEOUT),
        },
        connections: management.connections.clone(),
        grace: SHUTDOWN_GRACE,
    };
    let router = router(management);
    let http1 = Http1 { idle_timeout: HEADER_TIMEOUT, no_room: |_| Problem::busy().into_response() };
    let answer = move |mut request: Request<Lent>, peer: &Peer| {
        request.extensions_mut().insert(peer.address());
        answer(request, router.clone(), peer.is_for_probes)
    };
    port.serve_http1(&shutdown, || (), http1, answer).await;
}

/// Answers one request. Bodies are small and must come soon; only probes are answered where only probes have places.
async fn answer(request: Request<Lent>, mut router: Router, is_for_probes: bool) -> Response {
    if is_for_probes && !gate::is_probe(request.uri().path()) {
        let mut response = Problem::busy().into_response();
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    let deadline = Instant::now() + BODY_TIMEOUT;
    let request = request.map(|body| InTime { body, deadline, overdue: None });
    router.call(request).await.unwrap_or_else(|never: Infallible| match never {})
}

/// A body with a deadline.
struct InTime {
    body: Lent,
    deadline: Instant,
    /// Made once there is something to wait for.
    overdue: Option<Pin<Box<Sleep>>>,
}

impl Body for InTime {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_ready() {
            return frame;
        }
        let deadline = self.deadline;
        let overdue = self.overdue.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        overdue.as_mut().poll(context).map(|()| Some(Err(BodyError::Late)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
