//! PostgreSQL as secondary storage.

use std::sync::Arc;

use secondary::{PostgresCleaner, PostgresLoader, PostgresOptions, PostgresReader, PostgresWriter};

use super::opened::{Opened, opened};
use crate::config::Config;

pub(super) fn open(config: &Config) -> Opened {
    let section = &config.secondary_storage_postgres;
    let options = PostgresOptions {
        url: section.url.0.clone(),
        username: section.username.clone().map(|username| username.0).unwrap_or_default(),
        password: section.password.0.clone(),
        schema: section.schema.0.clone(),
        readers: section.readers,
        query_timeout: config.secondary_storage.query_timeout,
        connect_timeout: section.connect_timeout,
        write_timeout: section.write_timeout,
    };
    let reader = Arc::new(PostgresReader::new(options.clone()));
    let cleaner = Box::new(PostgresCleaner::new(options.clone()));
    opened(config, reader, cleaner, move |partition| {
        let writer = PostgresWriter::new(options.clone(), partition);
        (Box::new(writer), Box::new(PostgresLoader::new(options.clone())))
    })
}
