//! Exporting is paused, and exporters are switched off, on all brokers of a cluster: an order that is given to one.
//!
//! Orders have versions, and the latest is in force. Each broker keeps it on its disk. One that was away learns of it
//! when it asks the others how they are.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use export::{ChangeError, Hub, Phase};

use crate::cluster_state::ClusterState;
use crate::node::Node;
use crate::orders::ExportOrder;
use cluster::RequestKind;

/// Time-out of an order to another broker.
const ORDER_TIMEOUT: Duration = Duration::from_secs(5);

impl Node {
    /// Whether records go to exporters; of a broker without any, whether those of its cluster get them. `None` if it is
    /// alone.
    pub fn exporting_phase(&self) -> Option<Phase> {
        match (self.exports(), &self.cluster) {
            (Some(exports), _) => Some(exports.status().phase),
            (None, Some(cluster)) => Some(cluster.export_orders.in_force().value.phase.into()),
            (None, None) => None,
        }
    }

    /// Pauses or resumes exporting, in a cluster on all brokers; kept over restarts. Without exporters anywhere nothing
    /// happens.
    pub async fn set_exporting(&self, phase: Phase) -> io::Result<()> {
        if let (None, Some(cluster)) = (self.exports(), &self.cluster) {
            let ordering = Arc::clone(cluster);
            let order = blocking(move || Ok(ordering.export_orders.new_phase(phase)?)).await;
            cluster.order_exports(&order.map_err(io::Error::other)?).await;
            return Ok(());
        }
        let set = move |exports: &Hub| exports.set_phase(phase).map_err(ChangeError::File);
        self.order_exports(None, set).await.map_err(io::Error::other)
    }

    /// Switches an exporter on or off, in a cluster on all brokers. One that is switched on begins where another one
    /// is, or with what comes from then on.
    pub async fn switch_exporter(
        &self,
        id: String,
        enabled: bool,
        like: Option<String>,
    ) -> Result<(), ChangeError> {
        if self.exports().is_none() {
            return Err(ChangeError::Unknown(id));
        }
        let other = like.clone();
        self.order_exports(like, move |exports| exports.set_enabled(&id, enabled, other.as_deref())).await
    }

    /// Makes a change here, and has the other brokers make it.
    async fn order_exports(
        &self,
        like: Option<String>,
        change: impl Fn(&Hub) -> Result<(), ChangeError> + Send + 'static,
    ) -> Result<(), ChangeError> {
        let all: Vec<Arc<Hub>> = self.hubs().map(|(_, exports)| Arc::clone(exports)).collect();
        let Some(exports) = all.first().cloned() else { return Ok(()) };
        let cluster = self.cluster.clone();
        let ordering = cluster.clone();
        let order = blocking(move || {
            all.iter().try_for_each(|exports| change(exports))?;
            ordering.map(|cluster| cluster.export_orders.new_order(&exports, like)).transpose()
        });
        if let Some((cluster, order)) = cluster.zip(order.await?) {
            cluster.order_exports(&order).await;
        }
        Ok(())
    }

    /// Obeys an order of another broker.
    pub(crate) async fn obey_export_order(
        &self,
        cluster: &Arc<ClusterState>,
        order: ExportOrder,
    ) -> Result<(), ChangeError> {
        let all: Vec<Arc<Hub>> = self.hubs().map(|(_, exports)| Arc::clone(exports)).collect();
        let cluster = Arc::clone(cluster);
        blocking(move || match &all[..] {
            [] => Ok(cluster.export_orders.note(&order)?),
            all => cluster.export_orders.obey(all, &order),
        })
        .await
    }
}

/// Does something with exporters that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
) -> Result<T, ChangeError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ChangeError::File(io::Error::other(error))))
}

impl ClusterState {
    /// Sends an order to all others. One that is away learns of it later.
    async fn order_exports(&self, order: &ExportOrder) {
        let message = RequestKind::ExportOrder.with(&order.encode());
        for (broker, answer) in self.links.ask_all(&message, ORDER_TIMEOUT).await {
            if let Err(reason) = answer {
                tracing::info!(broker, reason, "an order to exporters did not get through; it is told again");
            }
        }
    }
}

/// Answers an order of another broker by obeying it.
pub(crate) async fn obey(node: &Node, order: &[u8]) -> Result<Bytes, String> {
    let order = ExportOrder::decode(order)?;
    let cluster = node.cluster.as_ref().ok_or("this broker is alone")?;
    node.obey_export_order(cluster, order).await.map_err(|error| error.to_string())?;
    Ok(Bytes::new())
}
