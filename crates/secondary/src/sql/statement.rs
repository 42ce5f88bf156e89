//! Whole statements.

use search::model::{CUT_CHARS, Column, ColumnId, Entity, Index, IndexScope};
use search::{Aggregate, Position, Row, Search, Sort, Statistics, Value};

use super::condition::Scope;
use super::{Dialect, Query};
use crate::change::{Change, Columns, Operation};

/// Creates a table, if it is not there.
pub(crate) fn create_table(dialect: &dyn Dialect, entity: &Entity, suffix: &str) -> String {
    let mut table = Query::new(dialect);
    table.push("CREATE TABLE IF NOT EXISTS ").name(entity.name).push(" (");
    for (at, Column { name, kind, .. }) in entity.columns.iter().enumerate() {
        if at > 0 {
            table.push(", ");
        }
        table.name(name).push(" ").push(dialect.column_type(*kind));
        if at == 0 {
            table.push(" PRIMARY KEY");
        }
    }
    table.push(")").push(suffix);
    table.text
}

/// Creates an index, if it is not there; `None` if the database has none of this sort.
pub(crate) fn create_index(dialect: &dyn Dialect, entity: &Entity, index: &Index) -> Option<String> {
    let name = |column: ColumnId| entity.columns[column as usize].name;
    let mut query = Query::new(dialect);
    query.push("CREATE INDEX IF NOT EXISTS ").name(&index_name(entity, index));
    query.push(" ON ").name(entity.name);
    if let IndexScope::Elements(column) = index.scope {
        let (before, after) = dialect.indexed_elements()?;
        // New rows are collected and moved to their place in bulk, which is cheaper. Each question looks through
        // what is aside, so that is kept short (in KiB).
        query.push(" USING gin ((").push(before).name(name(column)).push(after);
        query.push(")) WITH (fastupdate=on, gin_pending_list_limit=512)");
        return Some(query.text);
    }
    query.push(" (");
    let identity = (!index.columns.contains(&0)).then_some(0);
    for (at, column) in index.columns.iter().copied().chain(identity).enumerate() {
        query.push(if at == 0 { "" } else { ", " });
        if index.scope == IndexScope::Cut(column) {
            query.push("SUBSTR(").name(name(column)).push(",1,").push(&CUT_CHARS.to_string()).push(")");
        } else {
            query.name(name(column));
        }
    }
    query.push(")");
    match index.scope {
        IndexScope::All | IndexScope::Cut(_) | IndexScope::Elements(_) => {}
        IndexScope::Set(column) => {
            query.push(" WHERE ").name(name(column)).push(" IS NOT NULL");
        }
        IndexScope::Unless(column, usual) => {
            query.push(" WHERE ").name(name(column)).push("<>").word(usual);
        }
        IndexScope::Above(column) => {
            query.push(" WHERE ").name(name(column)).push(">0");
        }
        IndexScope::Apart(column, twin) => {
            query.push(" WHERE ").name(name(column)).push(" IS DISTINCT FROM ").name(name(twin));
        }
    }
    Some(query.text)
}

/// The name of an index. It tells what is in it, so that another one takes its place when that changes.
pub(crate) fn index_name(entity: &Entity, index: &Index) -> String {
    let mut name = entity.name.to_owned();
    for &column in index.columns {
        name.push('_');
        name.push_str(entity.columns[column as usize].name);
    }
    let suffix = match index.scope {
        IndexScope::All => "",
        IndexScope::Set(_) => "_set",
        IndexScope::Unless(..) => "_unusual",
        IndexScope::Above(_) => "_above",
        IndexScope::Apart(..) => "_apart",
        IndexScope::Cut(_) => "_cut",
        IndexScope::Elements(_) => "_elements",
    };
    name + suffix
}

/// The statement that makes a change, or as many insertions of its shape. Its placeholders are the values that all
/// rows share, by their columns, and then the identity, the other values and the increments, in this order, for one
/// row after the other; an update has the identity last.
pub(crate) fn upsert(dialect: &dyn Dialect, change: &Change, rows: usize, shared: Columns) -> String {
    let entity = Entity::of(change.entity);
    let mut query = Query::new(dialect);
    let id = &entity.columns[0];
    let column = |id: ColumnId| &entity.columns[id as usize];
    let values = change.values.iter().map(|(id, _)| (*id, false));
    let columns = values.chain(change.increments.iter().map(|(id, _)| (*id, true)));
    let mut number = shared.count();
    let mut next = |query: &mut Query<'_>, column: &Column| {
        number += 1;
        dialect.placeholder(number, column.kind, &mut query.text);
    };
    match change.operation {
        Operation::Delete => {
            query.push("DELETE FROM ").name(entity.name).push(" WHERE ").name(id.name).push("=");
            next(&mut query, id);
        }
        Operation::Update => {
            query.push("UPDATE ").name(entity.name).push(" SET ");
            for (at, (id, grows)) in columns.enumerate() {
                let name = column(id).name;
                query.push(if at == 0 { "" } else { ", " }).name(name).push("=");
                grown(&mut query, column(id), grows, "", |query| next(query, column(id)));
            }
            query.push(" WHERE ").name(id.name).push("=");
            next(&mut query, id);
        }
        Operation::Insert => {
            query.push("INSERT INTO ").name(entity.name).push(" (").name(id.name);
            for (id, _) in columns.clone() {
                query.push(", ").name(column(id).name);
            }
            query.push(") VALUES ");
            for row in 0..rows {
                query.push(if row == 0 { "(" } else { ", (" });
                next(&mut query, id);
                for (id, grows) in columns.clone() {
                    query.push(", ");
                    match shared.place(id).filter(|_| !grows) {
                        Some(place) => dialect.placeholder(place + 1, column(id).kind, &mut query.text),
                        None => next(&mut query, column(id)),
                    }
                }
                query.push(")");
            }
            query.push(" ON CONFLICT (").name(id.name).push(") DO ");
            if change.values.is_empty() && change.increments.is_empty() {
                query.push("NOTHING");
                return query.text;
            }
            query.push("UPDATE SET ");
            for (at, (id, grows)) in columns.enumerate() {
                let name = column(id).name;
                query.push(if at == 0 { "" } else { ", " }).name(name).push("=");
                let row = format!("\"{}\".", entity.name);
                grown(&mut query, column(id), grows, &row, |query| _ = query.push("excluded.").name(name));
            }
        }
    }
    query.text
}

/// The value of a column once something is set or added, where `row` stands before names of the row as it was.
pub(crate) fn grown(
    query: &mut Query<'_>,
    column: &Column,
    grows: bool,
    row: &str,
    by: impl FnOnce(&mut Query<'_>),
) {
    if !grows {
        return by(query);
    }
    if column.is_peak {
        query.push(query.dialect.larger()).push("(");
    }
    query.push("COALESCE(").push(row).name(column.name).push(if column.is_peak { ",0)," } else { ",0)+" });
    by(query);
    if column.is_peak {
        query.push(")");
    }
}

/// The keys and some columns of rows, up to the condition on their keys.
pub(crate) fn numbers(
    dialect: &dyn Dialect,
    entity: &Entity,
    columns: &[ColumnId],
    condition: &str,
) -> String {
    let key = entity.columns[0].name;
    let mut query = Query::new(dialect);
    query.push("SELECT ").name(key);
    for column in columns {
        query.push(", ").name(entity.columns[usize::from(*column)].name);
    }
    query.push(" FROM ").name(entity.name).push(" WHERE ").name(key).push(condition);
    query.text
}

/// Removes rows that have one of these values in a column, so many at the most, and tells some columns of them.
pub(crate) fn remove<'d>(
    dialect: &'d dyn Dialect,
    entity: &Entity,
    column: ColumnId,
    values: &[Value],
    limit: u32,
    told: &[ColumnId],
) -> Query<'d> {
    let (id, Column { name, kind, .. }) = (entity.columns[0].name, &entity.columns[column as usize]);
    let mut query = Query::new(dialect);
    query.push("DELETE FROM ").name(entity.name).push(" WHERE ").name(id).push(" IN (SELECT ").name(id);
    query.push(" FROM ").name(entity.name).push(" WHERE ");
    if entity.id_begins_with == Some(column) {
        query.begins_with_any(&|query| query.name(id), values);
    } else {
        query.name(name).one_of(values.to_vec(), *kind);
    }
    query.push(" LIMIT ").integer(i64::from(limit)).push(")");
    for (at, column) in told.iter().enumerate() {
        query.push(if at == 0 { " RETURNING " } else { ", " }).name(entity.columns[*column as usize].name);
    }
    query
}

/// The row of an identity, of which nothing is told but that it is there.
pub(crate) fn exists<'d>(dialect: &'d dyn Dialect, entity: &Entity, id: Value) -> Query<'d> {
    let Column { name, kind, .. } = &entity.columns[0];
    let mut query = Query::new(dialect);
    query.push("SELECT ").name(name).push(" FROM ").name(entity.name).push(" WHERE ").name(name).push("=");
    query.value(id, *kind);
    query
}

/// The page of a search; rows come in reverse for [`Position::Before`]. The query has the columns of the entity, those
/// not wanted as null.
pub(crate) fn search<'d>(dialect: &'d dyn Dialect, search: &Search) -> Query<'d> {
    let entity = search.entity.0;
    let scope = Scope { entity, depth: 0 };
    let is_reversed = matches!(search.position, Position::Before(_));
    let order = order_of(search, is_reversed);
    let mut query = Query::new(dialect);
    query.push("SELECT ");
    for at in 0..entity.columns.len() {
        if at > 0 {
            query.push(", ");
        }
        let column = at as ColumnId;
        let is_wanted = search.columns >> at & 1 == 1 || order.iter().any(|sort| sort.column == column);
        match search.cut.filter(|(cut, _)| *cut == column) {
            _ if !is_wanted => query.push("NULL"),
            Some((_, length)) => {
                query.push("SUBSTR(").column(scope, column).push(",1,").push(&length.to_string()).push(")")
            }
            None => query.column(scope, column),
        };
    }
    from(&mut query, scope, search);
    if let Position::After(row) | Position::Before(row) = &search.position {
        query.push(" AND ").after(scope, &order, row);
    }
    query.push(" ORDER BY ");
    for (at, Sort { column, descending }) in order.iter().enumerate() {
        if at > 0 {
            query.push(", ");
        }
        query.place(scope, *column).push(if *descending { " DESC" } else { " ASC" });
        if !entity.columns[*column as usize].is_always_set {
            query.push(if *descending { " NULLS FIRST" } else { " NULLS LAST" });
        }
    }
    query.push(" LIMIT ").integer(i64::from(search.limit));
    if let Position::Offset(offset @ 1..) = search.position {
        query.push(" OFFSET ").integer(i64::try_from(offset).unwrap_or(i64::MAX));
    }
    query
}

/// How many rows a search finds, if its page shows that: it begins at a number and ends before its limit.
pub(crate) fn total_of_page(search: &Search, rows: usize) -> Option<u64> {
    let Position::Offset(offset) = search.position else { return None };
    let has_end = rows < search.limit as usize && (rows > 0 || offset == 0);
    has_end.then(|| offset + rows as u64)
}

/// How many rows a search finds, one more than the limit of counting at the most.
pub(crate) fn count<'d>(dialect: &'d dyn Dialect, search: &Search) -> Query<'d> {
    let scope = Scope { entity: search.entity.0, depth: 0 };
    let mut query = Query::new(dialect);
    query.push("SELECT COUNT(*) FROM (SELECT 1");
    from(&mut query, scope, search);
    query.push(" LIMIT ").integer(i64::try_from(search.count_up_to.saturating_add(1)).unwrap_or(i64::MAX));
    query.push(") counted");
    query
}

/// The number that [`count`] gives.
pub(crate) fn count_of(rows: &[Row]) -> u64 {
    rows.first().and_then(|row| row[0].integer()).unwrap_or(0).cast_unsigned()
}

pub(crate) fn statistics<'d>(dialect: &'d dyn Dialect, statistics: &Statistics) -> Query<'d> {
    let entity = statistics.entity.0;
    let scope = Scope { entity, depth: 0 };
    let mut query = Query { visits_all: true, ..Query::new(dialect) };
    query.push("SELECT ");
    for column in &statistics.group_by {
        query.column(scope, *column).push(", ");
    }
    for (at, aggregate) in statistics.aggregates.iter().enumerate() {
        if at > 0 {
            query.push(", ");
        }
        match aggregate {
            Aggregate::Count(filter) => query.push("COUNT(*) FILTER (WHERE ").filter(scope, filter).push(")"),
            Aggregate::Distinct(column, filter) => {
                query.push("COUNT(DISTINCT ").column(scope, *column).push(") FILTER (WHERE ");
                query.filter(scope, filter).push(")")
            }
            Aggregate::Sum(column) => {
                query.push("CAST(COALESCE(SUM(").column(scope, *column).push("),0) AS BIGINT)")
            }
            Aggregate::Max(column) => query.push("MAX(").column(scope, *column).push(")"),
        };
    }
    query.push(" FROM ").name(entity.name).push(" t0 WHERE ").filter(scope, &statistics.filter);
    for (word, is_last) in [(" GROUP BY ", false), (" ORDER BY ", true)] {
        for (at, column) in statistics.group_by.iter().enumerate() {
            query.push(if at == 0 { word } else { ", " }).column(scope, *column);
            if is_last {
                query.push(" ASC NULLS LAST");
            }
        }
    }
    query.push(" LIMIT ").integer(i64::from(statistics.limit));
    query
}

fn from(query: &mut Query<'_>, scope: Scope, search: &Search) {
    query.push(" FROM ").name(scope.entity.name).push(" t0 WHERE ").filter(scope, &search.filter);
}

/// The order asked for, made total by the identity, which goes the way of the first column.
fn order_of(search: &Search, is_reversed: bool) -> Vec<Sort> {
    let mut order = search.order();
    for sort in &mut order {
        sort.descending ^= is_reversed;
    }
    order
}
