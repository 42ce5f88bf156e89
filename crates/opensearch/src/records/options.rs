//! Options of the exporter of records.

use crate::bulk::Limits;
use crate::options::Options;
use protocol::ValueType;
use std::time::Duration;

/// Options of the exporter of records.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// The nodes.
    pub client: Options,
    /// Prefix of the names of all indices, aliases and templates.
    pub index_prefix: String,
    /// Shards of each index.
    pub number_of_shards: u32,
    /// Replicas of each shard.
    pub number_of_replicas: u32,
    /// How much is sent at once.
    pub bulk: Limits,
    /// Time that records wait for a full bulk request.
    pub delay: Duration,
    /// Exported value types; all if empty.
    pub include: Vec<ValueType>,
    /// Value types that are not exported.
    pub exclude: Vec<ValueType>,
}

impl RecordOptions {
    /// The defaults, for one node.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            client: Options::new(url),
            index_prefix: "zeebe-record".to_owned(),
            number_of_shards: 1,
            number_of_replicas: 0,
            bulk: Limits::default(),
            delay: Duration::from_secs(5),
            include: Vec::new(),
            exclude: Vec::new(),
        }
    }

    pub(super) fn is_wanted(&self, value_type: ValueType) -> bool {
        (self.include.is_empty() || self.include.contains(&value_type)) && !self.exclude.contains(&value_type)
    }
}
