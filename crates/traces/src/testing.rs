//! A collector that takes OTLP over gRPC, for tests.

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
pub use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

use crate::{Settings, Traces};

/// Keeps what it is told.
pub struct Collector {
    endpoint: String,
    received: mpsc::UnboundedReceiver<ExportTraceServiceRequest>,
    server: JoinHandle<()>,
}

struct Service(mpsc::UnboundedSender<ExportTraceServiceRequest>);

#[tonic::async_trait]
impl TraceService for Service {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let sent = self.0.send(request.into_inner());
        sent.map_err(|_| Status::unavailable("the test is over"))?;
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    /// Listens on a free port.
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let (sender, received) = mpsc::unbounded_channel();
        let server = tonic::transport::Server::builder()
            .add_service(TraceServiceServer::new(Service(sender)))
            .serve_with_incoming(TcpListenerStream::new(listener));
        let server = tokio::spawn(async {
            // The test sees what did not come.
            let _ = server.await;
        });
        Ok(Self { endpoint, received, server })
    }

    /// Traces that are sent here.
    pub fn traces(&self, ratio: f64) -> Result<Traces, crate::StartError> {
        let service = "baton".to_owned();
        Traces::start(&Settings { endpoint: self.endpoint.clone(), ratio, service })
    }

    /// Everything that it was told, once `traces` are stopped. Needs a runtime with several threads.
    pub async fn spans(mut self, traces: Traces) -> Vec<Span> {
        let _ = tokio::task::spawn_blocking(move || traces.stop()).await;
        self.server.abort();
        let mut spans = Vec::new();
        while let Ok(request) = self.received.try_recv() {
            let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
            spans.extend(scopes.flat_map(|scope| scope.spans));
        }
        spans
    }
}
