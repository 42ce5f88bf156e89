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
mod options;
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
use broker_api::Broker;
use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tonic::codec::CompressionEncoding;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

pub use options::Options;

/// Interval at which the health service checks whether the broker can serve.
const HEALTH_LOOK: Duration = Duration::from_millis(250);

/// Serves until `shutdown`, then lets open calls end within [`Options::shutdown_grace`]. Long polls and job streams
/// end at once with UNAVAILABLE, so that clients look for another gateway.
pub async fn serve(
    listener: TcpListener,
    broker: Arc<dyn Broker>,
    options: Options,
    shutdown: CancellationToken,
) {
    let reporter = HealthReporter::new();
    let status = serving_status(&*broker, &shutdown);
    report(&reporter, status).await;
    tokio::spawn(keep_reporting(reporter.clone(), Arc::clone(&broker), status, shutdown.clone()));
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

fn serving_status(broker: &dyn Broker, shutdown: &CancellationToken) -> ServingStatus {
    let serves = broker.is_ready() && !shutdown.is_cancelled();
    if serves { ServingStatus::Serving } else { ServingStatus::NotServing }
}

async fn report(reporter: &HealthReporter, status: ServingStatus) {
    for service in ["", "gateway_protocol.Gateway"] {
        reporter.set_service_status(service, status).await;
    }
}

/// Tells the health service whether the broker can serve, until the server has been told to stop, and then.
async fn keep_reporting(
    reporter: HealthReporter,
    broker: Arc<dyn Broker>,
    mut told: ServingStatus,
    shutdown: CancellationToken,
) {
    let mut looks = tokio::time::interval(HEALTH_LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !shutdown.is_cancelled() {
        tokio::select! {
            _ = looks.tick() => {}
            () = shutdown.cancelled() => {}
        }
        let status = serving_status(&*broker, &shutdown);
        // Clients that watch it are told of changes alone.
        if status != told {
            report(&reporter, status).await;
            told = status;
        }
    }
}
