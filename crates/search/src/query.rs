//! Searches and statistics: one description for all stores.

#![expect(missing_docs, reason = "names say what is held")]

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Operand, Test};

use crate::model::{ColumnId, ENTITIES, Entity};
use crate::value::Value;

/// A condition on a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Filter {
    /// All of these; none: always.
    All(Vec<Self>),
    /// At least one of these; none: never.
    Any(Vec<Self>),
    /// A column passes a test.
    Column(ColumnId, Test),
    /// There is a row of another entity, with the same value in a column, that passes its own filter.
    Related(Box<Related>),
    /// It has the largest value of a column among the rows of its group.
    Latest(Box<Latest>),
}

/// The last row of each group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latest {
    /// Columns whose values make a group.
    pub group: Vec<ColumnId>,
    /// The column that orders it.
    pub by: ColumnId,
    /// Which rows of the group count.
    pub among: Filter,
}

/// Rows of another entity that belong to a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Related {
    /// The column of the row.
    pub column: ColumnId,
    pub entity: EntityRef,
    /// Its column that has the same value.
    pub other: ColumnId,
    /// The filter on the other row.
    pub filter: Filter,
    /// Whether there must be such a row, or must not.
    pub exists: bool,
}

/// An entity, compared by name.
#[derive(Debug, Clone, Copy)]
pub struct EntityRef(pub &'static Entity);

impl PartialEq for EntityRef {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Serialize for EntityRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for EntityRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let entity = ENTITIES.iter().find(|entity| entity.name == name);
        let unknown = || serde::de::Error::custom(format!("there is no entity '{name}'"));
        entity.map(|entity| Self(entity)).ok_or_else(unknown)
    }
}

impl Filter {
    pub const fn everything() -> Self {
        Self::All(Vec::new())
    }

    pub const fn nothing() -> Self {
        Self::Any(Vec::new())
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All(mut these), Self::All(those)) => {
                these.extend(those);
                Self::All(these)
            }
            (Self::All(mut these), other) => {
                these.push(other);
                Self::All(these)
            }
            (this, other) => Self::All(vec![this, other]),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sort {
    /// By what. Null comes after everything else, before everything else if descending.
    pub column: ColumnId,
    /// Whether large ones come first.
    pub descending: bool,
}

/// Which part of what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Position {
    /// So many are skipped.
    Offset(u64),
    /// Rows behind a row, given by its sort columns and identity.
    After(Vec<Value>),
    Before(Vec<Value>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    pub entity: EntityRef,
    pub filter: Filter,
    /// In which order; the identity comes last by itself.
    pub sort: Vec<Sort>,
    pub position: Position,
    /// How many at the most.
    pub limit: u32,
    /// Up to what number the total is counted; 0: not at all.
    pub count_up_to: u64,
    /// Columns that are wanted, one bit each; the others, identity and sort columns excepted, may be null in the
    /// result.
    pub columns: u64,
    /// A column whose texts are cut after so many characters.
    pub cut: Option<(ColumnId, u32)>,
}

impl Search {
    /// For the row of an identity, with these columns.
    pub fn one(entity: &'static Entity, id: Operand, columns: u64) -> Self {
        Self {
            entity: EntityRef(entity),
            filter: Filter::Column(0, Test::Equal(id)),
            sort: Vec::new(),
            position: Position::Offset(0),
            limit: 1,
            count_up_to: 0,
            columns,
            cut: None,
        }
    }
}

/// A row: one value for each column of its entity.
pub type Row = Vec<Value>;

/// Bytes of memory that a row takes.
pub fn row_bytes(row: &[Value]) -> usize {
    size_of_val(row) + row.iter().filter_map(Value::text).map(|text| text.len()).sum::<usize>()
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Found {
    /// The page, in the order asked for.
    pub rows: Vec<Row>,
    /// How many there are on all pages, up to the limit of counting.
    pub total: u64,
    /// Whether there are more than were counted.
    pub has_more: bool,
}

/// Aggregates over the rows of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Aggregate {
    /// How many pass a filter.
    Count(Filter),
    /// How many different values a column has among those that pass a filter.
    Distinct(ColumnId, Filter),
    /// The sum of a column.
    Sum(ColumnId),
    /// The largest value of a column.
    Max(ColumnId),
}

/// A question for numbers: rows are grouped by columns, and each group gives one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    pub entity: EntityRef,
    pub filter: Filter,
    /// Columns to group by; none: one group.
    pub group_by: Vec<ColumnId>,
    /// Aggregates of each group.
    pub aggregates: Vec<Aggregate>,
    /// Groups at the most.
    pub limit: u32,
}

impl Search {
    /// The order of rows, made total: the identity comes last, and goes the way of the first column.
    pub fn order(&self) -> Vec<Sort> {
        let descending = self.sort.first().is_some_and(|sort| sort.descending);
        let mut order = self.sort.clone();
        order.push(Sort { column: 0, descending });
        order
    }
}

/// A question to a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// For rows.
    Search(Search),
    /// For numbers.
    Statistics(Statistics),
}
