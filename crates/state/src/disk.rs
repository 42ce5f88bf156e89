//! The rows of one table that are on disk, as bytes. Everything here exists once, whatever the types of the table.

use std::{any::TypeId, cell::RefCell, ops::Bound, sync::Arc};

use parking_lot::RwLock;
use redb::AccessGuard;

use crate::{
    StateError, Store, TableKey, TableValue,
    cache::AnyValue,
    error::hex,
    gaps::Cut,
    key::decode_whole,
    seal::unseal,
    store::{RawTable, View, guarded, needs_reopening},
};

/// An encoded key or value inside a database page.
pub(crate) type Bytes = AccessGuard<'static, &'static [u8]>;
/// Rows in the order of keys.
pub(crate) type Rows = redb::Range<'static, &'static [u8], &'static [u8]>;
/// Decodes a value, and gives its weight in bytes beside it.
type DecodeValue = fn(&[u8]) -> Result<(AnyValue, usize), StateError>;

thread_local! {
    /// Keys are encoded here for look-ups.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Works with the bytes of a key.
pub(crate) fn with_encoded<K: TableKey, R>(key: &K, work: impl FnOnce(&[u8]) -> R) -> R {
    // Taken, not borrowed: a decoder may itself come here.
    let mut buffer = SCRATCH.take();
    buffer.clear();
    key.encode(&mut buffer);
    let result = work(&buffer);
    SCRATCH.set(buffer);
    result
}

fn decode_value<V: TableValue>(bytes: &[u8]) -> Result<(AnyValue, usize), StateError> {
    let value = V::decode(bytes)?;
    let weight = value.weight();
    Ok((Arc::new(value), weight))
}

/// The keys between which all rows on disk lie.
#[derive(Debug)]
pub(crate) enum Span<K> {
    Empty,
    Within(K, K),
    /// The ends could not be decoded; a read there gets the error.
    Anywhere,
}

impl<K: TableKey> Span<K> {
    pub(crate) fn of(view: &View) -> Self {
        match &view.ends {
            None => Self::Empty,
            Some((first, last)) => match (decode_whole(first), decode_whole(last)) {
                (Ok(first), Ok(last)) => Self::Within(first, last),
                _ => Self::Anywhere,
            },
        }
    }

    /// `false` only if the key is surely not on disk.
    #[inline]
    pub(crate) fn may_hold(&self, key: &K) -> bool {
        match self {
            Self::Empty => false,
            Self::Within(first, last) => first <= key && key <= last,
            Self::Anywhere => true,
        }
    }

    /// `false` only if there is surely nothing on disk in that range.
    #[inline]
    pub(crate) fn may_overlap(&self, start: Bound<&K>, end: Bound<&K>) -> bool {
        let (first, last) = match self {
            Self::Empty => return false,
            Self::Within(first, last) => (first, last),
            Self::Anywhere => return true,
        };
        let begins_in_time = match start {
            Bound::Included(key) => key <= last,
            Bound::Excluded(key) => key < last,
            Bound::Unbounded => true,
        };
        let ends_late_enough = match end {
            Bound::Included(key) => key >= first,
            Bound::Excluded(key) => key > first,
            Bound::Unbounded => true,
        };
        begins_in_time && ends_late_enough
    }
}

/// The rows of one table as of the last flush.
#[derive(Debug)]
pub(crate) struct Disk {
    store: Store,
    table: &'static str,
    number: u32,
    rows: u64,
    flushes: u64,
    view: RwLock<View>,
    value_type: TypeId,
    decode: DecodeValue,
}

impl Disk {
    /// The rows of a table with values of type `V`.
    pub(crate) fn new<V: TableValue>(store: Store, table: &'static str, number: u32, view: View) -> Self {
        let (rows, flushes) = (view.rows, view.flushes);
        Self {
            store,
            table,
            number,
            rows,
            flushes,
            view: RwLock::new(view),
            value_type: TypeId::of::<V>(),
            decode: decode_value::<V>,
        }
    }

    /// Goes over to a later commit.
    pub(crate) fn install(&mut self, view: View) {
        self.rows = view.rows;
        self.flushes = view.flushes;
        self.view = RwLock::new(view);
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The rows on disk if those include the overlay being flushed already: the flush reached the disk, but what it
    /// reported has not, and the database was opened anew in between.
    pub(crate) fn rows_ahead(&self) -> Option<u64> {
        let view = self.view.read();
        (view.flushes > self.flushes).then_some(view.rows)
    }

    /// Whether a key is on disk.
    pub(crate) fn contains(&self, key: &[u8]) -> Result<bool, StateError> {
        match self.read(key, |table| Ok(table.get(key)?.inspect(touch)))? {
            Some(stored) => self.unseal(key, stored.value()).map(|_| true),
            None => Ok(false),
        }
    }

    /// The value under a key.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<AnyValue>, StateError> {
        if let Some(value) = self.clean(key) {
            return Ok(Some(value));
        }
        match self.read(key, |table| Ok(table.get(key)?.inspect(touch)))? {
            Some(stored) => self.decode_and_keep(key, stored.value()).map(Some),
            None => Ok(None),
        }
    }

    /// The decoded value of a row, if it is kept. Tables that were open on the store before may have had another type.
    fn clean(&self, key: &[u8]) -> Option<AnyValue> {
        self.store.cache().get(self.number, key).filter(|value| value.as_ref().type_id() == self.value_type)
    }

    /// The rows between two cuts.
    pub(crate) fn range(&self, start: &Cut, end: &Cut) -> Result<Option<Rows>, StateError> {
        let bounds = (start.start(), end.end());
        self.read(&[], |table| Ok(Some(table.range::<&[u8]>(bounds)?)))
    }

    /// Steps through rows, from either end.
    pub(crate) fn step(&self, rows: &mut Rows, backwards: bool) -> Result<Step, StateError> {
        let next = guarded(|| -> Result<_, redb::Error> {
            let next = if backwards { rows.next_back() } else { rows.next() };
            Ok(next.transpose()?.inspect(|(key, value)| {
                touch(key);
                touch(value);
            }))
        });
        match next {
            Ok(Some((key, value))) => Ok(Step::Row(key, value)),
            Ok(None) => Ok(Step::End),
            Err(error) if needs_reopening(&error) => {
                self.renew()?;
                Ok(Step::Interrupted(error))
            }
            Err(error) => Err(self.error(&[], error)),
        }
    }

    pub(crate) fn decode_key<K: TableKey>(&self, bytes: &[u8]) -> Result<K, StateError> {
        decode_whole(bytes).map_err(|error| self.corrupt(bytes, &error))
    }

    /// The value of a row that a scan has come to.
    pub(crate) fn value(&self, key: &[u8], stored: &[u8]) -> Result<AnyValue, StateError> {
        match self.clean(key) {
            Some(value) => Ok(value),
            None => self.decode_and_keep(key, stored),
        }
    }

    /// Decodes without touching the cache, for passes over whole tables.
    pub(crate) fn decode<V: TableValue>(&self, key: &[u8], stored: &[u8]) -> Result<V, StateError> {
        V::decode(self.unseal(key, stored)?).map_err(|error| self.corrupt(key, &error))
    }

    /// The bytes of a value, if they are those that were stored under that key.
    pub(crate) fn unseal<'a>(&self, key: &[u8], stored: &'a [u8]) -> Result<&'a [u8], StateError> {
        unseal(key, stored).ok_or_else(|| self.corrupt(key, &"the row does not match its checksum"))
    }

    pub(crate) fn error(&self, key: &[u8], source: redb::Error) -> StateError {
        StateError::Row { table: self.table, key: hex(key), action: "read", source: Box::new(source) }
    }

    fn decode_and_keep(&self, key: &[u8], stored: &[u8]) -> Result<AnyValue, StateError> {
        let bytes = self.unseal(key, stored)?;
        let (value, weight) = (self.decode)(bytes).map_err(|error| self.corrupt(key, &error))?;
        self.store.cache().insert(self.number, key, Arc::clone(&value), weight);
        Ok(value)
    }

    fn corrupt(&self, key: &[u8], reason: &dyn ToString) -> StateError {
        StateError::Corrupt { table: self.table, key: hex(key), reason: reason.to_string() }
    }

    /// Reads; when the opening of the database has failed, once more through a new one.
    fn read<R: Default>(
        &self,
        key: &[u8],
        work: impl Fn(&RawTable) -> Result<R, redb::Error>,
    ) -> Result<R, StateError> {
        let attempt = || match &self.view.read().table {
            Some(table) => guarded(|| work(table)),
            None => Ok(R::default()),
        };
        match attempt() {
            Err(error) if needs_reopening(&error) => {
                self.renew()?;
                attempt().map_err(|source| self.error(key, source))
            }
            result => result.map_err(|source| self.error(key, source)),
        }
    }

    /// Opens the database and this table anew. The reopened table shows the former rows, or those of the running flush;
    /// the frozen overlay lies above either and makes them look alike. That is why the span of keys stays.
    #[cold]
    fn renew(&self) -> Result<(), StateError> {
        let mut view = self.view.write();
        // Another table may have opened the database anew already.
        self.store.reopen(view.generation)?;
        if let Some(newer) = self.store.views_or_reopen(std::iter::once(self.number))?.pop() {
            *view = newer;
        }
        Ok(())
    }
}

/// Looks at bytes of a page while it is guarded: where a damaged page says they lie, there may be none.
fn touch(bytes: &Bytes) {
    let _ = bytes.value();
}

/// One step of a walk over the disk.
pub(crate) enum Step {
    Row(Bytes, Bytes),
    End,
    /// The database had to be opened anew because of this error; the rows must be asked for again.
    Interrupted(redb::Error),
}
