//! Rows of records: audit log, batch operations, usage.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod agents;
mod audit_log;
mod batch_operations;
mod counts;
mod incidents;
mod messages;
mod steps;
mod usage;
mod wait_states;

use std::collections::BTreeMap;

use protocol::{Actor, Intent, Key, Record, RecordValue, testing};
use search::model::Entity;
use search::{StoreError, Value};
use secondary::{AuditSettings, Batch, DeployedModel, Loader, Projection};

/// Knows no model.
pub struct Nothing;

impl Loader for Nothing {
    fn load(&mut self, _: Key) -> Result<Option<DeployedModel>, StoreError> {
        Ok(None)
    }
}

/// A record of something that nobody asked for.
pub fn record(position: u64, key: Key, intent: Intent, value: impl Into<RecordValue>) -> Record {
    Record { key, timestamp_ms: 1000 + position.cast_signed(), ..testing::record(position, intent, value) }
}

/// A record of something that an actor asked for.
pub fn asked(by: &Actor, record: Record) -> Record {
    Record { actor: Some(by.clone()), ..record }
}

/// Rows of an entity after some records: what is set, and by how much the rest has grown.
pub fn rows(
    entity: &'static Entity,
    settings: &AuditSettings,
    records: &[Record],
) -> Vec<BTreeMap<&'static str, String>> {
    rows_by(Projection::new(Box::new(Nothing)).with_audit(settings.clone()), entity, records)
}

/// Rows of an entity after some records, by another projection.
pub fn rows_by(
    mut projection: Projection,
    entity: &'static Entity,
    records: &[Record],
) -> Vec<BTreeMap<&'static str, String>> {
    let mut batch = Batch::default();
    for record in records {
        projection.apply(record, &mut batch);
    }
    let text = |value: &Value| match value {
        Value::Null => "null".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => text.to_string(),
    };
    let changes = batch.changes().iter().filter(|change| change.entity == entity.id);
    changes
        .map(|change| {
            let mut row = BTreeMap::from([(entity.columns[0].name, text(&change.id.value()))]);
            for (column, value) in change.values.iter().filter(|(_, value)| *value != Value::Null) {
                row.insert(entity.columns[*column as usize].name, text(value));
            }
            for (column, amount) in &change.increments {
                row.insert(entity.columns[*column as usize].name, format!("+{amount}"));
            }
            row
        })
        .collect()
}
