//! Searches and statistics over tables and packs together.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::Connection;
use search::model::{ColumnId, Entity};
use search::{
    Aggregate, Filter, Found, Operand, Position, Related, Row, Search, Sort, Statistics, StoreError, Test,
    Value,
};

use super::dialect::Sqlite;
use super::packs::{Pack, PackKind, Packs};
use super::rows::{page, rows};
use crate::packed::{Condition, Opened, PackError, Place, Relation, Zones, compare, placed, retain_values};
use crate::sql;
use crate::store::PageBytes;

/// Rows of other entities that a filter may lead to.
const RELATED_MAX: usize = 1_000_000;

/// Answers a search from tables and packs.
pub(super) fn search(packs: Packs<'_>, mut search: Search) -> Result<Found, StoreError> {
    let entity = search.entity.0;
    let condition = condition(packs, entity, &search.filter)?;
    search.filter = with_packed(packs, entity, search.filter)?;
    let Some((condition, list)) = condition.zip(packed(packs, entity)?) else {
        return of_tables(packs.connection, search);
    };
    let is_reversed = matches!(search.position, Position::Before(_));
    let offset = if let Position::Offset(offset) = search.position { offset } else { 0 };
    let wanted = u64::from(search.limit).saturating_add(offset).min(u64::from(u32::MAX)) as u32;
    let mut order = search.order();
    for sort in &mut order {
        sort.descending ^= is_reversed;
    }
    // The page of both has some rows of each, from its beginning.
    let mut in_tables = search.clone();
    in_tables.limit = wanted;
    if offset > 0 {
        in_tables.position = Position::Offset(0);
    }
    let tables = of_tables_as_they_come(packs.connection, in_tables)?;
    let rest = search.count_up_to.saturating_sub(tables.total);
    let is_counted = search.count_up_to > 0 && !tables.has_more;
    let mut sought = Sought {
        search: &search,
        order: &order,
        condition: &condition,
        wanted: wanted as usize,
        found: Vec::new(),
        // Behind enough rows of tables, none is wanted.
        worst: (wanted > 0 && tables.rows.len() == wanted as usize)
            .then(|| tables.rows.last().map(|row| place_of(entity, &order, row)))
            .flatten(),
        count: 0,
        count_up_to: if is_counted { rest + 1 } else { 0 },
    };
    sought.search(packs, list)?;
    let count = sought.count;
    let mut merged = sought.rows(packs)?;
    for row in tables.rows {
        merged.push((place_of(entity, &order, &row), row));
    }
    merged.sort_by(|(one, _), (other, _)| compare(&order, one, other));
    let page = merged.into_iter().map(|(_, row)| row).skip(offset as usize).take(search.limit as usize);
    let mut bytes = PageBytes::new();
    let mut rows = page.map(|row| bytes.add(&row).map(|()| row)).collect::<Result<Vec<_>, _>>()?;
    if is_reversed {
        rows.reverse();
    }
    let total = tables.total + count;
    Ok(Found {
        rows,
        total: total.min(search.count_up_to),
        has_more: tables.has_more || search.count_up_to > 0 && total > search.count_up_to,
    })
}

/// The place of a row of a table.
fn place_of(entity: &Entity, order: &[Sort], row: &Row) -> Place {
    order.iter().map(|sort| placed(entity, *sort, row[sort.column as usize].clone())).collect()
}

/// The packs of an entity's rows; `None` if it has none.
fn packed<'c>(packs: Packs<'c>, entity: &Entity) -> Result<Option<Vec<Pack<'c>>>, StoreError> {
    let Some(kind) = PackKind::of(entity) else { return Ok(None) };
    Ok(Some(packs.list(kind)?).filter(|list| !list.is_empty()))
}

fn of_tables(connection: &Connection, search: Search) -> Result<Found, StoreError> {
    let is_reversed = matches!(search.position, Position::Before(_));
    let mut found = of_tables_as_they_come(connection, search)?;
    if is_reversed {
        found.rows.reverse();
    }
    Ok(found)
}

/// Rows in the order of the query, which is reversed before a row.
fn of_tables_as_they_come(connection: &Connection, search: Search) -> Result<Found, StoreError> {
    let looked = sql::selective(&search.filter).into_iter();
    let looked: Vec<_> = looked.map(|related| sql::others(&Sqlite, related, sql::FEW)).collect();
    let few = looked.iter().map(|query| rows(connection, query)).collect::<Result<_, _>>()?;
    let search = sql::with_few(search, few);
    let mut found = Found { rows: page(connection, &sql::search(&Sqlite, &search))?, ..Found::default() };
    if search.count_up_to > 0 {
        let count = match sql::total_of_page(&search, found.rows.len()) {
            Some(count) => count,
            None => sql::count_of(&rows(connection, &sql::count(&Sqlite, &search))?),
        };
        (found.total, found.has_more) = (count.min(search.count_up_to), count > search.count_up_to);
    }
    Ok(found)
}

/// A filter as packs read it; `None` if rows of the entity are never packed.
pub(super) fn condition(
    packs: Packs<'_>,
    entity: &'static Entity,
    filter: &Filter,
) -> Result<Option<Condition>, StoreError> {
    let Some(kind) = PackKind::of(entity) else { return Ok(None) };
    let mut resolve = |related: &Related| resolve(packs, kind, entity, related);
    Condition::of(entity, filter, &mut resolve).map(Some)
}

/// Rows of a process instance are together in tables or in a pack; others are looked up first.
fn resolve(
    packs: Packs<'_>,
    kind: &'static PackKind,
    entity: &'static Entity,
    related: &Related,
) -> Result<Relation, StoreError> {
    let (other, column) = (related.entity.0, related.other);
    if is_beside(kind, entity, related) {
        let mut inner = |related: &Related| resolve(packs, kind, other, related);
        let condition = Box::new(Condition::of(other, &related.filter, &mut inner)?);
        return Ok(Relation::Beside { entity: other, other: column, condition });
    }
    let found = rows(packs.connection, &sql::others(&Sqlite, related, RELATED_MAX))?;
    let mut values: HashSet<Value> = found.into_iter().flatten().collect();
    values.extend(packed_values(packs, related)?);
    bounded(related, values.len())?;
    Ok(Relation::Values(Arc::new(values)))
}

fn is_beside(kind: &PackKind, entity: &Entity, related: &Related) -> bool {
    kind.owner(entity.id) == Some(related.column) && kind.owner(related.entity.0.id) == Some(related.other)
}

fn bounded(related: &Related, count: usize) -> Result<(), StoreError> {
    if count > RELATED_MAX {
        let name = related.entity.0.name;
        return Err(StoreError::Query(format!(
            "Expected a filter that at most {RELATED_MAX} rows of '{name}' pass, but more do; narrow the filter"
        )));
    }
    Ok(())
}

/// Values of the other rows of a relation that are packed.
fn packed_values(packs: Packs<'_>, related: &Related) -> Result<HashSet<Value>, StoreError> {
    let entity = related.entity.0;
    let mut values = HashSet::new();
    let Some(list) = packed(packs, entity)? else { return Ok(values) };
    let Some(condition) = condition(packs, entity, &related.filter)? else { return Ok(values) };
    packs.each(&list, |pack| {
        pack.matching(entity, &condition, |opened, rows| {
            for row in rows {
                values.insert(opened.value(related.other, row as usize)?);
            }
            Ok(())
        })?;
        bounded(related, values.len())?;
        Ok(true)
    })?;
    values.remove(&Value::Null);
    Ok(values)
}

/// A filter on rows of tables whose relations lead to packs, too.
fn with_packed(packs: Packs<'_>, entity: &'static Entity, filter: Filter) -> Result<Filter, StoreError> {
    let each = |filters: Vec<Filter>| {
        filters.into_iter().map(|filter| with_packed(packs, entity, filter)).collect::<Result<Vec<_>, _>>()
    };
    Ok(match filter {
        Filter::All(filters) => Filter::All(each(filters)?),
        Filter::Any(filters) => Filter::Any(each(filters)?),
        Filter::Related(mut related) => {
            let other = related.entity.0;
            related.filter = with_packed(packs, other, related.filter)?;
            let is_together = PackKind::of(entity).is_some_and(|kind| is_beside(kind, entity, &related));
            if is_together || PackKind::of(other).is_none() {
                return Ok(Filter::Related(related));
            }
            let values = packed_values(packs, &related)?;
            if values.is_empty() {
                return Ok(Filter::Related(related));
            }
            let mut operands: Vec<_> = values.into_iter().filter_map(operand).collect();
            operands.sort_unstable();
            let (column, exists) = (related.column, related.exists);
            let live = Filter::Related(related);
            if exists {
                Filter::Any(vec![live, Filter::Column(column, Test::In(operands))])
            } else {
                Filter::All(vec![live, Filter::Column(column, Test::NotIn(operands))])
            }
        }
        other => other,
    })
}

fn operand(value: Value) -> Option<Operand> {
    match value {
        Value::Integer(number) => Some(Operand::Integer(number)),
        Value::Text(text) => Some(Operand::Text(text)),
        Value::Null => None,
    }
}

/// The rows of a pack in an order lie between these, by as many of its columns as have bounds.
struct Span {
    first: Place,
    last: Place,
}

/// The first rows in an order, over all packs.
struct Sought<'s, 'c> {
    search: &'s Search,
    order: &'s [Sort],
    condition: &'s Condition,
    wanted: usize,
    /// The best rows so far, by their pack.
    found: Vec<(Place, Pack<'c>, u32)>,
    /// The place that a row must be before, once there are enough.
    worst: Option<Place>,
    count: u64,
    /// Where counting ends; 0: nothing is counted.
    count_up_to: u64,
}

impl<'c> Sought<'_, 'c> {
    fn search(&mut self, packs: Packs<'c>, list: Vec<Pack<'c>>) -> Result<(), StoreError> {
        let entity = self.search.entity.0;
        let mut ordered: Vec<(Option<Span>, Pack<'c>)> = Vec::with_capacity(list.len());
        packs.each(&list, |pack| {
            if let Some(zones) = pack.zones(entity)? {
                ordered.push((self.span(&zones), *pack));
            }
            Ok(true)
        })?;
        let order = self.order;
        ordered.sort_by(|(one, _), (other, _)| match (one, other) {
            (Some(one), Some(other)) => compare(order, &one.first, &other.first),
            // Packs of which nothing is known come first: they are never too late.
            (one, other) => one.is_some().cmp(&other.is_some()),
        });
        for (span, pack) in ordered {
            let is_late = span
                .as_ref()
                .zip(self.worst.as_ref())
                .is_some_and(|(span, worst)| compare(order, &span.first, worst) == Ordering::Greater);
            let is_early = span
                .as_ref()
                .zip(self.cursor())
                .is_some_and(|(span, cursor)| compare(order, &span.last, cursor) == Ordering::Less);
            let is_counting = self.count < self.count_up_to;
            if is_late && !is_counting {
                break;
            }
            let is_outside = is_late || is_early;
            if is_outside && !is_counting {
                continue;
            }
            if is_outside && self.condition.is_always_met() {
                // Nothing but the number of its rows counts.
                packs.each(std::slice::from_ref(&pack), |pack| {
                    self.count += pack.zones(entity)?.map_or(0, |zones| zones.rows as u64);
                    Ok(true)
                })?;
                continue;
            }
            packs.each(std::slice::from_ref(&pack), |of| {
                of.matching(entity, self.condition, |opened, rows| {
                    self.gather(pack, opened, rows, is_outside)
                })?;
                Ok(true)
            })?;
        }
        self.cut();
        Ok(())
    }

    /// The row that a page begins after.
    fn cursor(&self) -> Option<&Row> {
        match &self.search.position {
            Position::After(row) | Position::Before(row) => Some(row),
            Position::Offset(_) => None,
        }
    }

    /// The first and the last place in the order that a pack may have; `None` if they are not known.
    fn span(&self, zones: &Zones) -> Option<Span> {
        let bounds_of = |sort: &Sort| {
            let (bounds, has_nulls) = zones.bounds(sort.column)?;
            let (low, high) = bounds.unwrap_or((Value::Null, Value::Null));
            let high = if has_nulls { Value::Null } else { high };
            Some(if sort.descending { (high, low) } else { (low, high) })
        };
        let (first, last): (Place, Place) = self.order.iter().map_while(bounds_of).unzip();
        (!first.is_empty()).then_some(Span { first, last })
    }

    fn gather(
        &mut self,
        pack: Pack<'c>,
        opened: &Opened<'_>,
        mut rows: Vec<u32>,
        is_outside: bool,
    ) -> Result<(), PackError> {
        if self.count_up_to > 0 {
            self.count += rows.len() as u64;
        }
        if is_outside || self.wanted == 0 {
            return Ok(());
        }
        let order = self.order;
        let cursor = self.cursor().cloned();
        let cursor = cursor.as_ref();
        if self.worst.is_some() || cursor.is_some() {
            // The first column decides most: of one that has few different values, each is looked at once.
            retain_values(&mut rows, opened, order[0].column, |value| {
                let first = [placed(self.search.entity.0, order[0], value.clone())];
                let is_late = |worst: &Place| compare(order, &first, worst) == Ordering::Greater;
                let is_early = |cursor: &&Place| compare(order, &first, cursor) == Ordering::Less;
                !self.worst.as_ref().is_some_and(is_late) && !cursor.as_ref().is_some_and(is_early)
            })?;
        }
        for row in &rows {
            let place = opened.place(order, *row as usize)?;
            if cursor.is_some_and(|cursor| compare(order, &place, cursor) != Ordering::Greater) {
                continue;
            }
            if self.worst.as_ref().is_some_and(|worst| compare(order, &place, worst) != Ordering::Less) {
                continue;
            }
            self.found.push((place, pack, *row));
            if self.found.len() >= self.wanted.saturating_mul(2).max(1024) {
                self.cut();
            }
        }
        self.cut();
        Ok(())
    }

    /// Keeps as many as are wanted.
    fn cut(&mut self) {
        if self.found.len() < self.wanted {
            return;
        }
        self.found.sort_by(|(one, ..), (other, ..)| compare(self.order, one, other));
        self.found.truncate(self.wanted);
        self.worst = self.found.last().map(|(place, ..)| place.clone());
    }

    /// The rows that were found, with their places.
    fn rows(self, packs: Packs<'c>) -> Result<Vec<(Place, Row)>, StoreError> {
        let entity = self.search.entity.0;
        let columns = self.order.iter().fold(self.search.columns, |columns, sort| columns | 1 << sort.column);
        let mut rows = Vec::with_capacity(self.found.len());
        let mut bytes = PageBytes::new();
        let mut by_pack: Vec<(Place, Pack<'c>, u32)> = self.found;
        by_pack.sort_by_key(|(_, pack, row)| (pack.id(), *row));
        for group in by_pack.chunk_by(|(_, one, _), (_, other, _)| one.id() == other.id()) {
            packs.each(std::slice::from_ref(&group[0].1), |pack| {
                let Some(packed) = pack.rows(entity)? else { return Ok(true) };
                let texts = pack.texts(entity);
                let opened = Opened::new(&packed, &texts);
                for (place, _, number) in group {
                    let mut row = opened.row(*number as usize, columns)?;
                    if let Some((column, length)) = self.search.cut {
                        cut(&mut row[column as usize], length as usize);
                    }
                    bytes.add(&row)?;
                    rows.push((place.clone(), row));
                }
                Ok(true)
            })?;
        }
        Ok(rows)
    }
}

/// The beginning of a text.
fn cut(value: &mut Value, length: usize) {
    if let Value::Text(text) = value
        && let Some((end, _)) = text.char_indices().nth(length)
    {
        *value = Value::from(&text[..end]);
    }
}

/// Numbers of a group, as far as they are counted.
#[derive(Clone)]
enum Number {
    Sum(i64),
    Distinct(HashSet<Value>),
    Max(Option<i64>),
}

type Groups = HashMap<Vec<Value>, Vec<Number>>;

/// Computes numbers from tables and packs.
pub(super) fn statistics(packs: Packs<'_>, mut asked: Statistics) -> Result<Vec<Row>, StoreError> {
    let entity = asked.entity.0;
    let condition = condition(packs, entity, &asked.filter)?;
    asked.filter = with_packed(packs, entity, asked.filter)?;
    let Some((condition, list)) = condition.zip(packed(packs, entity)?) else {
        return rows(packs.connection, &sql::statistics(&Sqlite, &asked));
    };
    let mut groups = Groups::new();
    add_tables(packs.connection, &asked, &mut groups)?;
    let inner: Vec<Option<Condition>> = asked
        .aggregates
        .iter()
        .map(|aggregate| match aggregate {
            Aggregate::Count(filter) | Aggregate::Distinct(_, filter) => {
                self::condition(packs, entity, filter)
            }
            Aggregate::Sum(_) | Aggregate::Max(_) => Ok(None),
        })
        .collect::<Result<_, _>>()?;
    packs.each(&list, |pack| {
        pack.matching(entity, &condition, |opened, rows| {
            let met = inner.iter().map(|condition| {
                condition.as_ref().map(|condition| crate::packed::select(opened, condition, pack)).transpose()
            });
            let met: Vec<Option<Vec<u32>>> = met.collect::<Result<_, _>>()?;
            add_pack(&asked, opened, &rows, &met, &mut groups)
        })?;
        Ok(true)
    })?;
    if asked.group_by.is_empty() && groups.is_empty() {
        groups.insert(Vec::new(), empty(&asked));
    }
    let order: Vec<Sort> =
        asked.group_by.iter().map(|column| Sort { column: *column, descending: false }).collect();
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|(one, _), (other, _)| compare(&order, one, other));
    groups.truncate(asked.limit as usize);
    let row = |(group, numbers): (Vec<Value>, Vec<Number>)| {
        let numbers = numbers.into_iter().map(|number| match number {
            Number::Sum(sum) => Value::Integer(sum),
            Number::Distinct(values) => Value::Integer(values.len() as i64),
            Number::Max(value) => Value::from(value),
        });
        group.into_iter().chain(numbers).collect()
    };
    Ok(groups.into_iter().map(row).collect())
}

fn empty(asked: &Statistics) -> Vec<Number> {
    let number = |aggregate: &Aggregate| match aggregate {
        Aggregate::Count(_) | Aggregate::Sum(_) => Number::Sum(0),
        Aggregate::Distinct(..) => Number::Distinct(HashSet::new()),
        Aggregate::Max(_) => Number::Max(None),
    };
    asked.aggregates.iter().map(number).collect()
}

fn add_pack(
    asked: &Statistics,
    opened: &Opened<'_>,
    rows: &[u32],
    met: &[Option<Vec<u32>>],
    groups: &mut Groups,
) -> Result<(), PackError> {
    for row in rows {
        let at = *row as usize;
        let group =
            asked.group_by.iter().map(|column| opened.value(*column, at)).collect::<Result<Vec<_>, _>>()?;
        let numbers = groups.entry(group).or_insert_with(|| empty(asked));
        for ((aggregate, number), met) in asked.aggregates.iter().zip(numbers).zip(met) {
            if met.as_ref().is_some_and(|met| met.binary_search(row).is_err()) {
                continue;
            }
            match (aggregate, number) {
                (Aggregate::Count(_), Number::Sum(count)) => *count += 1,
                (Aggregate::Sum(column), Number::Sum(sum)) => {
                    *sum += opened.value(*column, at)?.integer().unwrap_or(0);
                }
                (Aggregate::Max(column), Number::Max(max)) => {
                    *max = (*max).max(opened.value(*column, at)?.integer());
                }
                (Aggregate::Distinct(column, _), Number::Distinct(values)) => {
                    let value = opened.value(*column, at)?;
                    if value != Value::Null {
                        values.insert(value);
                    }
                }
                _ => debug_assert!(false, "a number is of another aggregate"),
            }
        }
    }
    Ok(())
}

/// Adds what tables have. Different values are asked for one by one, since they may be in packs, too.
fn add_tables(connection: &Connection, asked: &Statistics, groups: &mut Groups) -> Result<(), StoreError> {
    let keys = asked.group_by.len();
    let plain = |aggregate: &Aggregate| match aggregate {
        Aggregate::Distinct(..) => Aggregate::Count(Filter::nothing()),
        other => other.clone(),
    };
    let aggregates = asked.aggregates.iter().map(plain).collect();
    let query = Statistics { aggregates, limit: u32::MAX >> 1, ..asked.clone() };
    for row in rows(connection, &sql::statistics(&Sqlite, &query))? {
        let numbers = groups.entry(row[..keys].to_vec()).or_insert_with(|| empty(asked));
        for (number, value) in numbers.iter_mut().zip(&row[keys..]) {
            match number {
                Number::Sum(sum) => *sum += value.integer().unwrap_or(0),
                Number::Max(max) => *max = (*max).max(value.integer()),
                Number::Distinct(_) => {}
            }
        }
    }
    for (at, aggregate) in asked.aggregates.iter().enumerate() {
        let Aggregate::Distinct(column, filter) = aggregate else { continue };
        let group_by: Vec<ColumnId> = asked.group_by.iter().copied().chain([*column]).collect();
        let query = Statistics {
            filter: asked.filter.clone().and(filter.clone()),
            group_by,
            aggregates: vec![Aggregate::Count(Filter::everything())],
            limit: u32::MAX >> 1,
            ..asked.clone()
        };
        for mut row in rows(connection, &sql::statistics(&Sqlite, &query))? {
            let value = row.swap_remove(keys);
            row.truncate(keys);
            if let (Some(Number::Distinct(values)), false) =
                (groups.get_mut(&row).map(|numbers| &mut numbers[at]), value == Value::Null)
            {
                values.insert(value);
            }
        }
    }
    Ok(())
}
