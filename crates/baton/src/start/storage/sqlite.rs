//! The embedded store as secondary storage.

use std::sync::Arc;

use protocol::PartitionId;
use secondary::{SqliteCleaner, SqliteLoader, SqliteOptions, SqliteReader, SqliteWriter};

use super::opened::{Filler, Opened, opened};
use crate::config::Config;

pub(crate) fn sqlite_options(config: &Config) -> SqliteOptions {
    let section = &config.secondary_storage_sqlite;
    SqliteOptions {
        readers: section.readers,
        query_timeout: config.secondary_storage.query_timeout,
        cache_bytes: section.page_cache_bytes.0,
        sync_interval: section.sync_interval,
        ..SqliteOptions::new(&config.data.directory.join(&section.path))
    }
}

pub(super) fn sqlite_filler(
    options: SqliteOptions,
) -> impl Fn(PartitionId) -> Filler + Send + Sync + 'static {
    move |partition| {
        let writer = SqliteWriter::new(options.clone(), partition);
        (Box::new(writer), Box::new(SqliteLoader::new(options.clone())))
    }
}

/// The store of a broker that is alone.
pub(super) fn open(config: &Config) -> Opened {
    let options = sqlite_options(config);
    let reader = Arc::new(SqliteReader::new(options.clone()));
    let cleaner = Box::new(SqliteCleaner::new(options.clone()));
    opened(config, reader, cleaner, sqlite_filler(options))
}
