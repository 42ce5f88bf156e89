//! Secondary storage that has one row of everything, and remembers what it was asked.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _, ready};
use protocol::{Name, PartitionId};
use search::model::{
    Column, Entity, Kind, agent_history, element_instance, instance_step, job_metric, process_instance,
};
use search::{Aggregate, Filter, Found, Progress, Reader, Row, Search, Statistics, StoreError, Value};
use search::{Operand, Test};

use crate::rest::Storage;

#[derive(Default)]
pub(super) struct FakeStorage {
    pub(super) searches: Mutex<Vec<Search>>,
    /// Columns that are empty.
    pub(super) empty: Vec<&'static str>,
    pub(super) progress: Arc<Progress>,
    /// How many more rows there are of everything.
    pub(super) copies: usize,
    /// Whether there are no rows.
    pub(super) has_nothing: bool,
    /// Whether pages are too large.
    pub(super) is_too_large: bool,
    /// Minutes in which there were jobs, one of each; without it there is one answer to all.
    pub(super) minutes: i64,
    /// Numbers that were asked for.
    pub(super) statistics: Mutex<Vec<Statistics>>,
}

impl FakeStorage {
    pub(super) fn storage(self: &Arc<Self>) -> Storage {
        self.progress.reached(1, 0);
        Storage::new(Arc::<Self>::clone(self), Arc::clone(&self.progress), Duration::from_millis(50))
    }

    fn minutes_of(&self, statistics: &Statistics) -> Vec<Row> {
        let first = after(&statistics.filter).map_or(0, |time| time / 60_000 + 1);
        let minutes = (first..self.minutes).take(statistics.limit as usize);
        let row = |minute| {
            let numbers = vec![Value::Integer(1); statistics.aggregates.len()];
            [vec![Value::Integer(minute * 60_000)], numbers].concat()
        };
        minutes.map(row).collect()
    }

    fn value(&self, column: &Column) -> Value {
        if let Some(shaped) = shaped(column) {
            return Value::Text(Name::from(shaped));
        }
        if self.empty.contains(&column.name) {
            return Value::Null;
        }
        match column.kind {
            Kind::Key | Kind::Integer => Value::Integer(7),
            Kind::Time => Value::Integer(0),
            Kind::Flag => Value::Integer(2),
            Kind::Text if column.name.ends_with("Key") => Value::Text(Name::from("7-1")),
            Kind::Text => Value::Text(Name::from("a")),
            Kind::List => Value::Text(Name::from(r#"["a"]"#)),
            Kind::Json
                if matches!(column.name, "customHeaders" | "toolProperties" | "extensionProperties") =>
            {
                Value::Text(Name::from(r#"{"a":"b"}"#))
            }
            Kind::Json => Value::Text(Name::from("[]")),
        }
    }
}

/// Values with a shape of their own, which no row lacks.
fn shaped(column: &Column) -> Option<&'static str> {
    let is_of_history =
        std::ptr::eq(column, &raw const agent_history::ENTITY.columns[agent_history::METRICS as usize]);
    let is_state = [
        &process_instance::ENTITY.columns[process_instance::STATE as usize],
        &element_instance::ENTITY.columns[element_instance::STATE as usize],
    ]
    .into_iter()
    .any(|state| std::ptr::eq(column, state));
    let is_step =
        std::ptr::eq(column, &raw const instance_step::ENTITY.columns[instance_step::TYPE as usize]);
    Some(match column.name {
        _ if is_state => "ACTIVE",
        _ if is_step => "ELEMENT_ACTIVATED",
        "definition" => r#"{"model":"m","provider":"p","systemPrompt":[]}"#,
        "details" => r#"{"waitStateType":"SIGNAL","signalName":"a"}"#,
        "elementInstanceKeys" => r#"["7"]"#,
        "limits" => r#"{"maxModelCalls":-1,"maxToolCalls":-1,"maxTokens":-1}"#,
        "metrics" if is_of_history => concat!(
            r#"{"inputTokens":1,"outputTokens":null,"durationMs":2,"reasoningTokenCount":3,"#,
            r#""cacheCreationTokenCount":null,"cacheReadTokenCount":null}"#
        ),
        "metrics" => concat!(
            r#"{"inputTokens":1,"outputTokens":2,"modelCalls":3,"toolCalls":4,"reasoningTokenCount":5,"#,
            r#""cacheCreationTokenCount":6,"cacheReadTokenCount":7}"#
        ),
        _ => return None,
    })
}

/// The latest time that rows must be after.
fn after(filter: &Filter) -> Option<i64> {
    match filter {
        Filter::All(all) => all.iter().filter_map(after).max(),
        Filter::Column(job_metric::TIME, Test::Greater(Operand::Integer(time))) => Some(*time),
        _ => None,
    }
}

/// Whether any row can pass. All are of the tenant `a`.
fn can_pass(entity: &Entity, filter: &Filter) -> bool {
    match filter {
        Filter::All(all) => all.iter().all(|filter| can_pass(entity, filter)),
        Filter::Any(any) => any.iter().any(|filter| can_pass(entity, filter)),
        Filter::Column(column, test @ (Test::In(_) | Test::Exists(_)))
            if entity.columns[*column as usize].name == "tenantId" =>
        {
            test.is_met_by(Some(&Operand::Text(Name::from("a"))))
        }
        Filter::Column(_, Test::In(values)) => !values.is_empty(),
        Filter::Column(..) | Filter::Related(_) | Filter::Latest(_) => true,
    }
}

impl Reader for FakeStorage {
    fn search(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
        if self.is_too_large {
            return ready(Err(StoreError::PageTooLarge(search::PAGE_BYTES_MAX))).boxed();
        }
        let row: Row = search.entity.0.columns.iter().map(|column| self.value(column)).collect();
        let has_nothing = self.has_nothing || !can_pass(search.entity.0, &search.filter);
        self.searches.lock().push(search);
        let rows = if has_nothing { vec![] } else { vec![row; 1 + self.copies] };
        ready(Ok(Found { total: rows.len() as u64, rows, has_more: false })).boxed()
    }

    fn statistics(&self, statistics: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        self.statistics.lock().push(statistics.clone());
        if self.minutes > 0 && statistics.group_by == [job_metric::TIME] {
            return ready(Ok(self.minutes_of(&statistics))).boxed();
        }
        let groups = statistics.group_by.iter().map(|column| &statistics.entity.0.columns[*column as usize]);
        let mut row: Row = groups.map(|column| self.value(column)).collect();
        row.extend(statistics.aggregates.iter().map(|aggregate| match aggregate {
            Aggregate::Max(_) if !self.empty.is_empty() => Value::Null,
            _ => Value::Integer(3),
        }));
        ready(Ok(if can_pass(statistics.entity.0, &statistics.filter) { vec![row] } else { vec![] })).boxed()
    }

    fn position(&self, _: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>> {
        ready(Ok(0)).boxed()
    }
}
