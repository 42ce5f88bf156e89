//! Secondary storage from all sides.

use std::sync::Arc;

use broker::StoreQueries;
use export::{Copies, Exporter, Factory, Shown};
use gateway::rest::Storage;
use protocol::{Intent, PartitionId};
use search::{Progress, Reader};
use secondary::{AuditSettings, Cleaner, Loader, Projection, StoreExporter, Writer};

use crate::config::Config;

#[derive(Default)]
pub(crate) struct Opened {
    pub feed: Feed,
    /// Reader of the gateway; `None` if there shall be no secondary storage.
    pub storage: Option<Storage>,
    /// `None` if other brokers clean it alone.
    pub cleaning: Option<Cleaning>,
    /// How far the store that this broker feeds is, and what it lacks.
    pub progress: Option<Arc<Progress>>,
}

/// Secondary storage as the broker sees it.
#[derive(Default)]
pub(crate) struct Feed {
    /// Exporter that fills it, if this broker has one.
    pub exporter: Option<Factory>,
    /// If other brokers have: intents whose records it has no use for.
    pub unwanted_elsewhere: Option<&'static [Intent]>,
    /// The way to the copies of other brokers.
    pub queries: Option<Arc<StoreQueries>>,
}

/// The store as it is cleaned.
pub(crate) struct Cleaning {
    pub reader: Arc<dyn Reader>,
    pub cleaner: Box<dyn Cleaner>,
}

/// Parts that a partition needs to fill a store.
pub(super) type Filler = (Box<dyn Writer>, Box<dyn Loader>);

/// Puts the sides of a store together that is one for all brokers.
pub(super) fn opened(
    config: &Config,
    reader: Arc<dyn Reader>,
    cleaner: Box<dyn Cleaner>,
    filler: impl Fn(PartitionId) -> Filler + Send + Sync + 'static,
) -> Opened {
    let progress = Arc::new(Progress::default());
    let of_all = Arc::clone(&progress);
    let shown: Shown = Arc::new(move |partition, position| of_all.reached_elsewhere(partition, position));
    let exporter = exporter(config, &progress, None, Some(shown), filler);
    Opened {
        feed: Feed { exporter: Some(exporter), ..Feed::default() },
        storage: Some(storage(config, Arc::clone(&reader), Arc::clone(&progress))),
        cleaning: Some(Cleaning { reader, cleaner }),
        progress: Some(progress),
    }
}

/// The storage of the gateway.
pub(super) fn storage(config: &Config, reader: Arc<dyn Reader>, progress: Arc<Progress>) -> Storage {
    let settings = &config.secondary_storage;
    Storage::new(reader, progress, settings.await_timeout)
        .fresh_within(settings.fresh_timeout)
        .with_durations(settings.durations)
}

/// The exporter that fills a store.
pub(super) fn exporter(
    config: &Config,
    progress: &Arc<Progress>,
    copies: Option<Arc<Copies>>,
    shown: Option<Shown>,
    filler: impl Fn(PartitionId) -> Filler + Send + Sync + 'static,
) -> Factory {
    let (audit, usage) = (audit(config), config.usage_metrics.interval);
    let (of_others, progress) = (copies.clone(), Arc::clone(progress));
    let (steps, durations) = (config.secondary_storage.steps, config.secondary_storage.durations);
    let make = Arc::new(move |partition| -> Box<dyn Exporter> {
        let (writer, loader) = filler(partition);
        let projection = Projection::new(loader).with_audit(audit.clone()).with_usage_interval(usage);
        let projection = projection.with_steps(steps).with_durations(durations);
        let exporter = StoreExporter::new(partition, writer, projection, Arc::clone(&progress));
        Box::new(exporter.with_copies(of_others.clone()))
    });
    Factory { make, unwanted: StoreExporter::UNWANTED, copies, shown }
}

/// Categories that the audit log keeps.
fn audit(config: &Config) -> AuditSettings {
    let section = &config.audit_log;
    if !section.enabled {
        return AuditSettings::none();
    }
    AuditSettings {
        of_users: section.user_categories.0.clone(),
        of_clients: section.client_categories.0.clone(),
        users_without: section.user_excludes.0.clone(),
        clients_without: section.client_excludes.0.clone(),
    }
}
