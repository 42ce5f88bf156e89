//! A walk over the rows of a table in either direction, merged from its layers.
//!
//! A row of a lower layer counts only if no upper layer decides about its key. So the three streams never hold the
//! same key, and merging them is taking the next key of three.

use std::{collections::btree_map, mem, sync::Arc};

use parking_lot::Mutex;

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

    /// Goes on beyond the gap at this place. Returns whether there was one.
    fn jump(&mut self, gaps: &Mutex<Gaps<K>>) -> bool {
        let gaps = gaps.lock();
        let backwards = self.backwards;
        let place = self.place();
        let Some(beyond) = gaps.beyond(place, backwards).cloned() else { return false };
        *place = beyond;
        true
    }

    /// Where the walk is.
    fn place(&mut self) -> &mut Cut<K> {
        if self.backwards { &mut self.end } else { &mut self.start }
    }

    fn is_over(&self) -> bool {
        self.start >= self.end
    }
}

/// A run of hidden rows that a stream steps over.
struct Hidden<K> {
    /// Where the run began.
    from: Option<Cut<K>>,
    rows: usize,
}

impl<K: TableKey> Hidden<K> {
    fn none() -> Self {
        Self { from: None, rows: 0 }
    }

    /// Passes one more hidden row. Returns whether more was jumped over, so that the stream must seek.
    fn pass(&mut self, key: &K, ahead: &mut Ahead<K>, gaps: &Mutex<Gaps<K>>) -> bool {
        self.rows += 1;
        if self.from.is_none() {
            self.from = Some(ahead.place().clone());
        }
        ahead.pass(key);
        ahead.jump(gaps)
    }

    /// Remembers that nothing is visible in this run.
    fn remember(self, ahead: &mut Ahead<K>, gaps: &Mutex<Gaps<K>>) {
        let Some(from) = self.from else { return };
        let mut gaps = gaps.lock();
        let worth_it = self.rows >= GAP_ROWS_MIN;
        let here = ahead.place().clone();
        if ahead.backwards {
            gaps.add(here, from, worth_it);
        } else {
            gaps.add(from, here, worth_it);
        }
    }
}

/// The visible rows of the frozen layer.
struct FrozenStream<'a, K, V> {
    layer: &'a Layer<K, V>,
    /// `None` if nothing is ahead.
    rows: Option<btree_map::Range<'a, K, Live<V>>>,
    ahead: Ahead<K>,
}

impl<'a, K: TableKey, V: TableValue> FrozenStream<'a, K, V> {
    fn new(layer: &'a Layer<K, V>, mut ahead: Ahead<K>, gaps: &Mutex<Gaps<K>>) -> Self {
        ahead.jump(gaps);
        let mut stream = Self { layer, rows: None, ahead };
        stream.seek();
        stream
    }

    fn seek(&mut self) {
        let ahead = &self.ahead;
        self.rows = (!ahead.is_over()).then(|| self.layer.live.range((ahead.start.start(), ahead.end.end())));
    }

    fn next(&mut self, layers: &Layers<'a, K, V>) -> Option<Row<'a, K, V>> {
        let mut hidden = Hidden::none();
        let found = loop {
            let Some(rows) = &mut self.rows else { break None };
            let next = if self.ahead.backwards { rows.next_back() } else { rows.next() };
            let Some((key, live)) = next else { break None };
            if !layers.active.masks(key) {
                break Some((key, live));
            }
            if hidden.pass(key, &mut self.ahead, layers.frozen_gaps) {
                self.seek();
            }
        };
        hidden.remember(&mut self.ahead, layers.frozen_gaps);
        let (key, live) = found?;
        self.ahead.pass(key);
        Some(Row::Memory(key, &live.value))
    }
}

/// The visible rows on disk.
struct DiskStream<K> {
    /// `None` if nothing is ahead.
    rows: Option<Rows>,
    ahead: Ahead<K>,
    interrupted: bool,
}

impl<K: TableKey> DiskStream<K> {
    fn new(disk: &Disk<K>, mut ahead: Ahead<K>, gaps: &Mutex<Gaps<K>>) -> Result<Self, StateError> {
        ahead.jump(gaps);
        let mut stream = Self { rows: None, ahead, interrupted: false };
        stream.seek(disk)?;
        Ok(stream)
    }

    fn seek(&mut self, disk: &Disk<K>) -> Result<(), StateError> {
        let is_over = self.ahead.is_over();
        self.rows = if is_over { None } else { disk.range(&self.ahead.start, &self.ahead.end)? };
        Ok(())
    }

    fn next<'a, V: TableValue>(
        &mut self,
        layers: &Layers<'a, K, V>,
    ) -> Result<Option<Row<'a, K, V>>, StateError> {
        let mut hidden = Hidden::none();
        let found = loop {
            let Some(rows) = &mut self.rows else { break None };
            let (key_bytes, value_bytes) = match layers.disk.step(rows, self.ahead.backwards)? {
                Step::Row(key, value) => (key, value),
                Step::End => break None,
                Step::Interrupted(error) => {
                    if mem::replace(&mut self.interrupted, true) {
                        return Err(layers.disk.error(&[], error));
                    }
                    self.seek(layers.disk)?;
                    continue;
                }
            };
            let key = layers.disk.decode_key(key_bytes.value())?;
            if !layers.hides_disk(&key) {
                layers.disk.unseal(key_bytes.value(), value_bytes.value())?;
                break Some(Row::Disk { key, key_bytes, value_bytes });
            }
            if hidden.pass(&key, &mut self.ahead, layers.disk_gaps) {
                self.seek(layers.disk)?;
            }
        };
        hidden.remember(&mut self.ahead, layers.disk_gaps);
        if let Some(row) = &found {
            self.ahead.pass(row.key());
        }
        Ok(found)
    }
}

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
        let frozen = layers.frozen.map(|layer| FrozenStream::new(layer, ahead.clone(), layers.frozen_gaps));
        let disk = if layers.disk.may_overlap(ahead.start.start(), ahead.end.end()) {
            Some(DiskStream::new(layers.disk, ahead, layers.disk_gaps)?)
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
