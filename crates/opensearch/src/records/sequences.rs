//! The numbers by which readers ask for the next so many records of a value type.
//!
//! They count the records of a value type in a partition, so that a range of numbers holds about as many records.
//! How far they are is noted in the store before records with them are sent, so that none is given twice; what is
//! sent again after a failure gets new ones, and the old ones stay unused.

use std::collections::BTreeMap;

use http::{Method, StatusCode};
use protocol::{PartitionId, ValueType, compose_key};
use serde_json::json;

use super::answer::{done, failed};
use super::options::RecordOptions;
use crate::blocking::Blocking;
use export::ExportError;

/// How far the numbers of one partition are.
#[derive(Debug)]
pub(super) struct Sequences {
    partition: PartitionId,
    /// The index in which they are noted; aliases and patterns of records do not match it.
    index: String,
    number_of_replicas: u32,
    /// The last one of each value type; unknown until they are asked for.
    last: Option<BTreeMap<String, u64>>,
    is_noted: bool,
}

impl Sequences {
    pub(super) fn new(partition: PartitionId, options: &RecordOptions) -> Self {
        let index = format!("sequences-of-{}", options.index_prefix);
        Self { partition, index, number_of_replicas: options.number_of_replicas, last: None, is_noted: true }
    }

    /// Sequences since the last note may have been lost.
    pub(super) fn forget(&mut self) {
        (self.last, self.is_noted) = (None, true);
    }

    /// The number of the next record of a value type. Numbers of partitions differ as their keys do.
    pub(super) fn next(&mut self, client: &Blocking, value_type: ValueType) -> Result<u64, ExportError> {
        let last = match &mut self.last {
            Some(last) => last,
            None => self.last.insert(read(client, &self.index, self.partition, self.number_of_replicas)?),
        };
        self.is_noted = false;
        if let Some(last) = last.get_mut(value_type.as_str()) {
            *last += 1;
            return Ok(compose_key(self.partition, *last));
        }
        last.insert(value_type.as_str().to_owned(), 1);
        Ok(compose_key(self.partition, 1))
    }

    /// Notes how far they are; to be done before records with them are sent.
    pub(super) fn note(&mut self, client: &Blocking) -> Result<(), ExportError> {
        if !self.is_noted {
            let path = format!("/{}/_doc/{}", self.index, self.partition);
            done(client.json(Method::PUT, &path, Some(&json!({ "last": self.last }))).map_err(failed)?)?;
            self.is_noted = true;
        }
        Ok(())
    }
}

/// Reads what is noted, and makes the index if there is none.
fn read(
    client: &Blocking,
    index: &str,
    partition: PartitionId,
    number_of_replicas: u32,
) -> Result<BTreeMap<String, u64>, ExportError> {
    let path = format!("/{index}/_doc/{partition}");
    let answer = client.json(Method::GET, &path, None).map_err(failed)?;
    if answer.status == StatusCode::NOT_FOUND {
        let body = json!({
            "settings": { "index": { "number_of_shards": 1, "number_of_replicas": number_of_replicas } },
            "mappings": { "dynamic": false },
        });
        let made = client.json(Method::PUT, &format!("/{index}"), Some(&body)).map_err(failed)?;
        if !made.reason().contains("resource_already_exists") {
            done(made)?;
        }
        return Ok(BTreeMap::new());
    }
    let mut document = done(answer)?.json().map_err(failed)?;
    match document["_source"]["last"].take() {
        serde_json::Value::Null => Ok(BTreeMap::new()),
        last => serde_json::from_value(last)
            .map_err(|error| ExportError::Target(format!("document '{partition}' of '{index}': {error}"))),
    }
}
