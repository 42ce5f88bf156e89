//! Secondary storage, as it is configured: the exporter that feeds it, what the gateway reads, what removes from it.

mod copies;
#[cfg(feature = "opensearch")]
mod opensearch;
#[cfg(feature = "postgres")]
mod postgres;

use std::sync::Arc;

use broker::StoreQueries;
use export::{Copies, Exporter, Factory, Shown};
use gateway::rest::Storage;
use protocol::{Intent, PartitionId};
use search::{Progress, Reader};
use secondary::{
    AuditSettings, Cleaner, Loader, Projection, SqliteCleaner, SqliteLoader, SqliteOptions, SqliteReader,
    SqliteWriter, StoreExporter, Writer,
};

use crate::config::{Config, StorageKind};
use crate::failure::Failure;

/// Secondary storage from all sides.
#[derive(Default)]
pub(super) struct Opened {
    pub feed: Feed,
    /// Reader of the gateway; `None` if there shall be no secondary storage.
    pub storage: Option<Storage>,
    /// `None` if other brokers clean it alone.
    pub cleaning: Option<Cleaning>,
}

/// Secondary storage as the broker sees it.
#[derive(Default)]
pub(super) struct Feed {
    /// Exporter that fills it, if this broker has one.
    pub exporter: Option<Factory>,
    /// If other brokers have: intents whose records it has no use for.
    pub unwanted_elsewhere: Option<&'static [Intent]>,
    /// The way to the copies of other brokers.
    pub queries: Option<Arc<StoreQueries>>,
}

/// The store as it is cleaned.
pub(super) struct Cleaning {
    pub reader: Arc<dyn Reader>,
    pub cleaner: Box<dyn Cleaner>,
}

/// Parts that a partition needs to fill a store.
type Filler = (Box<dyn Writer>, Box<dyn Loader>);

/// Secondary storage, of a broker that is alone or one of several.
pub(super) fn open(config: &Config, brokers: &[u32]) -> Result<Opened, Failure> {
    Ok(match config.secondary_storage.kind {
        StorageKind::None => Opened::default(),
        StorageKind::Sqlite if brokers.is_empty() => alone(config),
        StorageKind::Sqlite => copies::open(config, brokers)?,
        #[cfg(feature = "postgres")]
        StorageKind::Postgres => postgres::open(config),
        #[cfg(feature = "opensearch")]
        StorageKind::Opensearch => opensearch::open(config),
        #[cfg(not(all(feature = "postgres", feature = "opensearch")))]
        kind => unreachable!("{kind:?} is not built in, and the configuration was checked for that"),
    })
}

pub(super) fn sqlite_options(config: &Config) -> SqliteOptions {
    let section = &config.secondary_storage_sqlite;
    SqliteOptions {
        readers: section.readers,
        query_timeout: config.secondary_storage.query_timeout,
        cache_bytes: section.page_cache_bytes.0,
        sync_interval: section.sync_interval,
        ..SqliteOptions::new(&config.data.directory.join(&section.path))
    }
}

fn sqlite_filler(options: SqliteOptions) -> impl Fn(PartitionId) -> Filler + Send + Sync + 'static {
    move |partition| {
        let writer = SqliteWriter::new(options.clone(), partition);
        (Box::new(writer), Box::new(SqliteLoader::new(options.clone())))
    }
}

fn alone(config: &Config) -> Opened {
    let options = sqlite_options(config);
    let reader = Arc::new(SqliteReader::new(options.clone()));
    let cleaner = Box::new(SqliteCleaner::new(options.clone()));
    opened(config, reader, cleaner, sqlite_filler(options))
}

/// Puts the sides of a store together that is one for all brokers.
fn opened(
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
        storage: Some(storage(config, Arc::clone(&reader), progress)),
        cleaning: Some(Cleaning { reader, cleaner }),
    }
}

/// The storage of the gateway.
fn storage(config: &Config, reader: Arc<dyn Reader>, progress: Arc<Progress>) -> Storage {
    let settings = &config.secondary_storage;
    Storage::new(reader, progress, settings.await_timeout)
        .fresh_within(settings.fresh_timeout)
        .with_durations(settings.durations)
}

/// The exporter that fills a store.
fn exporter(
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
