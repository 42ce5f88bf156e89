//! Models that were deployed before the exporter began.

use protocol::{Key, Name};
use rusqlite::OptionalExtension as _;
use search::StoreError;

use super::{SqliteOptions, failed};
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
    fn load(&mut self, process_definition_key: Key) -> Result<Option<(Name, Name)>, StoreError> {
        let connection = self.0.connect_to_read()?;
        let row = connection.query_row(
            "SELECT \"processDefinitionId\", xml FROM process_definition WHERE \"processDefinitionKey\"=?1",
            [process_definition_key.cast_signed()],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
        );
        let row = row.optional().map_err(failed)?;
        Ok(row.map(|(id, xml)| (Name::from(id), Name::from(xml))))
    }
}
