//! The order to exporters that is in force on this broker, also after a restart.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use data_directory::durable_file;
use export::{ChangeError, Hub, Phase};
use parking_lot::Mutex;

use crate::orders::{ExportOrder, Exporting};

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
    pub fn obey(&self, all: &[Arc<Hub>], order: &ExportOrder) -> Result<(), ChangeError> {
        let mut in_force = self.in_force.lock();
        if *order <= *in_force {
            return Ok(());
        }
        self.keep(&mut in_force, order)?;
        for exports in all {
            obey(exports, order)?;
        }
        tracing::info!(?order, "an order to exporters is in force");
        Ok(())
    }

    /// Keeps an order that this broker, without exporters, only passes on.
    pub fn note(&self, order: &ExportOrder) -> io::Result<()> {
        let mut in_force = self.in_force.lock();
        if *order <= *in_force { Ok(()) } else { self.keep(&mut in_force, order) }
    }

    /// The order in force with another phase, for the exporters of others.
    pub fn new_phase(&self, phase: Phase) -> io::Result<ExportOrder> {
        let mut in_force = self.in_force.lock();
        let order = in_force.next(Exporting { phase: phase.into(), like: None, ..in_force.value.clone() });
        self.keep(&mut in_force, &order)?;
        Ok(order)
    }

    /// Puts an order in force, also after a restart.
    fn keep(&self, in_force: &mut ExportOrder, order: &ExportOrder) -> io::Result<()> {
        assert!(*order > *in_force, "orders only get later: {order:?} after {in_force:?}");
        durable_file::write(&self.path, &order.encode())?;
        in_force.clone_from(order);
        Ok(())
    }

    /// The order that makes others like this broker is now.
    pub fn new_order(&self, exports: &Hub, like: Option<String>) -> Result<ExportOrder, ChangeError> {
        let mut in_force = self.in_force.lock();
        let status = exports.status();
        let disabled = status.exporters.into_iter().filter(|one| !one.enabled).map(|one| one.id);
        let order =
            in_force.next(Exporting { phase: status.phase.into(), disabled: disabled.collect(), like });
        self.keep(&mut in_force, &order)?;
        Ok(order)
    }
}

/// Has the exporters of a partition obey an order.
fn obey(exports: &Hub, order: &ExportOrder) -> Result<(), ChangeError> {
    exports.set_phase(order.value.phase.into())?;
    for exporter in exports.status().exporters {
        let enabled = !order.value.disabled.contains(&exporter.id);
        if enabled != exporter.enabled {
            let like = order.value.like.as_deref().filter(|_| enabled);
            exports.set_enabled(&exporter.id, enabled, like)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::ExportPhase;

    fn hub(path: &Path) -> [Arc<Hub>; 1] {
        [Arc::new(Hub::open(export::StreamOptions::default(), path, 1, vec![], 0).unwrap())]
    }

    #[test]
    fn the_latest_order_is_in_force_after_a_restart_too() {
        let directory = tempfile::tempdir().unwrap();
        let orders = ExportOrders::open(directory.path()).unwrap();
        let hub = hub(&directory.path().join("1"));
        hub[0].set_phase(Phase::Paused).unwrap();
        let order = orders.new_order(&hub[0], None).unwrap();
        hub[0].set_phase(Phase::Exporting).unwrap();
        let older = ExportOrder::default();
        orders.obey(&hub, &older).unwrap();
        assert_eq!(hub[0].status().phase, Phase::Exporting, "it is older");
        let later = order.next(Exporting { phase: ExportPhase::SoftPaused, ..order.value.clone() });
        orders.obey(&hub, &later).unwrap();
        assert_eq!(hub[0].status().phase, Phase::SoftPaused);
        assert_eq!(ExportOrders::open(directory.path()).unwrap().in_force(), later);
    }

    #[test]
    fn a_broker_without_exporters_passes_orders_on() {
        let directories = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [without, with] = directories.each_ref().map(|one| ExportOrders::open(one.path()).unwrap());
        let path = directories[1].path().join("1");
        let hub = hub(&path);
        let pause = without.new_phase(Phase::Paused).unwrap();
        with.obey(&hub, &pause).unwrap();
        assert_eq!(hub[0].status().phase, Phase::Paused);
        // The next order of either is later than all that it has heard of.
        hub[0].set_phase(Phase::SoftPaused).unwrap();
        let softly = with.new_order(&hub[0], None).unwrap();
        without.note(&softly).unwrap();
        without.note(&pause).unwrap();
        assert_eq!(without.in_force(), softly);
        with.obey(&hub, &without.new_phase(Phase::Exporting).unwrap()).unwrap();
        assert_eq!(hub[0].status().phase, Phase::Exporting);
    }
}
