//! How stores of documents beside the first are written: each with a name and the same keys as that.

use std::fmt;

use super::value::Setting;

/// The longest name of a store, in characters.
const NAME_CHARS_MAX: usize = 100;
/// How many there may be: each has connections and a look at what has expired of its own.
const STORES_MAX: usize = 32;

/// Stores with names. They may hold secrets, so they are shown by their names alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct NamedStores(Vec<NamedStore>);

/// One of them: its name, and keys below `documents.` with their values.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct NamedStore {
    pub(super) name: String,
    pub(super) keys: Vec<(String, String)>,
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

    pub(super) fn iter(&self) -> impl Iterator<Item = &NamedStore> {
        self.0.iter()
    }
}
