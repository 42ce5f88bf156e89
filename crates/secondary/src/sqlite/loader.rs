//! Models that were deployed before the exporter began.

use protocol::{Key, Name};
use rusqlite::OptionalExtension as _;
use search::StoreError;

use super::SqliteOptions;
use super::error::failed;
use crate::projection::{DeployedModel, Loader};

/// Finds models in the store.
pub struct SqliteLoader(SqliteOptions);

impl SqliteLoader {
    /// A loader that looks into a file.
    pub fn new(options: SqliteOptions) -> Self {
        Self(options)
    }
}

impl Loader for SqliteLoader {
    fn load(&mut self, process_definition_key: Key) -> Result<Option<DeployedModel>, StoreError> {
        let connection = self.0.connect_to_read()?;
        let row = connection.query_row(
            "SELECT \"processDefinitionId\", COALESCE(version, 0), xml FROM process_definition \
             WHERE \"processDefinitionKey\"=?1",
            [process_definition_key.cast_signed()],
            |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, String>(2)?)),
        );
        let row = row.optional().map_err(failed)?;
        Ok(row.map(|(id, version, xml)| DeployedModel::stored(Name::from(id), version, Name::from(xml))))
    }
}
