//! A walk over the rows of a table in either direction, merged from its layers.
//!
//! A row of a lower layer counts only if no upper layer decides about its key. So the three streams never hold the
//! same key, and merging them is taking the next key of three.

use std::{
    collections::btree_map,
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    StateError, TableKey, TableValue,
    disk::{Bytes, Disk, Rows, Step},
    gaps::{Cut, Gaps},
    overlay::{Layer, Live},
};

/// Hidden rows in a row from which it pays to remember the stretch.
const GAP_ROWS_MIN: usize = 16;

/// The layers of a table, from the top down, and what scans have learnt about the lower ones.
pub(crate) struct Layers<'a, K, V> {
    pub(crate) active: &'a Layer<K, V>,
    pub(crate) frozen: Option<&'a Layer<K, V>>,
    pub(crate) disk: &'a Disk<K>,
    /// Where the frozen layer shows nothing.
    pub(crate) frozen_gaps: &'a Mutex<Gaps<K>>,
    /// Where the disk shows nothing.
    pub(crate) disk_gaps: &'a Mutex<Gaps<K>>,
}

impl<K: TableKey, V: TableValue> Layers<'_, K, V> {
    /// Whether a layer above the disk decides about the key.
    fn hides_disk(&self, key: &K) -> bool {
        self.active.masks(key) || self.frozen.is_some_and(|frozen| frozen.masks(key))
    }
}

/// A row on the way out of a walk.
pub(crate) enum Row<'a, K, V> {
    Memory(&'a K, &'a Arc<V>),
    Disk { key: K, key_bytes: Bytes, value_bytes: Bytes },
}

impl<K: TableKey, V: TableValue> Row<'_, K, V> {
    fn key(&self) -> &K {
        match self {
            Self::Memory(key, _) => key,
            Self::Disk { key, .. } => key,
        }
    }

    pub(crate) fn into_key(self) -> K {
        match self {
            Self::Memory(key, _) => key.clone(),
            Self::Disk { key, .. } => key,
        }
    }

    pub(crate) fn into_pair(self, disk: &Disk<K>) -> Result<(K, Arc<V>), StateError> {
        match self {
            Self::Memory(key, value) => Ok((key.clone(), Arc::clone(value))),
            Self::Disk { key, key_bytes, value_bytes } => {
                let value = disk.value(key_bytes.value(), value_bytes.value())?;
                Ok((key, value))
            }
        }
    }
}

/// The part of the key space still ahead, and the direction.
#[derive(Debug, Clone)]
struct Ahead<K> {
    start: Cut<K>,
    end: Cut<K>,
    backwards: bool,
}

impl<K: TableKey> Ahead<K> {
    /// Goes on beyond the key.
    fn pass(&mut self, key: &K) {
        if self.backwards {
            self.end = Cut::Before(key.clone());
        } else {
            self.start = Cut::After(key.clone());
        }
    }

    /// Goes on beyond the gap.
    fn jump(&mut self, (start, end): &(Cut<K>, Cut<K>)) {
        if self.backwards {
            self.end = self.end.clone().min(start.clone());
        } else {
            self.start = self.start.clone().max(end.clone());
        }
    }

    fn is_over(&self) -> bool {
        self.start >= self.end
    }

    /// Remembers that nothing was visible between `from`, where this was before, and here.
    fn remember(&self, from: Self, gaps: &Mutex<Gaps<K>>) {
        let mut gaps = gaps.lock().unwrap_or_else(PoisonError::into_inner);
        if self.backwards {
            gaps.add(self.end.clone(), from.end);
        } else {
            gaps.add(from.start, self.start.clone());
        }
    }
}

fn gap_around<K: TableKey>(gaps: &Mutex<Gaps<K>>, key: &K) -> Option<(Cut<K>, Cut<K>)> {
    gaps.lock().unwrap_or_else(PoisonError::into_inner).around(key).cloned()
}

/// The visible rows of the frozen layer.
struct FrozenStream<'a, K, V> {
    layer: &'a Layer<K, V>,
    rows: btree_map::Range<'a, K, Live<V>>,
    ahead: Ahead<K>,
}

impl<'a, K: TableKey, V: TableValue> FrozenStream<'a, K, V> {
    fn new(layer: &'a Layer<K, V>, ahead: Ahead<K>) -> Self {
        Self { layer, rows: layer.live.range((ahead.start.start(), ahead.end.end())), ahead }
    }

    fn next(&mut self, layers: &Layers<'a, K, V>) -> Option<Row<'a, K, V>> {
        let from = self.ahead.clone();
        let mut hidden = 0;
        let found = loop {
            if self.ahead.is_over() {
                break None;
            }
            let Some((key, live)) =
                (if self.ahead.backwards { self.rows.next_back() } else { self.rows.next() })
            else {
                break None;
            };
            if !layers.active.masks(key) {
                break Some((key, live));
            }
            hidden += 1;
            if let Some(gap) = gap_around(layers.frozen_gaps, key) {
                self.ahead.jump(&gap);
                if self.ahead.is_over() {
                    break None;
                }
                self.rows = self.layer.live.range((self.ahead.start.start(), self.ahead.end.end()));
            } else {
                self.ahead.pass(key);
            }
        };
        if hidden >= GAP_ROWS_MIN {
            self.ahead.remember(from, layers.frozen_gaps);
        }
        let (key, live) = found?;
        self.ahead.pass(key);
        Some(Row::Memory(key, &live.value))
    }
}

/// The visible rows on disk.
struct DiskStream<K> {
    rows: Rows,
    ahead: Ahead<K>,
    interrupted: bool,
}

impl<K: TableKey> DiskStream<K> {
    fn new(disk: &Disk<K>, ahead: Ahead<K>) -> Result<Option<Self>, StateError> {
        let rows = disk.range(&ahead.start, &ahead.end)?;
        Ok(rows.map(|rows| Self { rows, ahead, interrupted: false }))
    }

    /// Starts over at the place reached. `false` if nothing is left.
    fn seek(&mut self, disk: &Disk<K>) -> Result<bool, StateError> {
        if self.ahead.is_over() {
            return Ok(false);
        }
        match disk.range(&self.ahead.start, &self.ahead.end)? {
            Some(rows) => {
                self.rows = rows;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn next<'a, V: TableValue>(
        &mut self,
        layers: &Layers<'a, K, V>,
    ) -> Result<Option<Row<'a, K, V>>, StateError> {
        let from = self.ahead.clone();
        let mut hidden = 0;
        let found = loop {
            let (key_bytes, value_bytes) = match layers.disk.step(&mut self.rows, self.ahead.backwards)? {
                Step::Row(key, value) => (key, value),
                Step::End => break None,
                Step::Interrupted(error) => {
                    if mem::replace(&mut self.interrupted, true) {
                        return Err(layers.disk.error(&[], error));
                    }
                    if self.seek(layers.disk)? {
                        continue;
                    }
                    break None;
                }
            };
            let key = layers.disk.decode_key(key_bytes.value())?;
            if !layers.hides_disk(&key) {
                break Some(Row::Disk { key, key_bytes, value_bytes });
            }
            hidden += 1;
            if let Some(gap) = gap_around(layers.disk_gaps, &key) {
                self.ahead.jump(&gap);
                if !self.seek(layers.disk)? {
                    break None;
                }
            } else {
                self.ahead.pass(&key);
            }
        };
        if hidden >= GAP_ROWS_MIN {
            self.ahead.remember(from, layers.disk_gaps);
        }
        if let Some(row) = &found {
            self.ahead.pass(row.key());
        }
        Ok(found)
    }
}

/// The walk.
pub(crate) struct Walk<'a, K, V> {
    layers: Layers<'a, K, V>,
    active: btree_map::Range<'a, K, Live<V>>,
    frozen: Option<FrozenStream<'a, K, V>>,
    disk: Option<DiskStream<K>>,
    /// The next row of each stream, from the top down.
    heads: [Option<Row<'a, K, V>>; 3],
    backwards: bool,
}

impl<'a, K: TableKey, V: TableValue> Walk<'a, K, V> {
    /// Begins a walk between two cuts, the first of which must lie before the second.
    pub(crate) fn new(
        layers: Layers<'a, K, V>,
        start: Cut<K>,
        end: Cut<K>,
        backwards: bool,
    ) -> Result<Self, StateError> {
        let ahead = Ahead { start, end, backwards };
        let active = layers.active.live.range((ahead.start.start(), ahead.end.end()));
        let frozen = layers.frozen.map(|layer| FrozenStream::new(layer, ahead.clone()));
        let disk = if layers.disk.may_overlap(ahead.start.start(), ahead.end.end()) {
            DiskStream::new(layers.disk, ahead)?
        } else {
            None
        };
        let mut walk = Self { layers, active, frozen, disk, heads: [None, None, None], backwards };
        for stream in 0..walk.heads.len() {
            walk.heads[stream] = walk.pull(stream)?;
        }
        Ok(walk)
    }

    fn pull(&mut self, stream: usize) -> Result<Option<Row<'a, K, V>>, StateError> {
        match stream {
            0 => {
                let next = if self.backwards { self.active.next_back() } else { self.active.next() };
                Ok(next.map(|(key, live)| Row::Memory(key, &live.value)))
            }
            1 => Ok(self.frozen.as_mut().and_then(|frozen| frozen.next(&self.layers))),
            _ => match &mut self.disk {
                Some(disk) => disk.next(&self.layers),
                None => Ok(None),
            },
        }
    }

    /// The next row.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'a, K, V>>, StateError> {
        let mut chosen: Option<usize> = None;
        for stream in 0..self.heads.len() {
            let Some(head) = &self.heads[stream] else { continue };
            let comes_first = chosen.and_then(|other| self.heads[other].as_ref()).is_none_or(|other| {
                if self.backwards { head.key() > other.key() } else { head.key() < other.key() }
            });
            if comes_first {
                chosen = Some(stream);
            }
        }
        let Some(stream) = chosen else { return Ok(None) };
        let next = self.pull(stream)?;
        Ok(mem::replace(&mut self.heads[stream], next))
    }
}
