//! Models that were deployed before the exporter began.

use ::opensearch::{Blocking, Method};
use protocol::{Key, Name};
use search::StoreError;
use search::model::process_definition as definition;

use super::answer::{found, unanswered};
use super::options::OpensearchOptions;
use super::row::{document_id, escaped};
use crate::change::RowId;
use crate::projection::{DeployedModel, Loader};

/// Finds models in the store.
pub struct OpensearchLoader(OpensearchOptions);

impl OpensearchLoader {
    /// A loader that asks a store.
    pub fn new(options: OpensearchOptions) -> Self {
        Self(options)
    }
}

impl Loader for OpensearchLoader {
    fn load(&mut self, process_definition_key: Key) -> Result<Option<DeployedModel>, StoreError> {
        let client = Blocking::new(&self.0.client).map_err(unanswered)?;
        let id = escaped(&document_id(&RowId::Key(process_definition_key)));
        let path = format!("/{}/_doc/{id}", self.0.alias(&definition::ENTITY));
        let body = found(&client.json(Method::GET, &path, None).map_err(unanswered)?)?;
        let Some(body) = body else { return Ok(None) };
        let text = |column: u8| {
            let name = definition::ENTITY.columns[column as usize].name;
            body["_source"][name].as_str().map(Name::from)
        };
        let version = &body["_source"][definition::ENTITY.columns[definition::VERSION as usize].name];
        let stored = text(definition::PROCESS_ID).zip(text(definition::XML));
        Ok(stored.map(|(id, xml)| DeployedModel::stored(id, version.as_i64().unwrap_or(0), xml)))
    }
}
