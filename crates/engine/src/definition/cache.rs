//! A bounded cache of compiled models.

use std::collections::HashMap;

use protocol::Key;

/// Compiled models by definition key; those least recently used are dropped when the files behind them exceed a limit.
pub(crate) struct Cache<V> {
    rows: HashMap<Key, Row<V>>,
    bytes: usize,
    max_bytes: usize,
    clock: u64,
}

struct Row<V> {
    value: V,
    bytes: usize,
    used: u64,
}

impl<V: Clone> Cache<V> {
    pub fn new(max_bytes: usize) -> Self {
        Self { rows: HashMap::new(), bytes: 0, max_bytes, clock: 0 }
    }

    pub fn get(&mut self, key: Key) -> Option<V> {
        self.clock += 1;
        let row = self.rows.get_mut(&key)?;
        row.used = self.clock;
        Some(row.value.clone())
    }

    /// Keeps a model whose file has so many bytes.
    pub fn put(&mut self, key: Key, value: V, bytes: usize) {
        self.remove(key);
        self.clock += 1;
        self.bytes += bytes;
        self.rows.insert(key, Row { value, bytes, used: self.clock });
        if self.bytes > self.max_bytes {
            self.shrink(key);
        }
    }

    pub fn remove(&mut self, key: Key) {
        if let Some(row) = self.rows.remove(&key) {
            debug_assert!(self.bytes >= row.bytes, "{} bytes, {} of them removed", self.bytes, row.bytes);
            self.bytes -= row.bytes;
        }
    }

    /// Goes down to three quarters of the limit, so that not every model after the last costs a search. One model
    /// stays however large it is, or it would be compiled again and again.
    fn shrink(&mut self, spared: Key) {
        let mut by_age: Vec<(u64, Key)> = self.rows.iter().map(|(key, row)| (row.used, *key)).collect();
        by_age.sort_unstable();
        for (_, key) in by_age {
            if self.bytes <= self.max_bytes / 4 * 3 {
                return;
            }
            if key != spared {
                self.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays() {
        let mut cache = Cache::new(100);
        cache.put(1, "a", 40);
        cache.put(2, "b", 40);
        assert_eq!(cache.get(1), Some("a"));
        cache.put(3, "c", 30);
        assert_eq!((cache.get(1), cache.get(2), cache.get(3)), (Some("a"), None, Some("c")));
        assert_eq!(cache.bytes, 70);
        cache.put(3, "d", 1000);
        assert_eq!((cache.get(1), cache.get(3)), (None, Some("d")));
        cache.remove(3);
        assert_eq!(cache.bytes, 0);
    }
}
