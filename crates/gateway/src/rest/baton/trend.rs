//! `GET /baton/v1/process-instances/trend` and `GET /baton/v1/jobs/trend`: the last day by the hour, and its slowest
//! elements. All of it is from counters that secondary storage keeps; no instance and no job is read.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use protocol::Name;
use search::model::{ColumnId, Entity, element_duration as duration, job_metric as metric};
use search::{Aggregate, EntityRef, Filter, HOUR_MS, Measure, Operand, Row, Statistics, Test};

use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::{ask, number};
use crate::rest::reply::Reply;
use crate::rest::writer::{Moment, object};

/// Hours that are told, the present one among them.
const HOURS: i64 = 24;
/// Elements that are told.
const SLOWEST_MAX: usize = 10;
/// Counters that are read for one answer.
const GROUPS_MAX: u32 = 100_000;
/// Numbers of instances that an hour has, in their order.
const COUNTED: [Measure; 3] = [Measure::Begun, Measure::Ended, Measure::Incident];
/// The numbers of each hour.
type Hours = BTreeMap<i64, [i64; 3]>;

/// All hours of the day that is told, without any counts.
fn day(call: &Call<'_>) -> Hours {
    let now_ms = call.now_ms();
    let present_ms = now_ms - now_ms.rem_euclid(HOUR_MS);
    (0..HOURS).map(|back| (present_ms - back * HOUR_MS, [0; 3])).collect()
}

/// Counters of that day.
fn counters(
    entity: &'static Entity,
    hours: &Hours,
    filter: Filter,
    time: ColumnId,
    group_by: Vec<ColumnId>,
    aggregates: Vec<Aggregate>,
) -> Statistics {
    let first_ms = hours.keys().next().copied().unwrap_or_default();
    let is_of_day = Filter::Column(time, Test::GreaterOrEqual(Operand::Integer(first_ms)));
    Statistics {
        entity: EntityRef(entity),
        filter: is_of_day.and(filter),
        group_by,
        aggregates,
        limit: GROUPS_MAX,
    }
}

fn measured(measures: &[Measure]) -> Filter {
    let measures = measures.iter().map(|measure| Operand::Text(Name::from(measure.as_str())));
    Filter::Column(duration::MEASURE, Test::In(measures.collect()))
}

/// Instances that began, ended and failed, by hour, and the slowest elements.
pub(super) async fn instances(call: &Call<'_>) -> Result<Reply, Failure> {
    let mut hours = day(call);
    let is_counted = call.storage()?.storage.counts_durations();
    let asked = counters(
        &duration::ENTITY,
        &hours,
        measured(&COUNTED),
        duration::TIME,
        vec![duration::TIME, duration::MEASURE],
        vec![Aggregate::Sum(duration::COUNT)],
    );
    for row in ask(call, asked).await? {
        let place = COUNTED.iter().position(|one| row[1].text().is_some_and(|text| **text == *one.as_str()));
        if let (Some(place), Some(counts)) = (place, hours.get_mut(&number(&row, 0))) {
            counts[place] += number(&row, 2);
        }
    }
    let slowest = slowest_elements(call, &hours).await?;
    let mut out = Vec::with_capacity(4096);
    object(&mut out)
        .with("isCounted", is_counted)
        .list("hours", hours.iter(), |(time_ms, [started, ended, incidents]), out| {
            object(out)
                .with("time", Moment(*time_ms))
                .with("started", *started)
                .with("ended", *ended)
                .with("incidents", *incidents)
                .end();
        })
        .list("slowest", slowest.iter(), |one: &Slow, out| {
            object(out)
                .with("processDefinitionId", &one.process_id)
                .with("processDefinitionKey", one.definition_key.to_string())
                .with("elementId", &one.element_id)
                .with("count", one.count)
                .with("averageMs", one.average_ms())
                .with("maxMs", one.max_ms)
                .end();
        })
        .end();
    Ok(Reply::json(out))
}

/// How long an element took, in all versions of its process.
struct Slow {
    process_id: Name,
    element_id: Name,
    /// The latest version that ran.
    definition_key: i64,
    count: i64,
    total_ms: i64,
    max_ms: i64,
}

impl Slow {
    fn average_ms(&self) -> i64 {
        self.total_ms / self.count.max(1)
    }
}

/// The elements that took longest on average.
async fn slowest_elements(call: &Call<'_>, hours: &Hours) -> Result<Vec<Slow>, Failure> {
    let asked = counters(
        &duration::ENTITY,
        hours,
        measured(&[Measure::Total]),
        duration::TIME,
        vec![duration::PROCESS_ID, duration::ELEMENT_ID, duration::DEFINITION_KEY],
        vec![Aggregate::Sum(duration::COUNT), Aggregate::Sum(duration::TOTAL), Aggregate::Max(duration::MAX)],
    );
    let mut elements: BTreeMap<(Name, Name), Slow> = BTreeMap::new();
    for row in ask(call, asked).await? {
        let (process_id, element_id) = (text(&row, 0), text(&row, 1));
        // The process is counted as an element of itself.
        if process_id == element_id {
            continue;
        }
        let place = (process_id.clone(), element_id.clone());
        let one = elements.entry(place).or_insert(Slow {
            process_id,
            element_id,
            definition_key: 0,
            count: 0,
            total_ms: 0,
            max_ms: 0,
        });
        one.definition_key = one.definition_key.max(number(&row, 2));
        one.count += number(&row, 3);
        one.total_ms += number(&row, 4);
        one.max_ms = one.max_ms.max(number(&row, 5));
    }
    let mut elements: Vec<_> = elements.into_values().collect();
    elements.sort_by_key(|one| Reverse(one.average_ms()));
    elements.truncate(SLOWEST_MAX);
    Ok(elements)
}

fn text(row: &Row, at: usize) -> Name {
    row[at].text().cloned().unwrap_or_default()
}

/// Jobs that were created, completed and failed, by hour.
pub(super) async fn jobs(call: &Call<'_>) -> Result<Reply, Failure> {
    let mut hours = day(call);
    let sums = [metric::CREATED, metric::COMPLETED, metric::FAILED].map(Aggregate::Sum);
    let asked = counters(
        &metric::ENTITY,
        &hours,
        Filter::everything(),
        metric::TIME,
        vec![metric::TIME],
        sums.into(),
    );
    for row in ask(call, asked).await? {
        let minute_ms = number(&row, 0);
        if let Some(counts) = hours.get_mut(&(minute_ms - minute_ms.rem_euclid(HOUR_MS))) {
            for (at, count) in counts.iter_mut().enumerate() {
                *count += number(&row, at + 1);
            }
        }
    }
    let mut out = Vec::with_capacity(2048);
    object(&mut out)
        .list("hours", hours.iter(), |(time_ms, [created, completed, failed]), out| {
            object(out)
                .with("time", Moment(*time_ms))
                .with("created", *created)
                .with("completed", *completed)
                .with("failed", *failed)
                .end();
        })
        .end();
    Ok(Reply::json(out))
}
