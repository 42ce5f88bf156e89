//! Configurations of the stores of documents beside the first.

use super::Config;
use super::document_stores::{NamedStore, NamedStores};
use super::sections::DocumentsBucket;
use super::source::{Entry, Origin};
use super::value::DocumentStoreKind;

impl NamedStores {
    /// Each as if it were the only one. Limits and times of a store default to those of the first store; its place
    /// has no default.
    pub(super) fn resolved(&self, first: &Config) -> Vec<(&str, Result<Config, String>)> {
        self.iter().map(|store| (store.name.as_str(), store.resolved(first))).collect()
    }
}

impl NamedStore {
    fn resolved(&self, first: &Config) -> Result<Config, String> {
        let mut config = Config::default();
        config.data.directory.clone_from(&first.data.directory);
        config.documents.max_bytes = first.documents.max_bytes;
        config.documents.time_to_live = first.documents.time_to_live;
        config.documents_bucket =
            DocumentsBucket { name: None, prefix: None, ..first.documents_bucket.clone() };
        for (key, text) in &self.keys {
            let is_own = !["stores", "default_store"].contains(&key.as_str());
            let origin = Origin::Flag("documents.stores".to_owned());
            let entry = Entry { text: text.clone(), origin };
            match config.set(&format!("documents.{key}"), &entry).filter(|_| is_own) {
                Some(Ok(())) => {}
                Some(Err(problem)) => return Err(problem.reason),
                None => return Err(format!("there is no key '{key}'")),
            }
        }
        let says = |wanted: &str| self.keys.iter().any(|(key, _)| key == wanted);
        if !says("kind") {
            return Err("it needs 'kind'".to_owned());
        }
        if config.documents.kind == DocumentStoreKind::None {
            return Err("'kind' none is no store".to_owned());
        }
        // The one that is the default belongs to the first.
        if config.documents.kind == DocumentStoreKind::Directory && !says("directory") {
            return Err("'kind' directory needs 'directory'".to_owned());
        }
        Ok(config)
    }
}
