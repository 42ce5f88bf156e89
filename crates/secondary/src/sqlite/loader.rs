//! Models that were deployed before the exporter began.

use protocol::{Key, Name};
use rusqlite::OptionalExtension as _;

use super::SqliteOptions;
use crate::projection::Loader;

/// Finds models in the store.
pub struct SqliteLoader(SqliteOptions);

impl SqliteLoader {
    /// A loader that looks into a file.
    pub fn new(options: SqliteOptions) -> Self {
        Self(options)
    }
}

impl Loader for SqliteLoader {
    fn load(&mut self, process_definition_key: Key) -> Option<(Name, Name)> {
        let connection = self.0.connect().ok()?;
        let row = connection.query_row(
            "SELECT \"processDefinitionId\", xml FROM process_definition WHERE \"processDefinitionKey\"=?1",
            [process_definition_key.cast_signed()],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
        );
        let (id, xml) = row.optional().ok()??;
        Some((Name::from(id), Name::from(xml)))
    }
}
