//! Durations that were counted when elements ended. No instance is read for them.

use std::collections::BTreeMap;

use protocol::Name;
use search::model::{ColumnId, element_duration as duration};
use search::{
    Aggregate, EntityRef, Filter, HOUR_MS, Measure, Operand, Row, Search, Sort, Spread, Statistics, Test,
};

use super::super::rows;
use super::answer::{Durations, Figures, Parts};
use super::question::Question;
use crate::rest::call::Call;
use crate::rest::problem::Failure;

/// Buckets that are read for one answer.
const BUCKETS_MAX: u32 = 100_000;
/// Hours of an answer: those of a week.
const HOURS_MAX: i64 = 168;

const COUNTED: (ColumnId, ColumnId) = (duration::DEFINITION_KEY, duration::TIME);

/// Spreads by measure.
type Spreads = BTreeMap<Name, Spread>;

pub(super) async fn read(call: &Call<'_>, question: &Question) -> Result<Durations, Failure> {
    call.fresh_storage().await?;
    let visible = call.visible_rows(&duration::ENTITY).await?;
    let filter = question.filter(COUNTED, true).and(lengths()).and(visible.clone());
    let groups = [duration::PROCESS_ID, duration::ELEMENT_ID];
    let (rows, is_complete) = buckets(call, filter.clone(), &groups).await?;
    let mut by_element: BTreeMap<Name, Spreads> = BTreeMap::new();
    let mut process_id = Name::default();
    for row in rows {
        process_id = text(&row, 0);
        add(by_element.entry(text(&row, 1)).or_default(), &row[2..]);
    }
    let process = by_element.remove(&process_id).map(|spreads| Parts::of(&spreads));
    let mut elements: Vec<_> =
        by_element.into_iter().map(|(id, spreads)| (id, Parts::of(&spreads))).collect();
    elements.sort_by_key(|(_, parts)| std::cmp::Reverse(parts.total.total_ms));
    let of = question.element_id.clone().unwrap_or(process_id);
    let of_one = filter.and(Filter::Column(duration::ELEMENT_ID, Test::Equal(Operand::Text(of))));
    let (hours, has_all_hours) = hours(call, of_one).await?;
    let sampled = elements.iter().map(|(_, parts)| parts.total.count).sum();
    let since_ms = since(call, question, visible).await?;
    let is_complete = is_complete && has_all_hours;
    Ok(Durations { elements, process, hours, are_counted: true, since_ms, sampled, is_complete })
}

/// Counters of lengths; others stand beside them.
fn lengths() -> Filter {
    let measures = Measure::LENGTHS.map(|measure| Operand::Text(Name::from(measure.as_str())));
    Filter::Column(duration::MEASURE, Test::In(measures.into()))
}

/// Counters that pass a filter, added up by some columns, measure and bucket; and whether these are all.
async fn buckets(call: &Call<'_>, filter: Filter, groups: &[ColumnId]) -> Result<(Vec<Row>, bool), Failure> {
    let asked = Statistics {
        entity: EntityRef(&duration::ENTITY),
        filter,
        group_by: [groups, &[duration::MEASURE, duration::BUCKET]].concat(),
        aggregates: vec![
            Aggregate::Sum(duration::COUNT),
            Aggregate::Sum(duration::TOTAL),
            Aggregate::Max(duration::MAX),
        ],
        limit: BUCKETS_MAX,
    };
    let rows = call.storage()?.statistics(asked).await?;
    let is_complete = rows.len() < BUCKETS_MAX as usize;
    Ok((rows, is_complete))
}

/// Adds a measure, a bucket and its numbers.
fn add(spreads: &mut Spreads, row: &[search::Value]) {
    let number = |at: usize| row[at].integer().unwrap_or(0);
    let measure = row[0].text().cloned().unwrap_or_default();
    spreads.entry(measure).or_default().add(number(1), number(2), number(3), number(4));
}

fn text(row: &Row, at: usize) -> Name {
    row[at].text().cloned().unwrap_or_default()
}

/// The figures of each hour up to the last one that has any.
async fn hours(call: &Call<'_>, filter: Filter) -> Result<(Vec<(i64, Parts)>, bool), Failure> {
    let last = Statistics {
        entity: EntityRef(&duration::ENTITY),
        filter: filter.clone(),
        group_by: Vec::new(),
        aggregates: vec![Aggregate::Max(duration::TIME)],
        limit: 1,
    };
    let last = call.storage()?.statistics(last).await?;
    let Some(last_ms) = last.first().and_then(|row| row[0].integer()) else { return Ok((Vec::new(), true)) };
    let first_ms = last_ms - (HOURS_MAX - 1) * HOUR_MS;
    let latest = Filter::Column(duration::TIME, Test::GreaterOrEqual(Operand::Integer(first_ms)));
    let (rows, is_complete) = buckets(call, filter.and(latest), &[duration::TIME]).await?;
    let mut by_hour: BTreeMap<i64, Spreads> = BTreeMap::new();
    for row in rows {
        add(by_hour.entry(row[0].integer().unwrap_or(0)).or_default(), &row[1..]);
    }
    Ok((by_hour.iter().map(|(time_ms, spreads)| (*time_ms, Parts::of(spreads))).collect(), is_complete))
}

/// The first hour that is counted of the definition.
async fn since(call: &Call<'_>, question: &Question, visible: Filter) -> Result<Option<i64>, Failure> {
    let of_definition = Filter::Column(duration::DEFINITION_KEY, Test::Equal(question.definition.clone()));
    let search = Search {
        sort: vec![Sort { column: duration::TIME, descending: false }],
        columns: 1 << duration::TIME,
        ..rows::search(&duration::ENTITY, of_definition.and(lengths()).and(visible), 1)
    };
    let found = call.storage()?.search(search).await?;
    Ok(found.rows.first().and_then(|row| row[usize::from(duration::TIME)].integer()))
}

impl Parts {
    fn of(spreads: &Spreads) -> Self {
        let of = |measure: Measure| spreads.get(&Name::from(measure.as_str())).map(Figures::of_spread);
        Self {
            total: of(Measure::Total).unwrap_or_default(),
            wait: of(Measure::Wait),
            work: of(Measure::Work),
        }
    }
}
