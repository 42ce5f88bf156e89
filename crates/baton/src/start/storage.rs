//! Secondary storage, as it is configured: the exporter that feeds it, what the gateway reads, what removes from it.

mod copies;
mod opened;
#[cfg(feature = "opensearch")]
mod opensearch;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;

use crate::config::{Config, StorageKind};
use crate::failure::Failure;

pub(super) use opened::{Cleaning, Feed, Opened};
pub(super) use sqlite::sqlite_options;

/// Secondary storage, of a broker that is alone or one of several.
pub(super) fn open(config: &Config, brokers: &[u32]) -> Result<Opened, Failure> {
    Ok(match config.secondary_storage.kind {
        StorageKind::None => Opened::default(),
        StorageKind::Sqlite if brokers.is_empty() => sqlite::open(config),
        StorageKind::Sqlite => copies::open(config, brokers)?,
        #[cfg(feature = "postgres")]
        StorageKind::Postgres => postgres::open(config),
        #[cfg(feature = "opensearch")]
        StorageKind::Opensearch => opensearch::open(config),
        #[cfg(not(all(feature = "postgres", feature = "opensearch")))]
        kind => unreachable!("{kind:?} is not built in, and the configuration was checked for that"),
    })
}
