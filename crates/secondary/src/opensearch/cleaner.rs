//! Removing rows.

use opensearch::{Blocking, Method};
use serde_json::{Value as Json, json};

use super::row::to_json;
use super::{OpensearchOptions, condition, expect, unanswered};
use crate::model::{ColumnId, Entity};
use crate::store::{Cleaner, StoreError};
use crate::value::Value;

/// How often rows are looked for that somebody has changed meanwhile.
const ATTEMPTS_MAX: u32 = 5;

/// Removes rows.
pub struct OpensearchCleaner {
    options: OpensearchOptions,
    client: Option<Blocking>,
}

impl OpensearchCleaner {
    /// A cleaner that is not open yet.
    pub fn new(options: OpensearchOptions) -> Self {
        Self { options, client: None }
    }
}

impl Cleaner for OpensearchCleaner {
    fn open(&mut self) -> Result<(), StoreError> {
        self.client = Some(Blocking::new(&self.options.client).map_err(unanswered)?);
        Ok(())
    }

    fn remove(
        &mut self,
        entity: &'static Entity,
        column: ColumnId,
        values: &[Value],
        limit: u32,
    ) -> Result<u64, StoreError> {
        let Some(client) = &self.client else {
            return Err(StoreError::Unavailable("the store is not open".to_owned()));
        };
        let column = &entity.columns[column as usize];
        let values: Vec<Json> = values.iter().filter_map(|value| to_json(value, column.kind)).collect();
        let body = json!({ "query": condition::one_of(column, values) });
        let mut removed = 0;
        for _ in 0..ATTEMPTS_MAX {
            // Without the refresh, what is gone would be found once more, and the rest not be looked for.
            let path = format!(
                "/{}/_delete_by_query?conflicts=proceed&refresh=true&max_docs={}",
                self.options.alias(entity),
                u64::from(limit) - removed
            );
            let answer = expect(&client.json(Method::POST, &path, Some(&body)).map_err(unanswered)?)?;
            if let Some(failure) = answer["failures"].get(0) {
                return Err(StoreError::Unavailable(failure.to_string()));
            }
            removed += answer["deleted"].as_u64().unwrap_or(0);
            if answer["version_conflicts"] == 0 || removed >= u64::from(limit) {
                return Ok(removed);
            }
        }
        Err(StoreError::Unavailable(format!("rows of {} are changed while they are removed", entity.name)))
    }

    /// The store merges what is left by itself.
    fn reclaim(&mut self) -> Result<bool, StoreError> {
        Ok(false)
    }
}
