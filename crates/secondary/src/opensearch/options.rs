//! Options of the store.

use std::time::Duration;

use opensearch::Limits;
use search::model::Entity;

/// Options of the store.
#[derive(Debug, Clone)]
pub struct OpensearchOptions {
    /// The nodes.
    pub client: opensearch::Options,
    /// Prefix of the names of all indices, aliases, templates and scripts.
    pub index_prefix: String,
    /// Shards of each new index.
    pub number_of_shards: u32,
    /// Replicas of each shard.
    pub number_of_replicas: u32,
    /// How long a query may take.
    pub query_timeout: Duration,
    /// How much is written at once.
    pub bulk: Limits,
}

impl OpensearchOptions {
    /// The defaults, for one node.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            client: opensearch::Options::new(url),
            index_prefix: "baton".to_owned(),
            number_of_shards: 1,
            number_of_replicas: 1,
            query_timeout: Duration::from_secs(10),
            bulk: Limits::default(),
        }
    }

    /// The name by which rows of an entity are read and written.
    pub(super) fn alias(&self, entity: &Entity) -> String {
        format!("{}-{}", self.index_prefix, entity.name)
    }

    /// The name by which positions are read and written.
    pub(super) fn progress(&self) -> String {
        format!("{}-progress", self.index_prefix)
    }
}
