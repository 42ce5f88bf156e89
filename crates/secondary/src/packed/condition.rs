//! Filters as packs read them: relations to other rows are resolved first.

use std::collections::HashSet;
use std::sync::Arc;

use search::model::{ColumnId, Entity, Kind};
use search::{Filter, Operand, Related, StoreError, Test, Value};

/// A condition on a row of a pack.
#[derive(Debug)]
pub(crate) enum Condition {
    All(Vec<Self>),
    Any(Vec<Self>),
    Column { column: ColumnId, kind: Kind, test: Test },
    Related { column: ColumnId, relation: Relation, exists: bool },
}

/// The rows that a column leads to.
#[derive(Debug)]
pub(crate) enum Relation {
    /// Rows of the same process instance, which are in a pack of another entity beside this one.
    Beside { entity: &'static Entity, other: ColumnId, condition: Box<Condition> },
    /// Rows with these values.
    Values(Arc<HashSet<Value>>),
}

impl Condition {
    /// The condition of a filter on rows of an entity. Relations are what `resolve` makes of them.
    pub fn of(
        entity: &'static Entity,
        filter: &Filter,
        resolve: &mut dyn FnMut(&Related) -> Result<Relation, StoreError>,
    ) -> Result<Self, StoreError> {
        Ok(match filter {
            Filter::All(filters) => Self::All(Self::each(entity, filters, resolve)?),
            Filter::Any(filters) => Self::Any(Self::each(entity, filters, resolve)?),
            Filter::Column(column, test) => {
                let kind = entity.columns[*column as usize].kind;
                Self::Column { column: *column, kind, test: comparable(kind, test) }
            }
            Filter::Related(related) => {
                Self::Related { column: related.column, relation: resolve(related)?, exists: related.exists }
            }
            // Definitions are never packed.
            Filter::Latest(_) => {
                return Err(StoreError::Query(format!("the latest of '{}' are not known", entity.name)));
            }
        })
    }

    fn each(
        entity: &'static Entity,
        filters: &[Filter],
        resolve: &mut dyn FnMut(&Related) -> Result<Relation, StoreError>,
    ) -> Result<Vec<Self>, StoreError> {
        filters.iter().map(|filter| Self::of(entity, filter, resolve)).collect()
    }

    /// Whether every row meets it.
    pub fn is_always_met(&self) -> bool {
        match self {
            Self::All(all) => all.iter().all(Self::is_always_met),
            Self::Any(any) => any.iter().any(Self::is_always_met),
            Self::Column { .. } | Self::Related { .. } => false,
        }
    }
}

/// A text is never equal to, less or more than a number.
fn comparable(kind: Kind, test: &Test) -> Test {
    let fits = |operand: &Operand| matches!(operand, Operand::Integer(_)) == kind.is_integer();
    match test {
        Test::Greater(operand)
        | Test::GreaterOrEqual(operand)
        | Test::Less(operand)
        | Test::LessOrEqual(operand)
            if !fits(operand) =>
        {
            Test::In(Vec::new())
        }
        test => test.clone(),
    }
}
