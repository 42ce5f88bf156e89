//! How stores of documents beside the first are written: each with a name and the same keys as that.

use std::fmt;

use super::Config;
use super::sections::DocumentsBucket;
use super::source::{Entry, Origin};
use super::value::{DocumentStoreKind, Setting};

/// The longest name of a store, in characters.
const NAME_CHARS_MAX: usize = 100;
/// How many there may be: each has connections and a look at what has expired of its own.
const STORES_MAX: usize = 32;

/// Stores with names. They may hold secrets, so they are shown by their names alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct NamedStores(Vec<NamedStore>);

/// One of them: its name, and keys below `documents.` with their values.
#[derive(Clone, PartialEq, Eq)]
struct NamedStore {
    name: String,
    keys: Vec<(String, String)>,
}

impl fmt::Debug for NamedStores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|store| &store.name)).finish()
    }
}

impl Setting for NamedStores {
    const EXPECTED: &'static str =
        "stores such as 'archive kind=s3 bucket.name=old-files s3.region=eu-west-1', separated by ';'";
    const IS_SECRET: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        let stores: Vec<NamedStore> = parts.map(store).collect::<Option<_>>()?;
        (stores.len() <= STORES_MAX).then_some(Self(stores))
    }

    fn show(&self) -> String {
        self.0.iter().map(|store| store.name.as_str()).collect::<Vec<_>>().join("; ")
    }
}

fn store(text: &str) -> Option<NamedStore> {
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.len() > NAME_CHARS_MAX || !name.chars().all(is_plain) {
        return None;
    }
    let keys = words.map(|word| word.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())));
    Some(NamedStore { name: name.to_owned(), keys: keys.collect::<Option<_>>()? })
}

impl NamedStores {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|store| store.name.as_str())
    }

    /// Each as if it were the only one. Limits and times of a store default to those of the first store;
    /// where it is, it says itself.
    pub(super) fn resolved(&self, first: &Config) -> Vec<(&str, Result<Config, String>)> {
        self.0.iter().map(|store| (store.name.as_str(), store.resolved(first))).collect()
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
