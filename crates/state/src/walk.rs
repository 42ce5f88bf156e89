//! A walk over the rows of a table in either direction, merged from its layers.
//!
//! A row of a lower layer counts only if no upper layer decides about its key. So the three streams never hold the
//! same key, and merging them is taking the next key of three.

use std::{collections::btree_map, mem, ops::Bound, sync::Arc};

use parking_lot::Mutex;

use crate::{
    StateError, TableKey, TableValue,
    cache::typed,
    disk::{Bytes, Disk, Rows, Span, Step, with_encoded},
    gaps::{Cut, Gaps},
    key::decode_whole,
    overlay::{Layer, Live},
};

/// Hidden rows in a row from which it pays to remember the stretch.
const GAP_ROWS_MIN: usize = 16;

/// The layers of a table, from the top down, and what scans have learnt about the lower ones.
pub(crate) struct Layers<'a, K, V> {
    pub(crate) active: &'a Layer<K, V>,
    pub(crate) frozen: Option<&'a Layer<K, V>>,
    pub(crate) disk: &'a Disk,
    pub(crate) span: &'a Span<K>,
    /// Where the frozen layer shows nothing.
    pub(crate) frozen_gaps: &'a Mutex<Gaps>,
    /// Where the disk shows nothing.
    pub(crate) disk_gaps: &'a Mutex<Gaps>,
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

    pub(crate) fn into_pair(self, disk: &Disk) -> Result<(K, Arc<V>), StateError> {
        match self {
            Self::Memory(key, value) => Ok((key.clone(), Arc::clone(value))),
            Self::Disk { key, key_bytes, value_bytes } => {
                let value = disk.value(key_bytes.value(), value_bytes.value())?;
                Ok((key, typed(value)))
            }
        }
    }
}

/// The part of the key space still ahead, and the direction.
#[derive(Debug, Clone)]
struct Ahead {
    start: Cut,
    end: Cut,
    backwards: bool,
}

impl Ahead {
    /// Goes on beyond the key.
    fn pass(&mut self, key: &[u8]) {
        let is_after = !self.backwards;
        self.place().move_to(key, is_after);
    }

    /// Goes on beyond the gap at this place. Returns whether there was one.
    fn jump(&mut self, gaps: &Mutex<Gaps>) -> bool {
        let gaps = gaps.lock();
        let backwards = self.backwards;
        let place = self.place();
        let Some(beyond) = gaps.beyond(place, backwards).cloned() else { return false };
        *place = beyond;
        true
    }

    /// Where the walk is.
    fn place(&mut self) -> &mut Cut {
        if self.backwards { &mut self.end } else { &mut self.start }
    }

    fn is_over(&self) -> bool {
        self.start >= self.end
    }
}

/// A run of hidden rows that a stream steps over.
#[derive(Default)]
struct Hidden {
    /// Where the run began.
    from: Option<Cut>,
    rows: usize,
}

impl Hidden {
    /// Passes one more hidden row. Returns whether more was jumped over, so that the stream must seek.
    fn pass(&mut self, key: &[u8], ahead: &mut Ahead, gaps: &Mutex<Gaps>) -> bool {
        self.rows += 1;
        if self.from.is_none() {
            self.from = Some(ahead.place().clone());
        }
        ahead.pass(key);
        ahead.jump(gaps)
    }

    /// Remembers that nothing is visible in this run.
    fn remember(self, ahead: &mut Ahead, gaps: &Mutex<Gaps>) {
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
    ahead: Ahead,
    /// The last visible row, which `ahead` does not know of yet.
    passed: Option<&'a K>,
}

impl<'a, K: TableKey, V: TableValue> FrozenStream<'a, K, V> {
    fn new(layer: &'a Layer<K, V>, mut ahead: Ahead, gaps: &Mutex<Gaps>) -> Self {
        ahead.jump(gaps);
        let mut stream = Self { layer, rows: None, ahead, passed: None };
        stream.seek();
        stream
    }

    fn seek(&mut self) {
        if self.ahead.is_over() {
            self.rows = None;
            return;
        }
        let start: Bound<K> = decode_bound(self.ahead.start.start());
        let end: Bound<K> = decode_bound(self.ahead.end.end());
        self.rows = Some(self.layer.live.range::<K, _>((start.as_ref(), end.as_ref())));
    }

    fn next(&mut self, layers: &Layers<'a, K, V>) -> Option<Row<'a, K, V>> {
        let mut hidden = Hidden::default();
        let found = loop {
            let Some(rows) = &mut self.rows else { break None };
            let next = if self.ahead.backwards { rows.next_back() } else { rows.next() };
            let Some((key, live)) = next else { break None };
            if !layers.active.masks(key) {
                break Some((key, live));
            }
            if let Some(passed) = self.passed.take() {
                with_encoded(passed, |bytes| self.ahead.pass(bytes));
            }
            if with_encoded(key, |bytes| hidden.pass(bytes, &mut self.ahead, layers.frozen_gaps)) {
                self.seek();
            }
        };
        hidden.remember(&mut self.ahead, layers.frozen_gaps);
        let (key, live) = found?;
        self.passed = Some(key);
        Some(Row::Memory(key, &live.value))
    }
}

fn decode_bound<K: TableKey>(bound: Bound<&[u8]>) -> Bound<K> {
    bound.map(|bytes| decode_whole(bytes).expect("a key that was encoded here"))
}

fn encode_bound<K: TableKey>(bound: Bound<&K>) -> Bound<Vec<u8>> {
    bound.map(|key| {
        let mut bytes = Vec::new();
        key.encode(&mut bytes);
        bytes
    })
}

/// The visible rows on disk.
struct DiskStream {
    /// `None` if nothing is ahead.
    rows: Option<Rows>,
    ahead: Ahead,
    interrupted: bool,
}

impl DiskStream {
    fn new(disk: &Disk, mut ahead: Ahead, gaps: &Mutex<Gaps>) -> Result<Self, StateError> {
        ahead.jump(gaps);
        let mut stream = Self { rows: None, ahead, interrupted: false };
        stream.seek(disk)?;
        Ok(stream)
    }

    fn seek(&mut self, disk: &Disk) -> Result<(), StateError> {
        let is_over = self.ahead.is_over();
        self.rows = if is_over { None } else { disk.range(&self.ahead.start, &self.ahead.end)? };
        Ok(())
    }

    /// The next row; `hides` tells whether a layer above decides about a key.
    fn next(
        &mut self,
        disk: &Disk,
        gaps: &Mutex<Gaps>,
        hides: &mut dyn FnMut(&[u8]) -> Result<bool, StateError>,
    ) -> Result<Option<(Bytes, Bytes)>, StateError> {
        let mut hidden = Hidden::default();
        let found = loop {
            let Some(rows) = &mut self.rows else { break None };
            let (key, value) = match disk.step(rows, self.ahead.backwards)? {
                Step::Row(key, value) => (key, value),
                Step::End => break None,
                Step::Interrupted(error) => {
                    if mem::replace(&mut self.interrupted, true) {
                        return Err(disk.error(&[], error));
                    }
                    self.seek(disk)?;
                    continue;
                }
            };
            if !hides(key.value())? {
                disk.unseal(key.value(), value.value())?;
                break Some((key, value));
            }
            if hidden.pass(key.value(), &mut self.ahead, gaps) {
                self.seek(disk)?;
            }
        };
        hidden.remember(&mut self.ahead, gaps);
        if let Some((key, _)) = &found {
            self.ahead.pass(key.value());
        }
        Ok(found)
    }
}

pub(crate) struct Walk<'a, K, V> {
    layers: Layers<'a, K, V>,
    active: btree_map::Range<'a, K, Live<V>>,
    frozen: Option<FrozenStream<'a, K, V>>,
    disk: Option<DiskStream>,
    /// The next row of each stream, from the top down.
    heads: [Option<Row<'a, K, V>>; 3],
    backwards: bool,
}

impl<'a, K: TableKey, V: TableValue> Walk<'a, K, V> {
    /// Begins a walk over a range with a place between its bounds.
    pub(crate) fn new(
        layers: Layers<'a, K, V>,
        start: Bound<&K>,
        end: Bound<&K>,
        backwards: bool,
    ) -> Result<Self, StateError> {
        let active = layers.active.live.range::<K, _>((start, end));
        let ahead = || Ahead {
            start: Cut::from_start(encode_bound(start)),
            end: Cut::from_end(encode_bound(end)),
            backwards,
        };
        let frozen = layers.frozen.map(|layer| FrozenStream::new(layer, ahead(), layers.frozen_gaps));
        let disk = if layers.span.may_overlap(start, end) {
            Some(DiskStream::new(layers.disk, ahead(), layers.disk_gaps)?)
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
                Some(stream) => pull_disk(&self.layers, stream),
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

fn pull_disk<'a, K: TableKey, V: TableValue>(
    layers: &Layers<'a, K, V>,
    stream: &mut DiskStream,
) -> Result<Option<Row<'a, K, V>>, StateError> {
    let mut decoded = None;
    let row = stream.next(layers.disk, layers.disk_gaps, &mut |bytes| {
        let key = layers.disk.decode_key(bytes)?;
        let hides = layers.hides_disk(&key);
        decoded = Some(key);
        Ok(hides)
    })?;
    Ok(row.map(|(key_bytes, value_bytes)| {
        let key = decoded.expect("the last key that was asked about is that of the row");
        Row::Disk { key, key_bytes, value_bytes }
    }))
}
