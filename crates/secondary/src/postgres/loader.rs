//! Models that were deployed before the exporter began.

use protocol::{Key, Name};
use search::StoreError;

use super::{PostgresOptions, own_runtime, within};
use crate::projection::{DeployedModel, Loader};

/// Finds models in the store. Connects for each of them: it is seldom asked.
pub struct PostgresLoader(PostgresOptions);

impl PostgresLoader {
    /// A loader that looks into a database.
    pub fn new(options: PostgresOptions) -> Self {
        Self(options)
    }
}

impl Loader for PostgresLoader {
    fn load(&mut self, process_definition_key: Key) -> Result<Option<DeployedModel>, StoreError> {
        let query = "SELECT \"processDefinitionId\", COALESCE(version, 0), xml FROM process_definition \
                     WHERE \"processDefinitionKey\"=$1 AND \"processDefinitionId\" IS NOT NULL AND xml IS NOT NULL";
        own_runtime()?.run(async {
            let mut connection = self.0.connect(self.0.write_timeout).await?;
            let found = sqlx::query_as::<_, (String, i64, String)>(query)
                .bind(process_definition_key.cast_signed())
                .fetch_optional(&mut connection);
            let row = within(self.0.write_timeout, found).await?;
            Ok(row.map(|(id, version, xml)| DeployedModel::stored(Name::from(id), version, Name::from(xml))))
        })
    }
}
