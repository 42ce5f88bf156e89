//! The gRPC gateway: the Zeebe gateway protocol in front of [`Broker`].
//!
//! [`serve`] accepts connections; a request enters in [`service`], is read by the module named after what it speaks
//! of ([`process_instance`], [`job`], [`deployment`], [`message`], [`variables`]), goes to the broker as a command,
//! and the same module writes the answer. [`activation`] carries jobs to workers; [`status`] says which error gets
//! which status.
//!
//! The generated service runs on hyper directly, without tonic's router and layers: a call costs what its decoding
//! and encoding cost. Deadlines (`grpc-timeout`) are the client's to keep; it resets the call, and the call's
//! future is dropped.
//!
//! Nothing here knows how a broker works, what a process is, or that there is a REST API too.

mod activation;
mod calls;
mod connection;
mod decision;
mod deployment;
mod event;
mod field;
mod handed;
mod http2;
mod job;
mod message;
mod metrics;
mod process_instance;
mod request_body;
mod request_key;
mod service;
mod status;
mod topology;
mod variables;

use std::sync::Arc;
use std::time::Duration;

use ::grpc::gateway_server::GatewayServer;
use auth::ServerTls;
use broker_api::Broker;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::codec::CompressionEncoding;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use traces::Traces;

use crate::{Access, Connections, Tenancy};

/// Options of the gRPC gateway.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long a poll for jobs is held that leaves it to the server.
    pub poll_timeout: Duration,
    /// How long a creation waits for its result that leaves it to the server.
    pub result_timeout: Duration,
    /// Time that a call waits for listeners of a user task.
    pub listener_timeout: Duration,
    /// How many connections are open at the most; more wait to be accepted.
    pub connections_max: usize,
    /// How many calls one connection may have open.
    pub calls_per_connection_max: u32,
    /// How long the message of a call may take to arrive.
    pub message_timeout: Duration,
    /// How long a connection may stay without a call.
    pub idle_timeout: Duration,
    /// After how much silence the server asks whether the client is still there. Clients that are gone give up
    /// their jobs.
    pub keep_alive_interval: Duration,
    /// How long the answer to that may take.
    pub keep_alive_timeout: Duration,
    /// How long open calls may go on once the server stops.
    pub shutdown_grace: Duration,
    /// Which tenants requests may name.
    pub tenancy: Tenancy,
    /// Access control.
    pub access: Access,
    /// State shared by the connections of all ports.
    pub connections: Connections,
    /// TLS of the connections, if there shall be any.
    pub tls: Option<Arc<ServerTls>>,
    /// Tells of some calls to a collector of traces.
    pub traces: Option<Traces>,
    /// Whether answers tell positions. Of use where searches can wait for them.
    pub tells_positions: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            poll_timeout: Duration::from_secs(10),
            result_timeout: Duration::from_secs(15),
            listener_timeout: Duration::from_secs(10),
            connections_max: 4096,
            calls_per_connection_max: 4096,
            message_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_mins(10),
            keep_alive_interval: Duration::from_secs(30),
            keep_alive_timeout: Duration::from_secs(20),
            shutdown_grace: Duration::from_secs(5),
            tenancy: Tenancy::default(),
            access: Access::default(),
            connections: Connections::default(),
            tls: None,
            traces: None,
            tells_positions: false,
        }
    }
}

/// Serves until `shutdown`, then lets open calls end within [`Options::shutdown_grace`]. Long polls and job streams
/// end at once with UNAVAILABLE, so that clients look for another gateway.
pub async fn serve(
    listener: TcpListener,
    broker: Arc<dyn Broker>,
    options: Options,
    shutdown: CancellationToken,
) {
    let reporter = HealthReporter::new();
    for service in ["", "gateway_protocol.Gateway"] {
        reporter.set_service_status(service, ServingStatus::Serving).await;
    }
    let message_bytes_max = broker.max_message_bytes();
    let services = calls::Services {
        connections: options.connections.clone(),
        message_timeout: options.message_timeout,
        access: options.access.clone(),
        gateway: GatewayServer::new(service::Service::new(broker, &options, shutdown.clone()))
            .accept_compressed(CompressionEncoding::Gzip)
            .max_decoding_message_size(message_bytes_max),
        health: HealthServer::new(HealthService::from_health_reporter(reporter)),
    };
    connection::serve(listener, services, &options, shutdown).await;
}
