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

    /// Rows beside it that a row must have: an entity and the condition on its rows, each.
    pub fn beside(&self) -> Vec<(&'static Entity, &Self)> {
        match self {
            Self::All(all) => all.iter().flat_map(Self::beside).collect(),
            Self::Related { relation: Relation::Beside { entity, condition, .. }, exists: true, .. } => {
                vec![(*entity, &**condition)]
            }
            _ => Vec::new(),
        }
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

#[cfg(test)]
mod tests {
    use search::EntityRef;
    use search::model::{process_instance as instance, variable};

    use super::*;

    #[test]
    fn a_row_needs_rows_beside_it_where_nothing_else_will_do() {
        let named = |exists| {
            Filter::Related(Box::new(Related {
                column: instance::KEY,
                entity: EntityRef(&variable::ENTITY),
                other: variable::INSTANCE_KEY,
                filter: Filter::Column(variable::NAME, Test::Exists(true)),
                exists,
            }))
        };
        let mut resolve = |related: &Related| {
            let entity = related.entity.0;
            let unknown = &mut |_: &Related| unreachable!("no further relation");
            let condition = Box::new(Condition::of(entity, &related.filter, unknown)?);
            Ok(Relation::Beside { entity, other: related.other, condition })
        };
        let active = || Filter::Column(instance::STATE, Test::Exists(true));
        for (filter, needed) in [
            (named(true), 1),
            (named(false), 0),
            (active().and(named(true)), 1),
            (Filter::Any(vec![named(true), active()]), 0),
        ] {
            let condition = Condition::of(&instance::ENTITY, &filter, &mut resolve).expect("a condition");
            let beside: Vec<_> = condition.beside().iter().map(|(entity, _)| entity.name).collect();
            assert_eq!(beside, vec!["variable"; needed], "{filter:?}");
        }
    }
}
