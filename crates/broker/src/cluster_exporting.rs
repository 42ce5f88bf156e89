//! Exporting is paused, and exporters are switched off, on all brokers of a cluster: an order that is given to one.
//!
//! Orders have versions, and the latest is in force. Each broker keeps it on its disk. One that was away learns of it
//! when it asks the others how they are.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use export::{ChangeError, Hub, Phase};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::cluster::Links;
use crate::durable_file;
use crate::node::Node;
use crate::peer_request::RequestKind;

/// Time for another broker to obey.
const ORDER_TIMEOUT: Duration = Duration::from_secs(5);

/// The order to export or not. Of two at once, the greater one is in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ExportOrder {
    version: u64,
    phase: ExportPhase,
    /// IDs of exporters that are switched off.
    disabled: BTreeSet<String>,
    /// The exporter at whose position those begin that this order switches on; else they begin with what comes from
    /// then on.
    like: Option<String>,
}

/// The phases as they are told and kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ExportPhase {
    #[default]
    Exporting,
    SoftPaused,
    Paused,
}

impl From<Phase> for ExportPhase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Exporting => Self::Exporting,
            Phase::SoftPaused => Self::SoftPaused,
            Phase::Paused => Self::Paused,
        }
    }
}

impl From<ExportPhase> for Phase {
    fn from(phase: ExportPhase) -> Self {
        match phase {
            ExportPhase::Exporting => Self::Exporting,
            ExportPhase::SoftPaused => Self::SoftPaused,
            ExportPhase::Paused => Self::Paused,
        }
    }
}

/// The order in force, kept in a file.
#[derive(Debug)]
pub(crate) struct ExportOrders {
    path: PathBuf,
    in_force: Mutex<ExportOrder>,
}

impl ExportOrders {
    /// Reads the order of a directory, which must exist.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let path = directory.join("order.json");
        let order = durable_file::read_json(&path)?.unwrap_or_default();
        Ok(Self { path, in_force: Mutex::new(order) })
    }

    pub fn in_force(&self) -> ExportOrder {
        self.in_force.lock().clone()
    }

    /// Obeys an order if it is later than the one in force. Blocks.
    fn obey(&self, exports: &Hub, order: &ExportOrder) -> Result<(), ChangeError> {
        let mut in_force = self.in_force.lock();
        if *order <= *in_force {
            return Ok(());
        }
        self.keep(&mut in_force, order)?;
        exports.set_phase(order.phase.into())?;
        for exporter in exports.status().exporters {
            let enabled = !order.disabled.contains(&exporter.id);
            if enabled != exporter.enabled {
                exports.set_enabled(&exporter.id, enabled, order.like.as_deref().filter(|_| enabled))?;
            }
        }
        tracing::info!(?order, "an order to exporters is in force");
        Ok(())
    }

    /// Keeps an order that this broker, without exporters, only passes on.
    fn note(&self, order: &ExportOrder) -> io::Result<()> {
        let mut in_force = self.in_force.lock();
        if *order <= *in_force { Ok(()) } else { self.keep(&mut in_force, order) }
    }

    /// The order in force with another phase, for the exporters of others.
    fn new_phase(&self, phase: Phase) -> io::Result<ExportOrder> {
        let mut in_force = self.in_force.lock();
        let version = in_force.version + 1;
        let order = ExportOrder { version, phase: phase.into(), like: None, ..in_force.clone() };
        self.keep(&mut in_force, &order)?;
        Ok(order)
    }

    /// Puts an order in force, also after a restart.
    fn keep(&self, in_force: &mut ExportOrder, order: &ExportOrder) -> io::Result<()> {
        assert!(*order > *in_force, "orders only get later: {order:?} after {in_force:?}");
        durable_file::write(&self.path, &serde_json::to_vec(order).map_err(io::Error::other)?)?;
        in_force.clone_from(order);
        Ok(())
    }

    /// The order that makes others like this broker is now.
    fn new_order(&self, exports: &Hub, like: Option<String>) -> Result<ExportOrder, ChangeError> {
        let mut in_force = self.in_force.lock();
        let status = exports.status();
        let disabled = status.exporters.into_iter().filter(|one| !one.enabled).map(|one| one.id);
        let order = ExportOrder {
            version: in_force.version + 1,
            phase: status.phase.into(),
            disabled: disabled.collect(),
            like,
        };
        self.keep(&mut in_force, &order)?;
        Ok(order)
    }
}

impl Node {
    /// Whether records go to exporters; of a broker without any, whether those of its cluster get them. `None` if it is
    /// alone.
    pub fn exporting_phase(&self) -> Option<Phase> {
        match (self.exports(), &self.router) {
            (Some(exports), _) => Some(exports.status().phase),
            (None, Some(router)) => Some(router.links.export_orders.in_force().phase.into()),
            (None, None) => None,
        }
    }

    /// Pauses or resumes exporting, in a cluster on all brokers; kept over restarts. Without exporters anywhere nothing
    /// happens.
    pub async fn set_exporting(&self, phase: Phase) -> io::Result<()> {
        if let (None, Some(router)) = (self.exports(), &self.router) {
            let links = Arc::clone(&router.links);
            let order = blocking(move || Ok(links.export_orders.new_phase(phase)?)).await;
            router.links.order_exports(&order.map_err(io::Error::other)?).await;
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
        change: impl FnOnce(&Hub) -> Result<(), ChangeError> + Send + 'static,
    ) -> Result<(), ChangeError> {
        let Some(exports) = self.exports().cloned() else { return Ok(()) };
        let links = self.router.as_ref().map(|router| Arc::clone(&router.links));
        let ordering = links.clone();
        let order = blocking(move || {
            change(&exports)?;
            ordering.map(|links| links.export_orders.new_order(&exports, like)).transpose()
        });
        if let Some((links, order)) = links.zip(order.await?) {
            links.order_exports(&order).await;
        }
        Ok(())
    }

    /// Obeys an order of another broker.
    pub(crate) async fn obey_export_order(
        &self,
        links: &Arc<Links>,
        order: ExportOrder,
    ) -> Result<(), ChangeError> {
        let (exports, links) = (self.exports().cloned(), Arc::clone(links));
        blocking(move || match exports {
            Some(exports) => links.export_orders.obey(&exports, &order),
            None => Ok(links.export_orders.note(&order)?),
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

impl Links {
    /// Sends an order to all others. One that is away learns of it later.
    async fn order_exports(&self, order: &ExportOrder) {
        let order = serde_json::to_vec(order).expect("numbers and texts are JSON");
        let message = RequestKind::ExportOrder.with(&order);
        for (broker, answer) in self.ask_all(&message, ORDER_TIMEOUT).await {
            if let Err(reason) = answer {
                tracing::info!(broker, reason, "an order to exporters did not get through; it is told again");
            }
        }
    }
}

/// Obeys an order that another broker has sent.
pub(crate) async fn obey(node: &Node, order: &[u8]) -> Result<Bytes, String> {
    let order = serde_json::from_slice(order).map_err(|error| error.to_string())?;
    let router = node.router.as_ref().ok_or("this broker is alone")?;
    node.obey_export_order(&router.links, order).await.map_err(|error| error.to_string())?;
    Ok(Bytes::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_order_is_in_force_after_a_restart_too() {
        let directory = tempfile::tempdir().unwrap();
        let orders = ExportOrders::open(directory.path()).unwrap();
        let hub =
            Hub::open(export::StreamOptions::default(), &directory.path().join("1"), 1, vec![]).unwrap();
        hub.set_phase(Phase::Paused).unwrap();
        let order = orders.new_order(&hub, None).unwrap();
        hub.set_phase(Phase::Exporting).unwrap();
        let older = ExportOrder { version: 0, ..order.clone() };
        orders.obey(&hub, &older).unwrap();
        assert_eq!(hub.status().phase, Phase::Exporting, "it is older");
        let later = ExportOrder { version: 2, phase: ExportPhase::SoftPaused, ..order };
        orders.obey(&hub, &later).unwrap();
        assert_eq!(hub.status().phase, Phase::SoftPaused);
        assert_eq!(ExportOrders::open(directory.path()).unwrap().in_force(), later);
    }

    #[test]
    fn a_broker_without_exporters_passes_orders_on() {
        let directories = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [without, with] = directories.each_ref().map(|one| ExportOrders::open(one.path()).unwrap());
        let path = directories[1].path().join("1");
        let hub = Hub::open(export::StreamOptions::default(), &path, 1, vec![]).unwrap();
        let pause = without.new_phase(Phase::Paused).unwrap();
        with.obey(&hub, &pause).unwrap();
        assert_eq!(hub.status().phase, Phase::Paused);
        // The next order of either is later than all that it has heard of.
        hub.set_phase(Phase::SoftPaused).unwrap();
        let softly = with.new_order(&hub, None).unwrap();
        without.note(&softly).unwrap();
        without.note(&pause).unwrap();
        assert_eq!(without.in_force(), softly);
        with.obey(&hub, &without.new_phase(Phase::Exporting).unwrap()).unwrap();
        assert_eq!(hub.status().phase, Phase::Exporting);
    }
}
