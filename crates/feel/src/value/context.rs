//! Contexts: entries in the order in which they were written.

use super::{Extent, Value};
use crate::json;
use bytes::Bytes;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A shared context, perhaps still raw JSON.
#[derive(Clone)]
pub struct Context(Arc<Node>);

struct Node {
    raw: Option<Bytes>,
    /// Whether the raw text was searched before: the second search of a large one reads it in.
    searched: AtomicBool,
    entries: OnceLock<Entries>,
    extent: Extent,
}

#[derive(Default)]
struct Entries {
    list: Vec<(Arc<str>, Value)>,
    /// Positions ordered by key, only for contexts too large to search through.
    order: Vec<u32>,
}

/// Up to here a context is searched entry by entry.
const LINEAR_ENTRIES_MAX: usize = 12;
/// Raw objects up to this many bytes are searched each time and never read in.
const SEARCH_BYTES_MAX: usize = 512;

impl Context {
    /// A context; of entries with the same key the last value wins at the place of the first.
    pub fn new(entries: Vec<(Arc<str>, Value)>) -> Self {
        let parts = entries.iter().map(|(key, value)| {
            let mut part = value.extent();
            part.weight = part.weight.saturating_add((key.len() / 8) as u32);
            part
        });
        let mut extent = Extent::around(parts);
        let entries = Entries::new(entries);
        // An entry overwritten by a later one of the same key is not written.
        let written = entries.list.iter().map(|(key, value)| key.len() as u64 + value.extent().json_bytes);
        extent.json_bytes = written.fold(2, u64::saturating_add);
        let entries = OnceLock::from(entries);
        Self(Arc::new(Node { raw: None, searched: AtomicBool::new(false), entries, extent }))
    }

    pub(crate) fn from_raw(raw: Bytes, json_depth: u16) -> Self {
        let extent = Extent::of_json(raw.len(), json_depth);
        Self(Arc::new(Node {
            raw: Some(raw),
            searched: AtomicBool::new(false),
            entries: OnceLock::new(),
            extent,
        }))
    }

    /// How deep the JSON of an entry is nested at the most.
    fn inside(&self) -> u16 {
        self.0.extent.json_depth.saturating_sub(1)
    }

    fn entries(&self) -> &Entries {
        self.0.entries.get_or_init(|| {
            self.0
                .raw
                .as_ref()
                .map(|raw| Entries::new(json::read_entries(raw, self.inside())))
                .unwrap_or_default()
        })
    }

    /// The value of an entry.
    pub fn get(&self, key: &str) -> Option<Value> {
        if let Some(entries) = self.0.entries.get() {
            return entries.position(key).map(|index| entries.list[index].1.clone());
        }
        let raw = self.0.raw.as_ref()?;
        if raw.len() <= SEARCH_BYTES_MAX || !self.0.searched.swap(true, Ordering::Relaxed) {
            return json::find_entry(raw, key, self.inside());
        }
        let entries = self.entries();
        entries.position(key).map(|index| entries.list[index].1.clone())
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries().list.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries().list.is_empty()
    }

    /// The entries in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Arc<str>, Value)> {
        self.entries().list.iter()
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.iter().map(|(key, _)| key)
    }

    /// A copy with one entry set; a new key comes last.
    #[must_use]
    pub fn with(&self, key: &str, value: Value) -> Self {
        let mut list = self.entries().list.clone();
        match self.entries().position(key) {
            Some(index) => list[index].1 = value,
            None => list.push((Arc::from(key), value)),
        }
        Self::new(list)
    }

    /// The JSON of the context if its entries have not been read yet.
    pub(crate) fn unread(&self) -> Option<&Bytes> {
        if self.0.entries.get().is_some() { None } else { self.0.raw.as_ref() }
    }

    /// Whether the next search reads all entries.
    pub(crate) fn reads_all_next(&self) -> bool {
        self.unread().is_some_and(|raw| raw.len() > SEARCH_BYTES_MAX)
            && self.0.searched.load(Ordering::Relaxed)
    }

    pub(crate) fn raw(&self) -> Option<&Bytes> {
        self.0.raw.as_ref()
    }

    pub(crate) fn extent(&self) -> Extent {
        self.0.extent
    }
}

impl Entries {
    fn new(mut list: Vec<(Arc<str>, Value)>) -> Self {
        if list.len() <= LINEAR_ENTRIES_MAX {
            let mut index = 1;
            while index < list.len() {
                if let Some(first) = list[..index].iter().position(|(key, _)| *key == list[index].0) {
                    list[first].1 = list.remove(index).1;
                } else {
                    index += 1;
                }
            }
            return Self { list, order: Vec::new() };
        }
        let mut order: Vec<u32> = (0..list.len() as u32).collect();
        order.sort_by(|left, right| list[*left as usize].0.cmp(&list[*right as usize].0));
        if order.windows(2).all(|pair| list[pair[0] as usize].0 != list[pair[1] as usize].0) {
            return Self { list, order };
        }
        Self::new(without_duplicates(list, &order))
    }

    fn position(&self, key: &str) -> Option<usize> {
        if self.order.is_empty() {
            return self.list.iter().position(|(candidate, _)| &**candidate == key);
        }
        let found = self.order.binary_search_by(|index| (*self.list[*index as usize].0).cmp(key)).ok()?;
        Some(self.order[found] as usize)
    }
}

/// `order` is stable: among equal keys the positions ascend.
fn without_duplicates(mut list: Vec<(Arc<str>, Value)>, order: &[u32]) -> Vec<(Arc<str>, Value)> {
    let mut keep = vec![true; list.len()];
    let mut start = 0;
    while start < order.len() {
        let first = order[start] as usize;
        let mut end = start + 1;
        while end < order.len() && list[order[end] as usize].0 == list[first].0 {
            keep[order[end] as usize] = false;
            end += 1;
        }
        if end - start > 1 {
            list[first].1 = std::mem::take(&mut list[order[end - 1] as usize].1);
        }
        start = end;
    }
    let mut keep = keep.into_iter();
    list.retain(|_| keep.next().unwrap_or(true));
    list
}

impl<'a> IntoIterator for &'a Context {
    type Item = &'a (Arc<str>, Value);
    type IntoIter = std::slice::Iter<'a, (Arc<str>, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter().map(|(key, value)| (key, value))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: usize, distinct: usize) -> Vec<(Arc<str>, Value)> {
        (0..count)
            .map(|index| (Arc::from(format!("k{}", index % distinct)), Value::from(index as i64)))
            .collect()
    }

    #[test]
    fn the_last_value_wins_at_the_place_of_the_first() {
        for distinct in [3, 20] {
            let context = Context::new(entries(50, distinct));
            assert_eq!(context.len(), distinct);
            let keys: Vec<String> = context.keys().map(ToString::to_string).collect();
            assert_eq!(keys, (0..distinct).map(|index| format!("k{index}")).collect::<Vec<_>>());
            for index in 0..distinct {
                let last = (0..50).rev().find(|value| value % distinct == index).unwrap() as i64;
                assert_eq!(context.get(&format!("k{index}")).unwrap().as_i64(), Some(last));
            }
        }
    }

    #[test]
    fn raw_objects_answer_like_read_ones() {
        let text = format!(r#"{{"a":1,"pad":"{}","b":{{"c":true}}}}"#, "x".repeat(600));
        let context = Context::from_raw(Bytes::from(text), 1);
        for _ in 0..3 {
            assert_eq!(context.get("a").unwrap().as_i64(), Some(1));
            assert!(context.get("missing").is_none());
            assert_eq!(
                context.get("b").unwrap().as_context().unwrap().get("c").unwrap().as_bool(),
                Some(true)
            );
        }
    }
}
