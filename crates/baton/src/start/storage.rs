//! Secondary storage, as it is configured: the exporter that feeds it, what the gateway reads, what removes from it.

#[cfg(feature = "opensearch")]
mod opensearch;
#[cfg(feature = "postgres")]
mod postgres;

use std::sync::Arc;

use export::{Copies, Exporter, Factory, Shown};
use gateway::rest::Storage;
use protocol::PartitionId;
use search::{Progress, Reader};
use secondary::{
    AuditSettings, Cleaner, Loader, Projection, SqliteCleaner, SqliteLoader, SqliteOptions, SqliteReader,
    SqliteWriter, StoreExporter, Writer,
};

use crate::config::{Config, StorageKind};

/// Secondary storage from all sides.
pub(super) struct Opened {
    /// Exporter that fills it.
    pub exporter: Factory,
    /// Reader of the gateway.
    pub storage: Storage,
    /// Cleaner of history.
    pub cleaner: Box<dyn Cleaner>,
}

/// Parts that a partition needs to fill a store.
type Filler = (Box<dyn Writer>, Box<dyn Loader>);

/// Secondary storage; `None` if there shall be none.
pub(super) fn open(config: &Config) -> Option<Opened> {
    match config.secondary_storage.kind {
        StorageKind::None => None,
        StorageKind::Sqlite => Some(sqlite(config)),
        #[cfg(feature = "postgres")]
        StorageKind::Postgres => Some(postgres::open(config)),
        #[cfg(feature = "opensearch")]
        StorageKind::Opensearch => Some(opensearch::open(config)),
        #[cfg(not(all(feature = "postgres", feature = "opensearch")))]
        kind => unreachable!("{kind:?} is not built in, and the configuration was checked for that"),
    }
}

fn sqlite(config: &Config) -> Opened {
    let section = &config.secondary_storage_sqlite;
    let options = SqliteOptions {
        readers: section.readers,
        query_timeout: config.secondary_storage.query_timeout,
        cache_bytes: section.page_cache_bytes.0,
        sync_interval: section.sync_interval,
        ..SqliteOptions::new(&config.data.directory.join(&section.path))
    };
    let reader = Arc::new(SqliteReader::new(options.clone()));
    let cleaner = Box::new(SqliteCleaner::new(options.clone()));
    let copied = options.clone();
    let copies = config.is_in_cluster().then(|| {
        Arc::new(Copies::new(move |target| {
            let copy = copied.copy(target).map_err(|error| error.to_string())?;
            // The file is one of the only partition, or of none yet.
            Ok(copy.positions.first().map_or(0, |(_, position)| *position))
        }))
    });
    opened(config, reader, cleaner, copies, move |partition| {
        let writer = SqliteWriter::new(options.clone(), partition);
        (Box::new(writer), Box::new(SqliteLoader::new(options.clone())))
    })
}

/// Puts the sides of a store together.
fn opened(
    config: &Config,
    reader: Arc<dyn Reader>,
    cleaner: Box<dyn Cleaner>,
    copies: Option<Arc<Copies>>,
    filler: impl Fn(PartitionId) -> Filler + Send + Sync + 'static,
) -> Opened {
    let progress = Arc::new(Progress::default());
    let settings = &config.secondary_storage;
    let storage = Storage::new(reader, Arc::clone(&progress), settings.await_timeout)
        .fresh_within(settings.fresh_timeout);
    let (audit, usage) = (audit(config), config.usage_metrics.interval);
    let (of_others, of_all) = (copies.clone(), Arc::clone(&progress));
    let shown = copies
        .is_none()
        .then(|| -> Shown { Arc::new(move |partition, position| of_all.reached(partition, position)) });
    let make = Arc::new(move |partition| -> Box<dyn Exporter> {
        let (writer, loader) = filler(partition);
        let projection = Projection::new(loader).with_audit(audit.clone()).with_usage_interval(usage);
        let exporter = StoreExporter::new(partition, writer, projection, Arc::clone(&progress));
        Box::new(exporter.with_copies(of_others.clone()))
    });
    let exporter = Factory { make, unwanted: StoreExporter::UNWANTED, copies, shown };
    Opened { exporter, storage, cleaner }
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
