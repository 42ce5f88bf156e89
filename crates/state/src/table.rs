//! A typed, ordered table: the overlay being written, the overlay being flushed, and the rows on disk.

use std::{
    any::Any,
    collections::btree_map::Entry,
    ops::{Bound, ControlFlow, RangeBounds},
    sync::Arc,
};

use parking_lot::Mutex;
use xxhash_rust::xxh3::Xxh3;

use crate::{
    StateError, Store, TableKey, TableValue,
    cache::typed,
    command::Command,
    disk::{Disk, Span, with_encoded},
    flush::{FrozenLayer, FrozenTable},
    gaps::Gaps,
    overlay::{Base, Before, Layer, Live, Stamp, Undo, live_weight},
    store::View,
    walk::{Layers, Row, Walk},
};

mod change;

pub use change::RowChange;

/// Undo steps for which memory is kept from one command to the next.
const UNDO_KEPT_MAX: usize = 1024;
/// Keys that are in memory at once while a table is cleared.
const CLEARED_AT_ONCE: usize = 4096;
/// Keys of a layer that are looked up for a count that need not be exact; some 2 µs each.
const COUNT_LOOKUPS_MAX: usize = 512;

/// A table. One thread writes; reading takes a shared reference only.
#[derive(Debug)]
pub struct Table<K, V> {
    name: &'static str,
    number: u32,
    /// Where this table stands among its siblings.
    position: usize,
    command: Arc<Command>,
    undo: Vec<Undo<K, V>>,
    active: Layer<K, V>,
    frozen: Option<Arc<Layer<K, V>>>,
    disk: Disk,
    span: Span<K>,
    frozen_gaps: Mutex<Gaps>,
    disk_gaps: Mutex<Gaps>,
}

impl<K: TableKey, V: TableValue> Table<K, V> {
    /// The row under that key.
    #[inline]
    pub fn get(&self, key: &K) -> Result<Option<Arc<V>>, StateError> {
        match self.active.live.get(key) {
            Some(live) => Ok(Some(Arc::clone(&live.value))),
            None if self.frozen.is_none() && !self.span.may_hold(key) => Ok(None),
            None => self.get_below(key),
        }
    }

    fn get_below(&self, key: &K) -> Result<Option<Arc<V>>, StateError> {
        if self.active.dead.contains_key(key) {
            return Ok(None);
        }
        if let Some(frozen) = &self.frozen {
            if let Some(live) = frozen.live.get(key) {
                return Ok(Some(Arc::clone(&live.value)));
            }
            if frozen.dead.contains_key(key) {
                return Ok(None);
            }
        }
        if !self.span.may_hold(key) {
            return Ok(None);
        }
        let value = with_encoded(key, |bytes| self.disk.get(bytes))?;
        Ok(value.map(typed))
    }

    /// Whether there is a row under that key.
    #[inline]
    pub fn contains(&self, key: &K) -> Result<bool, StateError> {
        if self.active.live.contains_key(key) {
            return Ok(true);
        }
        if self.active.dead.contains_key(key) {
            return Ok(false);
        }
        self.contains_below(key)
    }

    /// Whether the layers below the active one hold the key.
    fn contains_below(&self, key: &K) -> Result<bool, StateError> {
        match self.base(key) {
            Base::Absent => Ok(false),
            Base::Present => Ok(true),
            Base::Unknown => self.is_on_disk(key),
        }
    }

    fn is_on_disk(&self, key: &K) -> Result<bool, StateError> {
        if self.span.may_hold(key) { with_encoded(key, |bytes| self.disk.contains(bytes)) } else { Ok(false) }
    }

    /// Knowledge about the key below the active layer without a read of the disk.
    #[inline]
    fn base(&self, key: &K) -> Base {
        if let Some(frozen) = &self.frozen {
            if frozen.live.contains_key(key) {
                return Base::Present;
            }
            if frozen.dead.contains_key(key) {
                return Base::Absent;
            }
        }
        if self.span.may_hold(key) { Base::Unknown } else { Base::Absent }
    }

    /// Remembers what a key had before the command at hand, unless this command has written the key already.
    #[inline]
    fn remember(&mut self, key: K, before: Before<V>) {
        if self.undo.is_empty() {
            self.command.touch(self.position);
        }
        self.undo.push(Undo { key, before });
    }

    /// Adds a row under a key that exists nowhere; the caller answers for that. If the row is deleted before the next
    /// flush, no trace of it reaches the disk.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) {
        debug_assert!(
            !self.contains(&key).unwrap_or(false),
            "table {}: the key of an insert is taken",
            self.name
        );
        self.write(key, Arc::new(value), Base::Absent);
    }

    /// Adds a row or replaces it.
    #[inline]
    pub fn put(&mut self, key: K, value: V) {
        let base =
            if self.frozen.is_none() && !self.span.may_hold(&key) { Base::Absent } else { self.base(&key) };
        self.write(key, Arc::new(value), base);
    }

    /// Writes a row; `base` holds where the active layer has no entry of its own for the key.
    #[inline]
    fn write(&mut self, key: K, value: Arc<V>, base: Base) {
        let epoch = self.command.epoch();
        let weight = live_weight(&key, value.as_ref());
        let dead = self.active.take_dead(&key);
        let undo_key = match self.active.live.entry(key) {
            Entry::Vacant(entry) => {
                let base = dead.map_or(base, Stamp::base);
                let undo_key = (epoch != 0 && dead.is_none_or(|dead| dead.epoch() != epoch))
                    .then(|| (entry.key().clone(), dead.map_or(Before::Nothing, Before::Dead)));
                entry.insert(Live { value, stamp: Stamp::new(epoch, base), weight });
                self.active.tally_mut().add_live(base, weight);
                undo_key
            }
            Entry::Occupied(mut entry) => {
                let base = entry.get().stamp.base();
                let is_first_write = epoch != 0 && entry.get().stamp.epoch() != epoch;
                let undo_key = is_first_write.then(|| entry.key().clone());
                let old = entry.insert(Live { value, stamp: Stamp::new(epoch, base), weight });
                let tally = self.active.tally_mut();
                tally.remove_live(base, old.weight);
                tally.add_live(base, weight);
                undo_key.map(|key| (key, Before::Live(old)))
            }
        };
        if let Some((key, before)) = undo_key {
            self.remember(key, before);
        }
    }

    /// Removes a row; nothing happens if there is none.
    #[inline]
    pub fn delete(&mut self, key: &K) {
        let epoch = self.command.epoch();
        let Some((key, live)) = self.active.live.remove_entry(key) else {
            return self.delete_below(key);
        };
        let base = live.stamp.base();
        self.active.tally_mut().remove_live(base, live.weight);
        let is_first_write = epoch != 0 && live.stamp.epoch() != epoch;
        if base == Base::Absent {
            if is_first_write {
                self.remember(key, Before::Live(live));
            }
        } else {
            if is_first_write {
                self.remember(key.clone(), Before::Live(live));
            }
            self.active.put_dead(key, Stamp::new(epoch, base));
        }
    }

    fn delete_below(&mut self, key: &K) {
        let base = self.base(key);
        if base == Base::Absent || self.active.dead.contains_key(key) {
            return;
        }
        let epoch = self.command.epoch();
        if epoch != 0 {
            self.remember(key.clone(), Before::Nothing);
        }
        self.active.put_dead(key.clone(), Stamp::new(epoch, base));
    }

    /// Changes a row. Returns whether there was one. A value that somebody else still holds is copied first.
    pub fn update(&mut self, key: &K, change: impl FnOnce(&mut V)) -> Result<bool, StateError>
    where
        V: Clone,
    {
        let epoch = self.command.epoch();
        let Some(live) = self.active.live.get_mut(key) else {
            let Some(mut value) = self.get_below(key)? else { return Ok(false) };
            change(Arc::make_mut(&mut value));
            self.write(key.clone(), value, Base::Present);
            return Ok(true);
        };
        let base = live.stamp.base();
        let before = (epoch != 0 && live.stamp.epoch() != epoch).then(|| {
            // The copy in the undo list keeps the old value as it is.
            let stamp = std::mem::replace(&mut live.stamp, Stamp::new(epoch, base));
            Before::Live(Live { value: Arc::clone(&live.value), stamp, weight: live.weight })
        });
        if let Some(before) = before {
            // Before the change, which may panic.
            if self.undo.is_empty() {
                self.command.touch(self.position);
            }
            self.undo.push(Undo { key: key.clone(), before });
        }
        let value = Arc::make_mut(&mut live.value);
        change(value);
        let weight = live_weight(key, value);
        let old_weight = std::mem::replace(&mut live.weight, weight);
        let tally = self.active.tally_mut();
        tally.remove_live(base, old_weight);
        tally.add_live(base, weight);
        Ok(true)
    }

    /// The first `limit` rows of a range in ascending order.
    pub fn scan(&self, range: impl RangeBounds<K>, limit: usize) -> Result<Vec<(K, Arc<V>)>, StateError> {
        let mut rows = Vec::new();
        if limit > 0 {
            self.visit(range, |key, value| {
                rows.push((key.clone(), Arc::clone(value)));
                if rows.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        }
        Ok(rows)
    }

    /// Calls `visit` with the rows of a range in ascending order until it breaks off.
    pub fn visit(
        &self,
        range: impl RangeBounds<K>,
        mut visit: impl FnMut(&K, &Arc<V>) -> ControlFlow<()>,
    ) -> Result<(), StateError> {
        let (start, end) = (range.start_bound(), range.end_bound());
        if is_inverted(start, end) {
            return Ok(());
        }
        if self.is_memory_only(start, end) {
            for (key, live) in self.active.live.range::<K, _>((start, end)) {
                if visit(key, &live.value).is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let mut walk = self.walk(start, end, false)?;
        while let Some(row) = walk.next()? {
            let (key, value) = row.into_pair(&self.disk)?;
            if visit(&key, &value).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The first `limit` keys of a range in ascending order. Values are not read.
    pub fn keys(&self, range: impl RangeBounds<K>, limit: usize) -> Result<Vec<K>, StateError> {
        let (start, end) = (range.start_bound(), range.end_bound());
        if is_inverted(start, end) || limit == 0 {
            return Ok(Vec::new());
        }
        if self.is_memory_only(start, end) {
            let rows = self.active.live.range::<K, _>((start, end));
            return Ok(rows.take(limit).map(|(key, _)| key.clone()).collect());
        }
        let mut walk = self.walk(start, end, false)?;
        let mut keys = Vec::new();
        while keys.len() < limit {
            let Some(row) = walk.next()? else { break };
            keys.push(row.into_key());
        }
        Ok(keys)
    }

    /// The first row of a range.
    pub fn first(&self, range: impl RangeBounds<K>) -> Result<Option<(K, Arc<V>)>, StateError> {
        self.end_of(range.start_bound(), range.end_bound(), false)
    }

    /// The last row of a range.
    pub fn last(&self, range: impl RangeBounds<K>) -> Result<Option<(K, Arc<V>)>, StateError> {
        self.end_of(range.start_bound(), range.end_bound(), true)
    }

    fn end_of(
        &self,
        start: Bound<&K>,
        end: Bound<&K>,
        backwards: bool,
    ) -> Result<Option<(K, Arc<V>)>, StateError> {
        if is_inverted(start, end) {
            return Ok(None);
        }
        if self.is_memory_only(start, end) {
            let mut rows = self.active.live.range::<K, _>((start, end));
            let row = if backwards { rows.next_back() } else { rows.next() };
            return Ok(row.map(|(key, live)| (key.clone(), Arc::clone(&live.value))));
        }
        match self.walk(start, end, backwards)?.next()? {
            Some(row) => row.into_pair(&self.disk).map(Some),
            None => Ok(None),
        }
    }

    /// Removes all rows.
    pub fn clear(&mut self) -> Result<(), StateError> {
        let mut from = Bound::Unbounded;
        loop {
            let keys = self.keys((from, Bound::Unbounded), CLEARED_AT_ONCE)?;
            let Some(last) = keys.last().cloned() else { return Ok(()) };
            for key in &keys {
                self.delete(key);
            }
            // Keys that were removed are not walked over again.
            from = Bound::Excluded(last);
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> Result<bool, StateError> {
        if !self.active.live.is_empty() {
            return Ok(false);
        }
        if self.is_memory_only(Bound::Unbounded, Bound::Unbounded) {
            return Ok(true);
        }
        Ok(self.walk(Bound::Unbounded, Bound::Unbounded, false)?.next()?.is_none())
    }

    /// The number of rows. Counters give it, except for keys put or deleted while the disk might hold them: those are
    /// looked up, each time.
    pub fn len(&self) -> Result<u64, StateError> {
        self.count(usize::MAX)
    }

    /// The number of rows; an estimate if a layer has more than `lookups_max` keys to look up.
    fn count(&self, lookups_max: usize) -> Result<u64, StateError> {
        let mut rows = self.active.tally().rows;
        if self.active.tally().unknown > 0 {
            rows += resolve(&self.active, lookups_max, &|key| self.contains_below(key))?;
        }
        let mut frozen_rows = 0;
        if let Some(frozen) = &self.frozen {
            frozen_rows = frozen.tally().rows;
            if frozen.tally().unknown > 0 {
                frozen_rows += resolve(frozen, lookups_max, &|key| self.is_on_disk(key))?;
            }
        }
        // Asked last: looking up rows may be what opens the database anew.
        rows += match self.disk.rows_ahead() {
            Some(rows_ahead) => rows_ahead.cast_signed(),
            None => self.disk.rows().cast_signed() + frozen_rows,
        };
        Ok(rows.max(0).cast_unsigned())
    }

    /// The number of the table.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The name of the table.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether nothing but the active layer has rows in that range.
    #[inline]
    fn is_memory_only(&self, start: Bound<&K>, end: Bound<&K>) -> bool {
        self.frozen.is_none() && !self.span.may_overlap(start, end)
    }

    fn walk(&self, start: Bound<&K>, end: Bound<&K>, backwards: bool) -> Result<Walk<'_, K, V>, StateError> {
        let layers = Layers {
            active: &self.active,
            frozen: self.frozen.as_deref(),
            disk: &self.disk,
            span: &self.span,
            frozen_gaps: &self.frozen_gaps,
            disk_gaps: &self.disk_gaps,
        };
        Walk::new(layers, start, end, backwards)
    }
}

/// Whether there is no place between the bounds.
#[inline]
fn is_inverted<K: Ord>(start: Bound<&K>, end: Bound<&K>) -> bool {
    match (start, end) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(start), Bound::Included(end)) => start > end,
        (Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)) => {
            start >= end
        }
    }
}

/// Rows added by entries that do not know whether the key exists below. Of more than `lookups_max` entries, a sample of
/// that size, spread over the layer, stands for all.
fn resolve<K: TableKey, V: TableValue>(
    layer: &Layer<K, V>,
    lookups_max: usize,
    below: &dyn Fn(&K) -> Result<bool, StateError>,
) -> Result<i64, StateError> {
    let each = layer.tally().unknown.div_ceil(lookups_max).max(1);
    let mut rows = 0;
    let live = layer.live.iter().filter(|(_, live)| live.stamp.base() == Base::Unknown);
    for (key, _) in live.step_by(each) {
        if !below(key)? {
            rows += 1;
        }
    }
    let dead = layer.dead.iter().filter(|(_, stamp)| stamp.base() == Base::Unknown);
    for (key, _) in dead.step_by(each) {
        if below(key)? {
            rows -= 1;
        }
    }
    Ok(rows * each as i64)
}

/// The interface of each table to [`tables!`](crate::tables).
#[doc(hidden)]
impl<K: TableKey, V: TableValue> Table<K, V> {
    pub fn open(
        store: &Store,
        command: &Arc<Command>,
        name: &'static str,
        number: u32,
        position: usize,
        view: View,
    ) -> Self {
        Self {
            name,
            number,
            position,
            command: Arc::clone(command),
            undo: Vec::new(),
            active: Layer::new(),
            frozen: None,
            span: Span::of(&view),
            disk: Disk::new::<V>(store.clone(), name, number, view),
            frozen_gaps: Mutex::new(Gaps::new()),
            disk_gaps: Mutex::new(Gaps::new()),
        }
    }

    pub fn commit(&mut self) {
        self.undo.clear();
        self.undo.shrink_to(UNDO_KEPT_MAX);
    }

    pub fn rollback(&mut self) {
        while let Some(Undo { key, before }) = self.undo.pop() {
            let gap_key = matches!(before, Before::Nothing).then(|| key.clone());
            if self.active.restore(key, before)
                && let Some(key) = gap_key
            {
                with_encoded(&key, |bytes| {
                    self.frozen_gaps.get_mut().open(bytes);
                    self.disk_gaps.get_mut().open(bytes);
                });
            }
        }
        self.undo.shrink_to(UNDO_KEPT_MAX);
    }

    /// Where the disk shows nothing stays true: the tombstones are only one layer further down.
    pub fn freeze(&mut self) {
        let layer = std::mem::replace(&mut self.active, Layer::new());
        self.frozen = Some(Arc::new(layer));
        self.frozen_gaps.get_mut().clear();
    }

    pub fn frozen_table(&self) -> Option<Box<dyn FrozenTable>> {
        let layer = Arc::clone(self.frozen.as_ref()?);
        Some(Box::new(FrozenLayer { name: self.name, number: self.number, layer }))
    }

    /// Goes over to the flushed rows and gives the frozen layer away.
    pub fn flushed(&mut self, view: View) -> Option<Arc<dyn Any + Send + Sync>> {
        self.span = Span::of(&view);
        self.disk.install(view);
        self.frozen_gaps.get_mut().clear();
        self.disk_gaps.get_mut().clear();
        self.frozen.take().map(|layer| layer as Arc<dyn Any + Send + Sync>)
    }

    pub fn overlay_bytes(&self) -> usize {
        self.active.tally().bytes
    }

    pub fn frozen_bytes(&self) -> usize {
        self.frozen.as_ref().map_or(0, |layer| layer.tally().bytes)
    }

    /// The name and about the number of rows, without many reads of the disk: the counts of metrics stop the partition
    /// for as long as they take.
    pub fn row_count(&self) -> (&'static str, u64) {
        // A count that cannot be completed for a failing disk is still the best estimate.
        let counted = || self.disk.rows().saturating_add_signed(self.active.tally().rows);
        (self.name, self.count(COUNT_LOOKUPS_MAX).unwrap_or_else(|_| counted()))
    }

    /// The table's number and a hash of its rows; `None` if there are none.
    pub fn state_hash(&self) -> Result<Option<(u32, u64)>, StateError> {
        let mut walk = self.walk(Bound::Unbounded, Bound::Unbounded, false)?;
        let mut hasher = RowHasher::new(self.number);
        while let Some(row) = walk.next()? {
            // Values from disk are encoded again, so that both sides went through the same encoder.
            match row {
                Row::Memory(key, value) => {
                    hasher.add(&mut |out| key.encode(out), &mut |out| value.encode(out));
                }
                Row::Disk { key_bytes, value_bytes, .. } => {
                    let value = self.disk.decode::<V>(key_bytes.value(), value_bytes.value())?;
                    hasher.add(&mut |out| out.extend_from_slice(key_bytes.value()), &mut |out| {
                        value.encode(out);
                    });
                }
            }
        }
        Ok(hasher.finish())
    }
}

/// The hash of a table's rows.
struct RowHasher {
    number: u32,
    hasher: Xxh3,
    rows: u64,
    bytes: Vec<u8>,
}

impl RowHasher {
    fn new(number: u32) -> Self {
        Self { number, hasher: Xxh3::with_seed(u64::from(number)), rows: 0, bytes: Vec::new() }
    }

    /// Adds a row. `key` and `value` append their bytes.
    fn add(&mut self, key: &mut dyn FnMut(&mut Vec<u8>), value: &mut dyn FnMut(&mut Vec<u8>)) {
        self.bytes.clear();
        key(&mut self.bytes);
        let key_len = self.bytes.len();
        value(&mut self.bytes);
        self.rows += 1;
        self.hasher.update(&(key_len as u64).to_le_bytes());
        self.hasher.update(&((self.bytes.len() - key_len) as u64).to_le_bytes());
        self.hasher.update(&self.bytes);
    }

    /// The table's number and the hash; `None` without rows.
    fn finish(self) -> Option<(u32, u64)> {
        (self.rows > 0).then(|| (self.number, self.hasher.digest()))
    }
}
