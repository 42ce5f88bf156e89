//! The gateway as its operations see it.

use std::collections::BTreeMap;
use std::sync::Arc;

use broker_api::Broker;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::Options;
use super::metric_definitions::RequestMetrics;
use super::outage::Outage;

/// The gateway without its socket.
pub struct Gateway {
    pub(super) broker: Arc<dyn Broker>,
    pub(super) options: Options,
    /// Ends waiting for jobs when the gateway stops.
    pub(super) stop: CancellationToken,
    /// Finds the items of batch operations.
    pub(super) batch_searches: BatchSearches,
    /// By the IDs of the stores of documents.
    pub(super) documents_outages: BTreeMap<String, Outage>,
    pub(super) metrics: RequestMetrics,
}

/// Tells of new batch operations.
#[derive(Default)]
pub(super) struct BatchSearches(pub(super) Notify);

impl BatchSearches {
    /// There is one more.
    pub(super) fn wake(&self) {
        self.0.notify_one();
    }
}
