//! The rows of one table that are on disk.

use std::{cell::RefCell, ops::Bound, sync::Arc};

use parking_lot::RwLock;
use redb::AccessGuard;

use crate::{
    StateError, Store, TableKey, TableValue,
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

thread_local! {
    /// Keys are encoded here for look-ups.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn with_encoded<K: TableKey, R>(key: &K, work: impl FnOnce(&[u8]) -> R) -> R {
    // Taken, not borrowed: a decoder may itself come here.
    let mut buffer = SCRATCH.take();
    buffer.clear();
    key.encode(&mut buffer);
    let result = work(&buffer);
    SCRATCH.set(buffer);
    result
}

/// The keys between which all rows on disk lie.
#[derive(Debug)]
enum Span<K> {
    Empty,
    Within(K, K),
    /// The ends could not be decoded; whoever reads there gets the error.
    Anywhere,
}

/// The rows of one table as of the last flush.
#[derive(Debug)]
pub(crate) struct Disk<K> {
    store: Store,
    table: &'static str,
    number: u32,
    rows: u64,
    flushes: u64,
    span: Span<K>,
    view: RwLock<View>,
}

impl<K: TableKey> Disk<K> {
    pub(crate) fn new(store: Store, table: &'static str, number: u32, view: View) -> Self {
        Self {
            store,
            table,
            number,
            rows: view.rows,
            flushes: view.flushes,
            span: span(&view),
            view: RwLock::new(view),
        }
    }

    /// Goes over to a later commit.
    pub(crate) fn install(&mut self, view: View) {
        self.rows = view.rows;
        self.flushes = view.flushes;
        self.span = span(&view);
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

    /// `false` only if the key is surely not on disk.
    #[inline]
    pub(crate) fn may_hold(&self, key: &K) -> bool {
        match &self.span {
            Span::Empty => false,
            Span::Within(first, last) => first <= key && key <= last,
            Span::Anywhere => true,
        }
    }

    /// `false` only if there is surely nothing on disk in that range.
    #[inline]
    pub(crate) fn may_overlap(&self, start: Bound<&K>, end: Bound<&K>) -> bool {
        let (first, last) = match &self.span {
            Span::Empty => return false,
            Span::Within(first, last) => (first, last),
            Span::Anywhere => return true,
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

    pub(crate) fn contains(&self, key: &K) -> Result<bool, StateError> {
        if !self.may_hold(key) {
            return Ok(false);
        }
        with_encoded(key, |bytes| match self.read(bytes, |table| Ok(table.get(bytes)?.inspect(touch)))? {
            Some(stored) => self.unseal(bytes, stored.value()).map(|_| true),
            None => Ok(false),
        })
    }

    pub(crate) fn get<V: TableValue>(&self, key: &K) -> Result<Option<Arc<V>>, StateError> {
        if !self.may_hold(key) {
            return Ok(None);
        }
        with_encoded(key, |bytes| {
            if let Some(value) = self.store.cache().get(self.number, bytes) {
                return Ok(Some(value));
            }
            match self.read(bytes, |table| Ok(table.get(bytes)?.inspect(touch)))? {
                Some(stored) => self.decode_and_keep(bytes, stored.value()).map(Some),
                None => Ok(None),
            }
        })
    }

    /// The rows between two cuts.
    pub(crate) fn range(&self, start: &Cut<K>, end: &Cut<K>) -> Result<Option<Rows>, StateError> {
        let (start, end) = (encode_bound(start.start()), encode_bound(end.end()));
        let bounds = (as_slices(&start), as_slices(&end));
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

    pub(crate) fn decode_key(&self, bytes: &[u8]) -> Result<K, StateError> {
        decode_whole(bytes).map_err(|error| self.corrupt(bytes, error.to_string()))
    }

    /// The value of a row that a scan has come to.
    pub(crate) fn value<V: TableValue>(&self, key: &[u8], stored: &[u8]) -> Result<Arc<V>, StateError> {
        match self.store.cache().get(self.number, key) {
            Some(value) => Ok(value),
            None => self.decode_and_keep(key, stored),
        }
    }

    /// Decodes without touching the cache, for passes over whole tables.
    pub(crate) fn decode<V: TableValue>(&self, key: &[u8], stored: &[u8]) -> Result<V, StateError> {
        V::decode(self.unseal(key, stored)?).map_err(|error| self.corrupt(key, error.to_string()))
    }

    /// The bytes of a value, if they are those that were stored under that key.
    pub(crate) fn unseal<'a>(&self, key: &[u8], stored: &'a [u8]) -> Result<&'a [u8], StateError> {
        unseal(key, stored).ok_or_else(|| self.corrupt(key, "the row does not match its checksum".to_owned()))
    }

    pub(crate) fn error(&self, key: &[u8], source: redb::Error) -> StateError {
        StateError::Row { table: self.table, key: hex(key), action: "read", source: Box::new(source) }
    }

    fn decode_and_keep<V: TableValue>(&self, key: &[u8], stored: &[u8]) -> Result<Arc<V>, StateError> {
        let value = Arc::new(self.decode::<V>(key, stored)?);
        self.store.cache().insert(self.number, key, Arc::clone(&value));
        Ok(value)
    }

    fn corrupt(&self, key: &[u8], reason: String) -> StateError {
        StateError::Corrupt { table: self.table, key: hex(key), reason }
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
    /// the frozen overlay lies above either and makes them look alike. That is why `span` stays.
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

fn span<K: TableKey>(view: &View) -> Span<K> {
    match &view.ends {
        None => Span::Empty,
        Some((first, last)) => match (decode_whole(first), decode_whole(last)) {
            (Ok(first), Ok(last)) => Span::Within(first, last),
            _ => Span::Anywhere,
        },
    }
}

fn encode_bound<K: TableKey>(bound: Bound<&K>) -> Bound<Vec<u8>> {
    bound.map(|key| {
        let mut bytes = Vec::new();
        key.encode(&mut bytes);
        bytes
    })
}

fn as_slices(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}
