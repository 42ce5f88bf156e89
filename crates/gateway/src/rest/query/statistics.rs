//! Numbers from secondary storage: groups of rows, listed as items.

use std::collections::BTreeMap;

use protocol::Name;
use search::model::{
    ColumnId, Entity, Kind, element_count as count, element_instance as element, job_metric as metric,
    process_instance as instance,
};
use search::{Aggregate, EntityRef, Filter, Related, Row, Statistics, Value};
use search::{Operand, Test};
use serde_json::Value as Json;

use super::super::call::Call;
use super::super::problem::Failure;
use super::super::reply::Reply;
use super::super::writer::{Moment, Object, object};
use super::filter_reader::FilterReader;
use crate::rest::limits::GROUPS_MAX;

/// The type of the body of a multi-instance activity. It has the ID of the instances inside.
const BODY: &str = "MULTI_INSTANCE_BODY";
/// Interval of job counts.
pub(in crate::rest) const MINUTE_MS: i64 = 60_000;
/// Answers of the store that are put together for one of times: minutes with jobs of more than a year.
const PARTS_MAX: usize = 60;

fn text(text: &str) -> Operand {
    Operand::Text(Name::from(text))
}

/// A number of a row, 0 if it has none.
pub(in crate::rest) fn number(row: &Row, at: usize) -> i64 {
    row[at].integer().unwrap_or(0)
}

fn is(state: &str) -> Filter {
    Filter::Column(element::STATE, Test::Equal(text(state)))
}

/// Ended elements of a definition up to which process instances are told apart. Beyond, elements that have run several
/// times in an instance count each time, by the numbers that the store keeps.
const TOLD_APART_MAX: i64 = 200_000;

/// The things that statistics of elements count.
#[derive(Clone, Copy)]
pub(in crate::rest) enum Counted {
    /// Element instances. The body of a multi-instance activity is none.
    Elements,
    /// Process instances in which there is such an element instance.
    Instances,
}

impl Counted {
    fn aggregate(self, filter: Filter) -> Aggregate {
        match self {
            Self::Elements => Aggregate::Count(filter),
            Self::Instances => Aggregate::Distinct(element::INSTANCE_KEY, filter),
        }
    }
}

/// How many are active without an incident, and with one.
fn active(counted: Counted) -> [Aggregate; 2] {
    let has_incident = Filter::Column(element::HAS_INCIDENT, Test::Greater(Operand::Integer(0)));
    let has_none = Filter::Any(vec![
        Filter::Column(element::HAS_INCIDENT, Test::Equal(Operand::Integer(0))),
        Filter::Column(element::HAS_INCIDENT, Test::Exists(false)),
    ]);
    [has_none, has_incident].map(|incidents| counted.aggregate(is("ACTIVE").and(incidents)))
}

/// Of each element of instances that pass a filter: how many are where in their life.
pub(in crate::rest) async fn of_elements(
    call: &Call<'_>,
    filter: Filter,
    counted: Counted,
) -> Result<Reply, Failure> {
    let [active, incidents] = active(counted);
    let is_no_body = Filter::Column(element::TYPE, Test::NotEqual(text(BODY)));
    let asked = Statistics {
        entity: EntityRef(&element::ENTITY),
        filter: filter.and(is_no_body),
        group_by: vec![element::ELEMENT_ID],
        aggregates: vec![
            active,
            counted.aggregate(is("TERMINATED")),
            incidents,
            counted.aggregate(is("COMPLETED")),
        ],
        limit: GROUPS_MAX,
    };
    Ok(elements(&ask(call, asked).await?))
}

/// Of each element of a definition: how many of its process instances are where in the life of that element. Where
/// there are too many to tell them apart, those that have ended are counted already.
pub(in crate::rest) async fn of_elements_of_definition(
    call: &Call<'_>,
    definition: Operand,
) -> Result<Reply, Failure> {
    let of = |column| Filter::Column(column, Test::Equal(definition.clone()));
    if !call.storage()?.storage.has_counts() {
        return of_elements(call, of(element::DEFINITION_KEY), Counted::Instances).await;
    }
    let living = Statistics {
        entity: EntityRef(&element::ENTITY),
        filter: of(element::DEFINITION_KEY).and(is("ACTIVE")),
        group_by: vec![element::ELEMENT_ID],
        aggregates: active(Counted::Instances).into(),
        limit: GROUPS_MAX,
    };
    let ended = Statistics {
        entity: EntityRef(&count::ENTITY),
        filter: of(count::DEFINITION_KEY),
        group_by: vec![count::ELEMENT_ID],
        aggregates: vec![Aggregate::Sum(count::TERMINATED), Aggregate::Sum(count::COMPLETED)],
        limit: GROUPS_MAX,
    };
    // An instance that ends in between is missing for a moment rather than counted twice.
    let ended = ask(call, ended).await?;
    if ended.iter().map(|row| number(row, 1) + number(row, 2)).sum::<i64>() <= TOLD_APART_MAX {
        return of_elements(call, of(element::DEFINITION_KEY), Counted::Instances).await;
    }
    let mut rows = BTreeMap::new();
    for row in ask(call, living).await? {
        let (active, incidents) = (number(&row, 1), number(&row, 2));
        rows.insert(name(&row), [active, 0, incidents, 0]);
    }
    for row in ended {
        let counts = rows.entry(name(&row)).or_insert([0; 4]);
        (counts[1], counts[3]) = (number(&row, 1), number(&row, 2));
    }
    rows.retain(|_, counts| counts.iter().any(|count| *count > 0));
    let row = |(name, counts): (Name, [i64; 4])| -> Row {
        std::iter::once(Value::from(name)).chain(counts.map(Value::from)).collect()
    };
    Ok(elements(&rows.into_iter().map(row).collect::<Vec<_>>()))
}

/// The text that a row begins with.
fn name(row: &Row) -> Name {
    row[0].text().cloned().unwrap_or_default()
}

/// Rows of an element and its numbers: active, terminated, with incidents, completed.
fn elements(rows: &[Row]) -> Reply {
    let mut out = Vec::with_capacity(64 + rows.len() * 96);
    object(&mut out)
        .list("items", rows, |row: &Row, out| {
            object(out)
                .with("elementId", name(row))
                .with("active", number(row, 1))
                .with("canceled", number(row, 2))
                .with("incidents", number(row, 3))
                .with("completed", number(row, 4))
                .end();
        })
        .end();
    Reply::json(out)
}

/// The filter of a request, on rows of an entity.
pub(in crate::rest) fn filter_of(call: &Call<'_>, entity: &'static Entity) -> Result<Filter, Failure> {
    FilterReader::new(entity).object("filter", &call.fields.object("filter"))
}

/// Element instances of process instances of a definition that pass the filter of a request.
pub(in crate::rest) fn of_filtered_instances(
    call: &Call<'_>,
    definition: &Operand,
) -> Result<Filter, Failure> {
    let filter = filter_of(call, &instance::ENTITY)?;
    if filter == Filter::everything() {
        return Ok(filter);
    }
    let filter = Filter::Column(instance::DEFINITION_KEY, Test::Equal(definition.clone())).and(filter);
    Ok(Filter::Related(Box::new(Related {
        column: element::INSTANCE_KEY,
        entity: EntityRef(&instance::ENTITY),
        other: instance::KEY,
        filter,
        exists: true,
    })))
}

/// Asks for numbers, of rows that whoever asks may see.
pub(in crate::rest) async fn ask(call: &Call<'_>, mut asked: Statistics) -> Result<Vec<Row>, Failure> {
    asked.filter = asked.filter.and(call.visible_rows(asked.entity.0).await?);
    call.fresh_storage().await?.statistics(asked).await
}

/// Filter of a request on jobs: a time, from and to, and a type.
pub(in crate::rest) struct JobsAsked {
    filter: Filter,
}

impl JobsAsked {
    /// From the parameters of the query.
    pub(in crate::rest) fn of_query(call: &Call<'_>) -> Result<Self, Failure> {
        let mut object = serde_json::Map::new();
        for name in ["from", "to", "jobType"] {
            if let Some(value) = call.query_parameter(name)? {
                object.insert(name.to_owned(), Json::from(value));
            }
        }
        Self::read("", &object)
    }

    /// From `filter` of the body.
    pub(in crate::rest) fn of_body(call: &Call<'_>) -> Result<Self, Failure> {
        Self::read("filter.", &call.fields.object("filter"))
    }

    fn read(path: &str, object: &serde_json::Map<String, Json>) -> Result<Self, Failure> {
        let mut reader = FilterReader::new(&metric::ENTITY);
        let mut all = between(&mut reader, path, object, metric::TIME, metric::TYPE)?;
        for condition in &mut all {
            // A minute counts as a whole.
            if let Filter::Column(metric::TIME, Test::GreaterOrEqual(Operand::Integer(from))) = condition {
                *from -= from.rem_euclid(MINUTE_MS);
            }
        }
        Ok(Self { filter: Filter::All(all) })
    }
}

/// The conditions `from`, `to` and `jobType` of an object on these columns.
fn between(
    reader: &mut FilterReader,
    path: &str,
    object: &serde_json::Map<String, Json>,
    time: ColumnId,
    job_type: ColumnId,
) -> Result<Vec<Filter>, Failure> {
    let mut all = Vec::new();
    for (name, column, kind) in
        [("from", time, Kind::Time), ("to", time, Kind::Time), ("jobType", job_type, Kind::Text)]
    {
        let Some(value) = object.get(name).filter(|value| !value.is_null()) else { continue };
        for test in reader.tests(&format!("{path}{name}"), value, kind)? {
            let test = match (name, test) {
                ("from", Test::Equal(from)) => Test::GreaterOrEqual(from),
                ("to", Test::Equal(to)) => Test::LessOrEqual(to),
                (_, test) => test,
            };
            all.push(Filter::Column(column, test));
        }
    }
    Ok(all)
}

/// The aggregates of [`counted`].
fn counts() -> Vec<Aggregate> {
    vec![
        Aggregate::Sum(metric::CREATED),
        Aggregate::Max(metric::LAST_CREATED),
        Aggregate::Sum(metric::COMPLETED),
        Aggregate::Max(metric::LAST_COMPLETED),
        Aggregate::Sum(metric::FAILED),
        Aggregate::Max(metric::LAST_FAILED),
    ]
}

fn counted<'a>(object: Object<'a>, row: &Row, from: usize) -> Object<'a> {
    let of = |object: Object<'a>, (at, name): (usize, &'static str)| {
        let last = row[from + 2 * at + 1].integer();
        object.object(name, |object| {
            object.with("count", number(row, from + 2 * at)).with("lastUpdatedAt", last.map(Moment))
        })
    };
    ["created", "completed", "failed"].into_iter().enumerate().fold(object, of)
}

/// All jobs of a time.
pub(in crate::rest) async fn of_all_jobs(call: &Call<'_>, asked: JobsAsked) -> Result<Reply, Failure> {
    let asked = Statistics {
        entity: EntityRef(&metric::ENTITY),
        filter: asked.filter,
        group_by: Vec::new(),
        aggregates: counts(),
        limit: 1,
    };
    let rows = ask(call, asked).await?;
    let nothing = vec![Value::Null; 6];
    let mut out = Vec::with_capacity(256);
    counted(object(&mut out), rows.first().unwrap_or(&nothing), 0).with("isIncomplete", false).end();
    Ok(Reply::json(out))
}

/// How jobs are grouped.
pub(in crate::rest) enum JobGroups {
    /// By type, with the number of workers.
    Types,
    Workers,
    /// By time, each so many milliseconds long.
    Times(i64),
}

/// Jobs in groups, page by page.
pub(in crate::rest) async fn of_jobs(
    call: &Call<'_>,
    asked: JobsAsked,
    groups: JobGroups,
) -> Result<Reply, Failure> {
    let (name, column) = match groups {
        JobGroups::Types => ("jobType", metric::TYPE),
        JobGroups::Workers => ("worker", metric::WORKER),
        JobGroups::Times(_) => ("time", metric::TIME),
    };
    let mut aggregates = counts();
    let named = Filter::Column(metric::WORKER, Test::NotEqual(text("")));
    aggregates.push(Aggregate::Distinct(metric::WORKER, named));
    let asked = Statistics {
        entity: EntityRef(&metric::ENTITY),
        filter: asked.filter,
        group_by: vec![column],
        aggregates,
        limit: GROUPS_MAX,
    };
    let rows = match groups {
        JobGroups::Times(resolution) => of_times(call, asked, resolution).await?,
        _ => ask(call, asked).await?,
    };
    page(call, rows, |row, object| {
        let group = match groups {
            JobGroups::Times(_) => object.with(name, Moment(number(row, 0))),
            _ => object.with(name, self::name(row)),
        };
        let group = counted(group, row, 1);
        if matches!(groups, JobGroups::Types) { group.with("workers", number(row, 7)) } else { group }
    })
}

/// The store knows minutes only, and tells so many of them at a time.
async fn of_times(call: &Call<'_>, asked: Statistics, resolution: i64) -> Result<Vec<Row>, Failure> {
    let mut times = Vec::new();
    let mut filter = asked.filter.clone();
    for _ in 0..PARTS_MAX {
        let rows = ask(call, Statistics { filter, ..asked.clone() }).await?;
        let next = rows.last().filter(|_| rows.len() >= GROUPS_MAX as usize).map(|row| number(row, 0));
        gather(&mut times, rows, resolution);
        let Some(last) = next.filter(|_| times.len() <= GROUPS_MAX as usize) else { return Ok(times) };
        let later = Filter::Column(metric::TIME, Test::Greater(Operand::Integer(last)));
        filter = asked.filter.clone().and(later);
    }
    Err(Failure::invalid(format!(
        "filter: expected a shorter time from 'from' to 'to', with at most {} minutes in which there were jobs",
        PARTS_MAX * GROUPS_MAX as usize
    )))
}

/// Adds minutes to longer times. Both are in their order.
fn gather(times: &mut Vec<Row>, minutes: Vec<Row>, resolution: i64) {
    for mut row in minutes {
        let time = number(&row, 0);
        row[0] = Value::Integer(time - time.rem_euclid(resolution));
        match times.last_mut().filter(|last| last[0] == row[0]) {
            Some(last) => {
                for at in 1..7 {
                    let (one, other) = (last[at].integer(), row[at].integer());
                    last[at] = match (one, other) {
                        (Some(one), Some(other)) if at % 2 == 1 => Value::Integer(one + other),
                        (one, other) => Value::from(one.max(other)),
                    };
                }
            }
            None => times.push(row),
        }
    }
}

/// Errors of jobs, from the jobs themselves.
pub(in crate::rest) async fn of_job_errors(call: &Call<'_>) -> Result<Reply, Failure> {
    use search::model::job;
    let object = call.fields.object("filter");
    let mut reader = FilterReader::new(&job::ENTITY);
    let mut all = between(&mut reader, "filter.", &object, job::UPDATED, job::TYPE)?;
    all.push(Filter::Any(vec![
        Filter::Column(job::ERROR_MESSAGE, Test::Exists(true)),
        Filter::Column(job::ERROR_CODE, Test::Exists(true)),
    ]));
    for (name, column) in [("errorCode", job::ERROR_CODE), ("errorMessage", job::ERROR_MESSAGE)] {
        let Some(value) = object.get(name).filter(|value| !value.is_null()) else { continue };
        let tests = reader.tests(&format!("filter.{name}"), value, Kind::Text)?;
        all.extend(tests.into_iter().map(|test| Filter::Column(column, test)));
    }
    let asked = Statistics {
        entity: EntityRef(&job::ENTITY),
        filter: Filter::All(all),
        group_by: vec![job::ERROR_CODE, job::ERROR_MESSAGE],
        aggregates: vec![Aggregate::Distinct(job::WORKER, Filter::everything())],
        limit: GROUPS_MAX,
    };
    let rows = ask(call, asked).await?;
    page(call, rows, |row, object| {
        object
            .with("errorCode", name(row))
            .with("errorMessage", row[1].text().cloned().unwrap_or_default())
            .with("workers", number(row, 2))
    })
}

/// The page of a list that was computed as a whole. A cursor is the number of the item.
fn page(
    call: &Call<'_>,
    rows: Vec<Row>,
    write: impl for<'a> Fn(&Row, Object<'a>) -> Object<'a>,
) -> Result<Reply, Failure> {
    let has_more = rows.len() >= GROUPS_MAX as usize;
    let search = super::super::search::Search::read(&call.fields)?;
    Ok(Reply::json(search.page(rows, has_more, |_, _| None, |row, out| write(row, object(out)).end())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_become_hours() {
        let row = |minute: i64, created: i64, last: Option<i64>| {
            let mut row = vec![Value::Integer(minute * 60_000); 8];
            row[1] = Value::Integer(created);
            row[2] = Value::from(last);
            for at in [3, 5] {
                row[at] = Value::Integer(0);
                row[at + 1] = Value::Null;
            }
            row
        };
        let mut rows = Vec::new();
        gather(&mut rows, vec![row(0, 1, Some(5))], 3_600_000);
        gather(&mut rows, vec![row(59, 2, None), row(60, 4, Some(9))], 3_600_000);
        let counts: Vec<_> =
            rows.iter().map(|row| (number(row, 0), number(row, 1), row[2].integer())).collect();
        assert_eq!(counts, [(0, 3, Some(5)), (3_600_000, 4, Some(9))]);
    }
}
