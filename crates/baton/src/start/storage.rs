//! Secondary storage, as it is configured: the exporter that feeds it, and what the gateway reads.

use std::sync::Arc;

use export::Factory;
use gateway::rest::Storage;
use secondary::{
    Progress, Projection, SqliteLoader, SqliteOptions, SqliteReader, SqliteWriter, StoreExporter,
};

use crate::config::{Config, StorageKind};

/// Both ends of secondary storage; `None` if there shall be none.
pub(super) fn open(config: &Config) -> Option<(Factory, Storage)> {
    match config.secondary_storage.kind {
        StorageKind::None => None,
        StorageKind::Sqlite => Some(sqlite(config)),
    }
}

fn sqlite(config: &Config) -> (Factory, Storage) {
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
    let factory = Factory(Arc::new(move |partition| {
        let writer = SqliteWriter::new(options.clone(), partition);
        let projection = Projection::new(Box::new(SqliteLoader::new(options.clone())));
        Box::new(StoreExporter::new(partition, Box::new(writer), projection, Arc::clone(&progress)))
    }));
    (factory, storage)
}
