//! Searches that begin at the other end: where rows must have another one that an index finds, such as a variable
//! of some value, and there are few of these, looking at them first is faster by far than asking for each row
//! whether it has one. Whether there are few no database knows without looking, so a store looks before it
//! searches.

use search::model::Entity;
use search::{Filter, Related, Row, Search, Value};
use search::{Operand, Test};

use super::condition::Scope;
use super::{Dialect, Query};

/// Most rows of a first query.
pub(crate) const FEW: usize = 1000;

/// Relations of one filter that are looked at first: each takes a query, and what it finds is bound to the next one. Of
/// more, the others are asked row by row.
const LOOKED_MAX: usize = 4;

// Databases bind some 32,000 values, and a filter has thousands of its own.
const _: () = assert!(LOOKED_MAX * FEW <= 4000);

/// The relations of a filter that may be few, the first ones.
pub(crate) fn selective(filter: &Filter) -> Vec<&Related> {
    let mut found = Vec::new();
    gather(filter, &mut found);
    found
}

fn gather<'f>(filter: &'f Filter, found: &mut Vec<&'f Related>) {
    match filter {
        Filter::All(filters) | Filter::Any(filters) => {
            for filter in filters {
                gather(filter, found);
            }
        }
        Filter::Related(related) if is_selective(related) && found.len() < LOOKED_MAX => found.push(related),
        _ => {}
    }
}

fn is_selective(related: &Related) -> bool {
    related.exists && is_cut(related.entity.0, &related.filter)
}

/// Whether a long text must be one of some.
fn is_cut(entity: &Entity, filter: &Filter) -> bool {
    match filter {
        Filter::All(filters) => filters.iter().any(|filter| is_cut(entity, filter)),
        Filter::Column(column, Test::Equal(_) | Test::In(_)) => entity.is_cut(*column),
        _ => false,
    }
}

/// Values of the other rows of a relation, one more than the limit at most.
pub(crate) fn others<'d>(dialect: &'d dyn Dialect, related: &Related, limit: usize) -> Query<'d> {
    let scope = Scope { entity: related.entity.0, depth: 0 };
    let mut query = Query::new(dialect);
    query.push("SELECT ").column(scope, related.other).push(" FROM ").name(scope.entity.name);
    query.push(" t0 WHERE ").filter(scope, &related.filter);
    query.push(" LIMIT ").integer(limit as i64 + 1);
    query
}

/// The search with what was found there, in the order of [`selective`].
pub(crate) fn with_few(search: Search, found: Vec<Vec<Row>>) -> Search {
    let few: Vec<_> =
        selective(&search.filter).into_iter().zip(found).map(|(related, rows)| few(related, rows)).collect();
    let filter = replaced(search.filter, &mut few.into_iter());
    Search { filter, ..search }
}

/// Their values as a filter of its own; none if there are too many.
fn few(related: &Related, others: Vec<Row>) -> Option<Filter> {
    if others.len() > FEW {
        return None;
    }
    let operands = others.into_iter().flatten().filter_map(|value| match value {
        Value::Integer(number) => Some(Operand::Integer(number)),
        Value::Text(text) => Some(Operand::Text(text)),
        Value::Null => None,
    });
    let mut operands: Vec<_> = operands.collect();
    operands.sort_unstable();
    operands.dedup();
    Some(Filter::Column(related.column, Test::In(operands)))
}

/// A filter with others in place of the relations that may be few.
fn replaced(filter: Filter, by: &mut dyn Iterator<Item = Option<Filter>>) -> Filter {
    let mut all = |filters: Vec<Filter>| filters.into_iter().map(|filter| replaced(filter, by)).collect();
    match filter {
        Filter::All(filters) => Filter::All(all(filters)),
        Filter::Any(filters) => Filter::Any(all(filters)),
        Filter::Related(ref related) if is_selective(related) => by.next().flatten().unwrap_or(filter),
        other => other,
    }
}
