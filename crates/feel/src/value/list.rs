//! Lists.

use super::{Extent, Value};
use crate::json;
use bytes::Bytes;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A shared list of values, perhaps still raw JSON.
#[derive(Clone)]
pub struct List(Arc<Node>);

struct Node {
    raw: Option<Bytes>,
    items: OnceLock<Vec<Value>>,
    extent: Extent,
}

impl List {
    /// A list of values.
    pub fn new(items: Vec<Value>) -> Self {
        let extent = Extent::around(items.iter().map(Value::extent));
        Self(Arc::new(Node { raw: None, items: OnceLock::from(items), extent }))
    }

    pub(crate) fn from_raw(raw: Bytes, json_depth: u16) -> Self {
        let extent = Extent::of_json(raw.len(), json_depth);
        Self(Arc::new(Node { raw: Some(raw), items: OnceLock::new(), extent }))
    }

    /// The items; raw JSON is read one level deep, once.
    pub fn items(&self) -> &[Value] {
        self.0.items.get_or_init(|| {
            let inside = self.0.extent.json_depth.saturating_sub(1);
            self.0.raw.as_ref().map(|raw| json::read_items(raw, inside)).unwrap_or_default()
        })
    }

    /// The text of each item, if the list came from JSON: found without creating values.
    pub fn json_items(&self) -> Option<impl Iterator<Item = &[u8]>> {
        self.0.raw.as_ref().map(|raw| json::item_texts(raw))
    }

    /// Bytes of the list, if it came from JSON.
    pub fn raw_bytes(&self) -> Option<usize> {
        self.0.raw.as_ref().map(Bytes::len)
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items().len()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.items().is_empty()
    }

    /// The items in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Value> {
        self.items().iter()
    }

    /// The item at a position from 0.
    pub fn get(&self, index: usize) -> Option<&Value> {
        self.items().get(index)
    }

    /// Appends, without a copy if the list is not shared. Returns whether it was copied.
    pub(crate) fn push(&mut self, value: Value) -> bool {
        if let Some(node) = Arc::get_mut(&mut self.0)
            && node.raw.is_none()
            && let Some(items) = node.items.get_mut()
        {
            node.extent = node.extent.with(value.extent());
            items.push(value);
            return false;
        }
        let mut items = self.items().to_vec();
        items.push(value);
        *self = Self::new(items);
        true
    }

    /// Whether the list is shared. Only valid for a list created in the same evaluation.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// The JSON of the list if its items have not been read yet.
    pub(crate) fn unread(&self) -> Option<&Bytes> {
        if self.0.items.get().is_some() { None } else { self.0.raw.as_ref() }
    }

    pub(crate) fn raw(&self) -> Option<&Bytes> {
        self.0.raw.as_ref()
    }

    pub(crate) fn extent(&self) -> Extent {
        self.0.extent
    }
}

impl fmt::Debug for List {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.items()).finish()
    }
}

impl<'a> IntoIterator for &'a List {
    type Item = &'a Value;
    type IntoIter = std::slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
