//! The gRPC gateway over real connections, in front of a broker that a test scripts.

#![allow(clippy::unwrap_used)]

mod access;
mod attacks;
mod calls;
mod fake;
mod idempotency;
mod jobs;
mod methods;
mod tenants;
mod tls;
mod transport;

use std::net::SocketAddr;
use std::sync::Arc;

use fake::FakeBroker;
use gateway::grpc::Options;
use grpc::gateway_client::GatewayClient;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};

/// A server on a free port.
struct Server {
    address: SocketAddr,
    broker: Arc<FakeBroker>,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl Server {
    async fn start(broker: FakeBroker) -> Self {
        Self::start_with(broker, Options::default()).await
    }

    async fn start_with(broker: FakeBroker, options: Options) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let broker = Arc::new(broker);
        let shutdown = CancellationToken::new();
        let serving = gateway::grpc::serve(listener, broker.clone(), options, shutdown.clone());
        Self { address, broker, shutdown, task: tokio::spawn(serving) }
    }

    async fn channel(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        // As most clients have it, not as large as this one's default.
        endpoint.initial_stream_window_size(65_535).connect().await.unwrap()
    }

    async fn client(&self) -> GatewayClient<Channel> {
        GatewayClient::new(self.channel().await)
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.unwrap();
    }
}
