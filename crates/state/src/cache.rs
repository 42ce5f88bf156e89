//! Clean values: decoded rows as they are on disk, shared by all tables of a store, bounded by weight.

use std::{
    any::Any,
    hash::{Hash, Hasher},
    sync::Arc,
};

use quick_cache::{
    DefaultHashBuilder, Equivalent, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};

/// A decoded value of some type.
pub(crate) type AnyValue = Arc<dyn Any + Send + Sync>;

/// The value of a table with values of type `V`.
pub(crate) fn typed<V: Any + Send + Sync>(value: AnyValue) -> Arc<V> {
    value.downcast().expect("a table has values of one type")
}

/// Bytes of an entry beyond its key and value.
const ENTRY_OVERHEAD_BYTES: u64 = 96;
/// A guess from which the cache sizes its bookkeeping; far off is good enough.
const ENTRY_BYTES_GUESS: u64 = 512;
/// The reader and the flush meet here, nobody else.
const SHARDS: usize = 4;

#[derive(Debug)]
pub(crate) struct CleanCache(Option<Cache<RowKey, CleanValue, RowWeight>>);

/// Table number and encoded key.
#[derive(Debug, PartialEq, Eq)]
struct RowKey {
    table: u32,
    key: Box<[u8]>,
}

#[derive(Debug, Clone)]
struct CleanValue {
    value: AnyValue,
    weight: usize,
}

#[derive(Debug, Clone)]
struct RowWeight;

impl Weighter<RowKey, CleanValue> for RowWeight {
    fn weight(&self, key: &RowKey, value: &CleanValue) -> u64 {
        key.key.len() as u64 + value.weight as u64 + ENTRY_OVERHEAD_BYTES
    }
}

/// A [`RowKey`] that borrows its bytes.
struct RowKeyRef<'a> {
    table: u32,
    key: &'a [u8],
}

impl Hash for RowKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        RowKeyRef { table: self.table, key: &self.key }.hash(state);
    }
}

impl Hash for RowKeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.table);
        state.write(self.key);
    }
}

impl Equivalent<RowKey> for RowKeyRef<'_> {
    fn equivalent(&self, other: &RowKey) -> bool {
        self.table == other.table && *self.key == *other.key
    }
}

impl CleanCache {
    /// A cache of at most that many bytes; 0 for none.
    pub(crate) fn new(bytes_max: u64) -> Self {
        let items = usize::try_from(bytes_max / ENTRY_BYTES_GUESS).unwrap_or(usize::MAX);
        let options = OptionsBuilder::new()
            .shards(SHARDS)
            .estimated_items_capacity(items)
            .weight_capacity(bytes_max)
            .build()
            .ok()
            .filter(|_| bytes_max > 0);
        Self(options.map(|options| {
            Cache::with_options(
                options,
                RowWeight,
                DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            )
        }))
    }

    pub(crate) fn get(&self, table: u32, key: &[u8]) -> Option<AnyValue> {
        Some(self.0.as_ref()?.get(&RowKeyRef { table, key })?.value)
    }

    /// Keeps a value, whose weight is in bytes.
    pub(crate) fn insert(&self, table: u32, key: &[u8], value: AnyValue, weight: usize) {
        if let Some(cache) = &self.0 {
            cache.insert(RowKey { table, key: key.into() }, CleanValue { value, weight });
        }
    }

    pub(crate) fn remove(&self, table: u32, key: &[u8]) {
        if let Some(cache) = &self.0 {
            cache.remove(&RowKeyRef { table, key });
        }
    }

    /// Bytes held, by estimate.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, Cache::weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_fits_and_forgets_what_is_removed() {
        let cache = CleanCache::new(64 * 1024);
        for key in 0..10_000u64 {
            cache.insert(1, &key.to_be_bytes(), Arc::new(key), 8);
        }
        assert!(cache.bytes() <= 64 * 1024);
        assert!(cache.bytes() > 16 * 1024);

        let get = |table| cache.get(table, b"a").map(|value| *value.downcast::<u64>().unwrap());
        cache.insert(1, b"a", Arc::new(5u64), 8);
        cache.insert(2, b"a", Arc::new(6u64), 8);
        assert_eq!(get(1), Some(5));
        assert_eq!(get(2), Some(6));
        cache.remove(1, b"a");
        assert_eq!(get(1), None);
    }

    #[test]
    fn may_be_switched_off() {
        let cache = CleanCache::new(0);
        let get = |table| cache.get(table, b"a").map(|value| *value.downcast::<u64>().unwrap());
        cache.insert(1, b"a", Arc::new(5u64), 8);
        assert_eq!(get(1), None);
    }
}
