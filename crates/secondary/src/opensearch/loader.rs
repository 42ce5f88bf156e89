//! Models that were deployed before the exporter began.

use ::opensearch::{Blocking, Method};
use protocol::{Key, Name};

use super::OpensearchOptions;
use super::row::{document_id, escaped};
use crate::change::RowId;
use crate::model::process_definition as definition;
use crate::projection::Loader;

/// Finds models in the store.
pub struct OpensearchLoader(OpensearchOptions);

impl OpensearchLoader {
    /// A loader that asks a store.
    pub fn new(options: OpensearchOptions) -> Self {
        Self(options)
    }
}

impl Loader for OpensearchLoader {
    fn load(&mut self, process_definition_key: Key) -> Option<(Name, Name)> {
        let client = Blocking::new(&self.0.client).ok()?;
        let id = escaped(&document_id(&RowId::Key(process_definition_key)));
        let path = format!("/{}/_doc/{id}", self.0.alias(&definition::ENTITY));
        let answer = client.json(Method::GET, &path, None).ok()?;
        let body = answer.json().ok()?;
        let text = |column: u8| {
            let name = definition::ENTITY.columns[column as usize].name;
            body["_source"][name].as_str().map(Name::from)
        };
        Some((text(definition::PROCESS_ID)?, text(definition::XML)?))
    }
}
