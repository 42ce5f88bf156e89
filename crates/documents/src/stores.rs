//! Several stores beside each other, told apart by their IDs. One of them is meant when nobody names one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Documents, Error};

/// The stores that there are, at least one.
#[derive(Debug, Clone)]
pub struct Stores {
    default: Documents,
    all: Arc<BTreeMap<String, Documents>>,
}

impl Stores {
    /// All of these; the one with this ID is meant if nobody names one.
    pub fn new(default: &str, stores: impl IntoIterator<Item = Documents>) -> Result<Self, Error> {
        let mut all = BTreeMap::new();
        for store in stores {
            let id = store.store_id().to_owned();
            if all.insert(id.clone(), store).is_some() {
                return Err(Error::Invalid(format!("there are two document stores '{id}'")));
            }
        }
        let Some(default) = all.get(default).cloned() else {
            return Err(Error::Invalid(format!("there is no document store '{default}'")));
        };
        Ok(Self { default, all: Arc::new(all) })
    }

    /// The store with this ID, or the one that is meant without.
    pub fn get(&self, id: Option<&str>) -> Option<&Documents> {
        id.map_or(Some(&self.default), |id| self.all.get(id))
    }

    /// All of them, in the order of their IDs.
    pub fn iter(&self) -> impl Iterator<Item = &Documents> {
        self.all.values()
    }
}

impl From<Documents> for Stores {
    fn from(only: Documents) -> Self {
        let id = only.store_id().to_owned();
        Self { default: only.clone(), all: Arc::new(BTreeMap::from([(id, only)])) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(id: &str) -> Documents {
        Documents::in_memory(id, 10)
    }

    #[test]
    fn a_store_is_found_by_its_id_and_one_of_them_without() {
        let stores = Stores::new("b", ["c", "b", "a"].map(store)).unwrap();
        let id = |id| stores.get(id).map(Documents::store_id);
        assert_eq!([id(None), id(Some("a")), id(Some("d"))], [Some("b"), Some("a"), None]);
        assert_eq!(stores.iter().map(Documents::store_id).collect::<Vec<_>>(), ["a", "b", "c"]);
        let only = Stores::from(store("a"));
        assert_eq!(only.get(None).unwrap().store_id(), only.get(Some("a")).unwrap().store_id());
        assert!(only.get(Some("b")).is_none());
    }

    #[test]
    fn ids_are_there_once_and_the_default_is_one_of_them() {
        let told = |error: Error| error.to_string();
        assert_eq!(
            told(Stores::new("a", ["a", "a"].map(store)).unwrap_err()),
            "there are two document stores 'a'"
        );
        assert_eq!(told(Stores::new("b", [store("a")]).unwrap_err()), "there is no document store 'b'");
    }
}
