//! One in-memory layer of a table: the rows written since the last flush, and tombstones over older rows.

use std::{collections::BTreeMap, sync::Arc};

use crate::{TableKey, TableValue};

/// Bytes of a row or a tombstone beyond its key and value: tree node share, `Arc` header, stamp.
const ENTRY_OVERHEAD_BYTES: usize = 48;

/// Whether the layers below hold a row under the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// No: removing the row here leaves nothing to hide.
    Absent,
    Present,
    /// Perhaps; finding out would mean reading the disk.
    Unknown,
}

/// The layer below an entry, and the command that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    pub(crate) fn new(epoch: u64, base: Base) -> Self {
        Self((epoch << 2) | base as u64)
    }

    pub(crate) fn base(self) -> Base {
        match self.0 & 3 {
            0 => Base::Absent,
            1 => Base::Present,
            _ => Base::Unknown,
        }
    }

    /// The number of the command; 0 for a write outside any command.
    pub(crate) fn epoch(self) -> u64 {
        self.0 >> 2
    }
}

#[derive(Debug)]
pub(crate) struct Live<V> {
    pub(crate) value: Arc<V>,
    pub(crate) stamp: Stamp,
    /// As it was counted when the row was written.
    pub(crate) weight: u32,
}

/// A layer. Rows and tombstones lie apart so that a scan never walks over tombstones.
#[derive(Debug)]
pub(crate) struct Layer<K, V> {
    pub(crate) live: BTreeMap<K, Live<V>>,
    pub(crate) dead: BTreeMap<K, Stamp>,
    tally: Tally,
}

/// Running totals of a layer.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) bytes: usize,
    /// Rows added less rows removed, by the entries that know what lies below them.
    pub(crate) rows: i64,
    /// Entries that do not know.
    pub(crate) unknown: usize,
}

impl Tally {
    #[inline]
    pub(crate) fn add_live(&mut self, base: Base, weight: u32) {
        self.bytes += weight as usize;
        match base {
            Base::Absent => self.rows += 1,
            Base::Present => {}
            Base::Unknown => self.unknown += 1,
        }
    }

    #[inline]
    pub(crate) fn remove_live(&mut self, base: Base, weight: u32) {
        self.bytes -= weight as usize;
        match base {
            Base::Absent => self.rows -= 1,
            Base::Present => {}
            Base::Unknown => self.unknown -= 1,
        }
    }

    #[inline]
    pub(crate) fn add_dead(&mut self, base: Base, weight: usize) {
        self.bytes += weight;
        match base {
            Base::Absent => {}
            Base::Present => self.rows -= 1,
            Base::Unknown => self.unknown += 1,
        }
    }

    #[inline]
    pub(crate) fn remove_dead(&mut self, base: Base, weight: usize) {
        self.bytes -= weight;
        match base {
            Base::Absent => {}
            Base::Present => self.rows += 1,
            Base::Unknown => self.unknown -= 1,
        }
    }
}

#[inline]
pub(crate) fn live_weight<K: TableKey, V: TableValue>(key: &K, value: &V) -> u32 {
    u32::try_from(key.weight() + value.weight() + ENTRY_OVERHEAD_BYTES).unwrap_or(u32::MAX)
}

#[inline]
pub(crate) fn dead_weight<K: TableKey>(key: &K) -> usize {
    key.weight() + ENTRY_OVERHEAD_BYTES
}

/// The value of a key before the current command first wrote it.
#[derive(Debug)]
pub(crate) enum Before<V> {
    Nothing,
    Live(Live<V>),
    Dead(Stamp),
}

/// One step of undoing a command.
#[derive(Debug)]
pub(crate) struct Undo<K, V> {
    pub(crate) key: K,
    pub(crate) before: Before<V>,
}

impl<K: TableKey, V: TableValue> Layer<K, V> {
    pub(crate) fn new() -> Self {
        Self { live: BTreeMap::new(), dead: BTreeMap::new(), tally: Tally::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.live.is_empty() && self.dead.is_empty()
    }

    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    pub(crate) fn tally_mut(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// Whether this layer decides about the key, whatever lies below.
    #[inline]
    pub(crate) fn masks(&self, key: &K) -> bool {
        (!self.dead.is_empty() && self.dead.contains_key(key)) || self.live.contains_key(key)
    }

    /// Takes the tombstone of a key away and gives its stamp.
    #[inline]
    pub(crate) fn take_dead(&mut self, key: &K) -> Option<Stamp> {
        if self.dead.is_empty() {
            return None;
        }
        let stamp = self.dead.remove(key)?;
        self.tally.remove_dead(stamp.base(), dead_weight(key));
        Some(stamp)
    }

    /// Lays a tombstone where neither a row nor a tombstone is.
    #[inline]
    pub(crate) fn put_dead(&mut self, key: K, stamp: Stamp) {
        self.tally.add_dead(stamp.base(), dead_weight(&key));
        self.dead.insert(key, stamp);
    }

    /// Puts a key back to what it was. Returns whether a lower row may have become visible by that.
    pub(crate) fn restore(&mut self, key: K, before: Before<V>) -> bool {
        let base = match self.live.remove(&key) {
            Some(live) => {
                self.tally.remove_live(live.stamp.base(), live.weight);
                live.stamp.base()
            }
            None => self.take_dead(&key).map_or(Base::Absent, Stamp::base),
        };
        match before {
            Before::Nothing => base != Base::Absent,
            Before::Live(live) => {
                self.tally.add_live(live.stamp.base(), live.weight);
                self.live.insert(key, live);
                false
            }
            Before::Dead(stamp) => {
                self.put_dead(key, stamp);
                false
            }
        }
    }

    /// Every entry in the order of keys: `Some` for a row, `None` for a tombstone.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&K, Option<&Arc<V>>)> {
        let mut live = self.live.iter().peekable();
        let mut dead = self.dead.keys().peekable();
        std::iter::from_fn(move || {
            let take_dead = match (live.peek(), dead.peek()) {
                (Some((live_key, _)), Some(dead_key)) => dead_key < live_key,
                (None, Some(_)) => true,
                (_, None) => false,
            };
            if take_dead {
                dead.next().map(|key| (key, None))
            } else {
                live.next().map(|(key, live)| (key, Some(&live.value)))
            }
        })
    }
}
