//! Changes to rows, gathered and merged before a store sees them.

#![expect(missing_docs, reason = "names say what is held")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use protocol::{Key, Name};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use search::Value;
use search::model::{ColumnId, Entity, EntityId};

/// Identity of a row of an entity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowId {
    Key(Key),
    Text(Name),
}

impl RowId {
    /// As the value of the first column.
    pub fn value(&self) -> Value {
        match self {
            Self::Key(key) => (*key).into(),
            Self::Text(text) => text.into(),
        }
    }
}

/// Operations on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// It is there with these columns; those that are not named become null if it was not there before.
    Insert,
    /// If it is there, these columns change.
    Update,
    Delete,
}

/// Entity, operation, columns set, columns added to.
pub(crate) type Shape = (EntityId, Operation, Columns, Columns);

/// Columns of an entity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Columns(u64);

impl Columns {
    pub(crate) fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// How many of them stand before a column, if it is one of them.
    pub(crate) fn place(self, column: ColumnId) -> Option<usize> {
        let bit = 1 << column;
        (self.0 & bit != 0).then(|| (self.0 & (bit - 1)).count_ones() as usize)
    }

    /// Columns in which rows of one shape have the same text.
    pub(crate) fn shared(rows: &[&Change]) -> Self {
        let Some((first, others)) = rows.split_first() else { return Self::default() };
        let values = first.values.iter().enumerate();
        let is_shared = |at: usize, value: &Value| {
            matches!(value, Value::Text(_)) && others.iter().all(|row| row.values[at].1 == *value)
        };
        values.filter(|(at, (_, value))| is_shared(*at, value)).map(|(_, (column, _))| *column).collect()
    }
}

impl FromIterator<ColumnId> for Columns {
    fn from_iter<I: IntoIterator<Item = ColumnId>>(columns: I) -> Self {
        Self(columns.into_iter().fold(0, |bits, column| bits | 1 << column))
    }
}

/// The change of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub entity: EntityId,
    pub id: RowId,
    pub operation: Operation,
    /// Values by column, ascending, each column at most once; the identity is not among them.
    pub values: Vec<(ColumnId, Value)>,
    /// Columns that grow by an amount.
    pub increments: Vec<(ColumnId, i64)>,
    /// Position of the first record that it is of; 0 if nobody said.
    pub since: u64,
}

/// Values that a change has room for at first.
const ROOM: usize = 18;

impl Change {
    fn new(entity: &'static Entity, id: RowId, operation: Operation) -> Self {
        // Most entries of the audit log lack most of its columns.
        let room = if operation == Operation::Insert { entity.columns.len().min(ROOM) } else { 0 };
        Self {
            entity: entity.id,
            id,
            operation,
            values: Vec::with_capacity(room),
            increments: Vec::new(),
            since: 0,
        }
    }

    /// A number that it sets.
    pub(crate) fn number(&self, column: ColumnId) -> Option<i64> {
        let at = self.values.binary_search_by_key(&column, |(at, _)| *at).ok()?;
        self.values[at].1.integer()
    }

    /// The shape of its statement.
    pub(crate) fn shape(&self) -> Shape {
        (
            self.entity,
            self.operation,
            self.values.iter().map(|(column, _)| *column).collect(),
            self.increments.iter().map(|(column, _)| *column).collect(),
        )
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_void(&self) -> bool {
        self.operation == Operation::Update && self.values.is_empty() && self.increments.is_empty()
    }

    pub fn set(&mut self, column: ColumnId, value: impl Into<Value>) -> &mut Self {
        let value = value.into();
        if !self.increments.is_empty() {
            self.increments.retain(|(at, _)| *at != column);
        }
        if self.values.last().is_none_or(|(last, _)| *last < column) {
            self.values.push((column, value));
            return self;
        }
        match self.values.binary_search_by_key(&column, |(at, _)| *at) {
            Ok(at) => self.values[at].1 = value,
            Err(at) => self.values.insert(at, (column, value)),
        }
        self
    }

    /// Lets a column grow, a peak to this amount at least.
    pub fn add(&mut self, column: ColumnId, amount: i64) -> &mut Self {
        let grown = |before| Entity::of(self.entity).columns[usize::from(column)].grown(before, amount);
        // A column that is set has its value from here alone.
        if let Ok(at) = self.values.binary_search_by_key(&column, |(at, _)| *at) {
            let value = &mut self.values[at].1;
            *value = Value::Integer(grown(value.integer().unwrap_or(0)));
            return self;
        }
        match self.increments.binary_search_by_key(&column, |(at, _)| *at) {
            Ok(at) => self.increments[at].1 = grown(self.increments[at].1),
            Err(at) => self.increments.insert(at, (column, amount)),
        }
        self
    }
}

/// Changes in the order in which their rows were first touched, at most one for each row.
///
/// A row that begins and ends within a batch is written once, in its final form.
#[derive(Debug, Default)]
pub struct Batch {
    changes: Vec<Change>,
    /// Where the changes of rows are that have a key: keys are given by the engine, so anything spreads them well
    /// enough.
    by_key: HashMap<(EntityId, Key), usize, BuildHasherDefault<KeyHasher>>,
    by_text: HashMap<(EntityId, Name), usize, BuildHasherDefault<TextHasher>>,
    merged: u64,
    /// Position of the record whose changes come next.
    position: u64,
}

impl Batch {
    /// Says of which record the next changes are.
    pub fn begin_record(&mut self, position: u64) {
        self.position = position;
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub fn len(&self) -> usize {
        self.changes.len()
    }

    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// How often a row was touched that had been touched before.
    pub fn merged(&self) -> u64 {
        self.merged
    }

    /// The change of a row, if there is one.
    pub(crate) fn find(&self, entity: EntityId, key: Key) -> Option<&Change> {
        self.by_key.get(&(entity, key)).map(|at| &self.changes[*at])
    }

    /// Forgets everything; keeps the memory.
    pub fn clear(&mut self) {
        self.changes.clear();
        self.by_key.clear();
        self.by_text.clear();
        self.merged = 0;
    }

    /// A row begins. Repeating is harmless.
    pub fn insert(&mut self, entity: &'static Entity, id: RowId) -> &mut Change {
        let change = self.touch(entity, id, Operation::Insert);
        change.operation = Operation::Insert;
        change
    }

    /// A row changes, if it is there.
    pub fn update(&mut self, entity: &'static Entity, id: RowId) -> &mut Change {
        self.touch(entity, id, Operation::Update)
    }

    pub fn delete(&mut self, entity: &'static Entity, id: RowId) {
        let change = self.touch(entity, id, Operation::Delete);
        change.operation = Operation::Delete;
        change.values.clear();
        change.increments.clear();
    }

    fn touch(&mut self, entity: &'static Entity, id: RowId, operation: Operation) -> &mut Change {
        let next = self.changes.len();
        let at = match &id {
            RowId::Key(key) => *self.by_key.entry((entity.id, *key)).or_insert(next),
            RowId::Text(text) => *self.by_text.entry((entity.id, text.clone())).or_insert(next),
        };
        if at == next {
            self.changes.push(Change { since: self.position, ..Change::new(entity, id, operation) });
        } else {
            self.merged += 1;
        }
        &mut self.changes[at]
    }

    /// Removes some changes from the batch.
    pub(crate) fn without(mut self, is_unwanted: impl Fn(&Change) -> bool) -> Self {
        let mut kept = Self { position: self.position, ..Self::default() };
        self.changes.drain(..).filter(|change| !is_unwanted(change)).for_each(|change| kept.push(change));
        kept
    }

    /// Takes some changes out. The others can only be read from then on, until the batch begins again with those.
    pub(crate) fn take(&mut self, is_wanted: impl Fn(&Change) -> bool) -> Vec<Change> {
        self.changes.extract_if(.., |change| is_wanted(change)).collect()
    }

    /// Forgets everything and begins again with some changes.
    pub(crate) fn begin_with(&mut self, changes: Vec<Change>) {
        self.clear();
        for change in changes {
            self.push(change);
        }
    }

    /// Adds the changes of another batch, as if they had been made here.
    pub(crate) fn append(&mut self, other: Self, is_wanted: impl Fn(&Change) -> bool) {
        for change in other.changes.into_iter().filter(is_wanted) {
            let row = self.touch(Entity::of(change.entity), change.id, change.operation);
            if change.operation != Operation::Update {
                row.operation = change.operation;
            }
            for (column, value) in change.values {
                row.set(column, value);
            }
            for (column, by) in change.increments {
                row.add(column, by);
            }
        }
    }

    fn push(&mut self, change: Change) {
        let next = self.changes.len();
        match &change.id {
            RowId::Key(key) => self.by_key.insert((change.entity, *key), next),
            RowId::Text(text) => self.by_text.insert((change.entity, text.clone()), next),
        };
        self.changes.push(change);
    }
}

/// Changes by shape, each in the order of their rows: what is alike is written together, and rows that follow one
/// another in the store, too. All who write go through tables and rows in the same order.
pub(crate) fn groups<'c>(changes: impl IntoIterator<Item = &'c Change>) -> Vec<Vec<&'c Change>> {
    let mut groups: BTreeMap<Shape, Vec<&Change>> = BTreeMap::new();
    for change in changes.into_iter().filter(|change| !change.is_void()) {
        groups.entry(change.shape()).or_default().push(change);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    for group in &mut groups {
        group.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    }
    groups
}

/// Keys, which the engine gives, so that anything spreads them well enough.
pub(crate) type KeySet = HashSet<Key, BuildHasherDefault<KeyHasher>>;

/// Spreads the numbers of an entity and a key.
#[derive(Debug, Default)]
pub(crate) struct KeyHasher(u64);

/// Spreads texts, which may be chosen by users; none of them makes more than some rows of one flush.
#[derive(Debug, Default)]
pub(crate) struct TextHasher(u64);

impl Hasher for TextHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_u8(&mut self, _: u8) {}

    fn write_isize(&mut self, number: isize) {
        self.0 ^= number as u64;
    }
}

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::model::{element_duration as duration, process_instance as instance};

    #[test]
    fn a_row_that_begins_and_ends_is_one_insert() {
        let mut batch = Batch::default();
        batch
            .insert(&instance::ENTITY, RowId::Key(1))
            .set(instance::STATE, "ACTIVE")
            .set(instance::START, 5_i64);
        batch
            .update(&instance::ENTITY, RowId::Key(1))
            .set(instance::STATE, "COMPLETED")
            .set(instance::END, 6_i64);
        let [change] = batch.changes() else { panic!("{batch:?}") };
        assert_eq!(change.operation, Operation::Insert);
        assert_eq!(
            change.values,
            [
                (instance::START, 5_i64.into()),
                (instance::END, 6_i64.into()),
                (instance::STATE, "COMPLETED".into())
            ]
        );
        assert_eq!(batch.merged(), 1);
    }

    #[test]
    fn a_column_is_set_or_grows() {
        let mut batch = Batch::default();
        let row = batch.insert(&instance::ENTITY, RowId::Key(1));
        row.set(instance::HAS_INCIDENT, false).add(instance::HAS_INCIDENT, 1).add(instance::HAS_INCIDENT, 1);
        assert_eq!(row.values, [(instance::HAS_INCIDENT, 2_i64.into())]);
        assert!(row.increments.is_empty());
        row.set(instance::HAS_INCIDENT, Value::Null).add(instance::HAS_INCIDENT, -1);
        assert_eq!(row.values, [(instance::HAS_INCIDENT, (-1_i64).into())]);
        let row = batch.update(&instance::ENTITY, RowId::Key(2));
        row.add(instance::HAS_INCIDENT, 1).set(instance::HAS_INCIDENT, false);
        assert_eq!(row.values, [(instance::HAS_INCIDENT, 0_i64.into())]);
        assert!(row.increments.is_empty());
    }

    #[test]
    fn a_peak_is_the_largest_of_what_was_added() {
        let mut batch = Batch::default();
        let row = batch.insert(&duration::ENTITY, RowId::Text("a".into()));
        row.add(duration::MAX, 7).add(duration::MAX, 3).add(duration::COUNT, 7).add(duration::COUNT, 3);
        assert_eq!(row.increments, [(duration::COUNT, 10), (duration::MAX, 7)]);
        let row = batch.insert(&duration::ENTITY, RowId::Text("b".into()));
        assert_eq!(row.set(duration::MAX, 5_i64).add(duration::MAX, 4).number(duration::MAX), Some(5));
    }

    #[test]
    fn what_is_deleted_carries_nothing() {
        let mut batch = Batch::default();
        batch.update(&instance::ENTITY, RowId::Key(1)).set(instance::STATE, "ACTIVE");
        batch.delete(&instance::ENTITY, RowId::Key(1));
        assert_eq!(batch.changes()[0].operation, Operation::Delete);
        assert!(batch.changes()[0].values.is_empty());
    }
}
