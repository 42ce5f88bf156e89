//! Secondary storage, as it is configured: the exporter that feeds it, what the gateway reads, what removes from it.

use std::sync::Arc;

use export::Factory;
use gateway::rest::Storage;
use secondary::{
    AuditSettings, Cleaner, Progress, Projection, SqliteCleaner, SqliteLoader, SqliteOptions, SqliteReader,
    SqliteWriter, StoreExporter,
};

use crate::config::{Config, StorageKind};

/// Secondary storage from all sides.
pub(super) struct Opened {
    /// What fills it.
    pub exporter: Factory,
    /// What the gateway reads.
    pub storage: Storage,
    /// What removes from it.
    pub cleaner: Box<dyn Cleaner>,
}

/// Secondary storage; `None` if there shall be none.
pub(super) fn open(config: &Config) -> Option<Opened> {
    match config.secondary_storage.kind {
        StorageKind::None => None,
        StorageKind::Sqlite => Some(sqlite(config)),
    }
}

fn sqlite(config: &Config) -> Opened {
    let section = &config.secondary_storage_sqlite;
    let options = SqliteOptions {
        path: config.data.directory.join(&section.path),
        readers: section.readers,
        query_timeout: config.secondary_storage.query_timeout,
        cache_bytes: section.page_cache_bytes.0,
    };
    let progress = Arc::new(Progress::default());
    let storage = Storage {
        reader: Arc::new(SqliteReader::new(options.clone())),
        progress: Arc::clone(&progress),
        wait_max: config.secondary_storage.await_timeout,
    };
    let cleaner = Box::new(SqliteCleaner::new(options.clone()));
    let audit = audit(config);
    let exporter = Factory(Arc::new(move |partition| {
        let writer = SqliteWriter::new(options.clone(), partition);
        let loader = SqliteLoader::new(options.clone());
        let projection = Projection::new(Box::new(loader)).with_audit(audit.clone());
        Box::new(StoreExporter::new(partition, Box::new(writer), projection, Arc::clone(&progress)))
    }));
    Opened { exporter, storage, cleaner }
}

/// What the audit log keeps.
fn audit(config: &Config) -> AuditSettings {
    let section = &config.audit_log;
    if !section.enabled {
        return AuditSettings::none();
    }
    AuditSettings {
        of_users: section.user_categories.0.clone(),
        of_clients: section.client_categories.0.clone(),
    }
}
