//! `POST /baton/v1/process-definitions/{processDefinitionKey}/durations`: how long elements take, from counters where
//! the server keeps them, else from the latest elements that have ended.

mod counters;
mod sample;

use protocol::Name;
use search::{Filter, HOUR_MS, Operand, Spread, Test, model::ColumnId};

use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Moment, Object, object};

pub(super) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let asked = Asked {
        definition: Operand::Integer(call.key()?.cast_signed()),
        from_ms: moment(call, "from")?,
        to_ms: moment(call, "to")?,
        element_id: call.fields.text("elementId").map(|id| Name::from(&*id)),
    };
    let counts = call.storage()?.storage.counts_durations();
    let told = if counts { counters::read(call, &asked).await? } else { sample::read(call, &asked).await? };
    Ok(written(&told))
}

/// A question for durations.
struct Asked {
    definition: Operand,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
    /// The element whose hours are told.
    element_id: Option<Name>,
}

impl Asked {
    /// Rows of the definition whose moment is in the time asked for, which begins with its hour if these are counters.
    fn filter(&self, (definition, time): (ColumnId, ColumnId), by_hour: bool) -> Filter {
        let mut filter = Filter::Column(definition, Test::Equal(self.definition.clone()));
        if let Some(from_ms) = self.from_ms {
            let from_ms = if by_hour { hour(from_ms) } else { from_ms };
            filter = filter.and(Filter::Column(time, Test::GreaterOrEqual(Operand::Integer(from_ms))));
        }
        if let Some(to_ms) = self.to_ms {
            filter = filter.and(Filter::Column(time, Test::Less(Operand::Integer(to_ms))));
        }
        filter
    }
}

/// When an hour begins.
fn hour(moment_ms: i64) -> i64 {
    moment_ms - moment_ms.rem_euclid(HOUR_MS)
}

fn moment(call: &Call<'_>, name: &str) -> Result<Option<i64>, Failure> {
    let Some(text) = call.fields.text(name) else { return Ok(None) };
    let time: jiff::Timestamp =
        text.parse().map_err(|_| Failure::invalid(format!("{name}: is no moment")))?;
    Ok(Some(time.as_millisecond()))
}

/// Figures of some durations.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Figures {
    count: i64,
    average_ms: i64,
    p50_ms: i64,
    p95_ms: i64,
    max_ms: i64,
    total_ms: i64,
}

/// Figures of what something took, and of its jobs if it had any.
#[derive(Debug, Default, Clone, Copy)]
struct Parts {
    total: Figures,
    wait: Option<Figures>,
    work: Option<Figures>,
}

/// The answer.
#[derive(Debug, Default)]
struct Durations {
    elements: Vec<(Name, Parts)>,
    /// The instances themselves, where they are counted.
    process: Option<Parts>,
    /// By the beginning of each hour.
    hours: Vec<(i64, Parts)>,
    are_counted: bool,
    /// The first hour that is counted.
    since_ms: Option<i64>,
    sampled: i64,
    is_complete: bool,
}

fn written(told: &Durations) -> Reply {
    let mut out = Vec::with_capacity(512 * told.elements.len() + 256 * told.hours.len() + 256);
    let answer = object(&mut out)
        .list("items", &told.elements, |(element_id, parts), out| {
            parts.written(object(out).with("elementId", element_id)).end();
        })
        .with("sampled", told.sampled)
        .with("isComplete", told.is_complete)
        .with("source", if told.are_counted { "COUNTERS" } else { "SAMPLE" })
        .with("countedSince", told.since_ms.map(Moment));
    let answer = match &told.process {
        Some(parts) => answer.object("process", |object| parts.written(object)),
        None => answer.with("process", ()),
    };
    answer
        .list("hours", &told.hours, |(time_ms, parts), out| {
            parts.written(object(out).with("time", Moment(*time_ms))).end();
        })
        .end();
    Reply::json(out)
}

impl Parts {
    fn written<'o>(&self, mut object: Object<'o>) -> Object<'o> {
        object = self.total.written(object);
        for (name, figures) in [("wait", &self.wait), ("work", &self.work)] {
            object = match figures {
                Some(figures) => object.object(name, |object| figures.written(object)),
                None => object.with(name, ()),
            };
        }
        object
    }
}

impl Figures {
    fn of_spread(spread: &Spread) -> Self {
        Self {
            count: spread.count,
            average_ms: spread.average_ms(),
            p50_ms: spread.percentile_ms(50),
            p95_ms: spread.percentile_ms(95),
            max_ms: spread.max_ms,
            total_ms: spread.total_ms,
        }
    }

    fn written<'o>(&self, object: Object<'o>) -> Object<'o> {
        object
            .with("count", self.count)
            .with("averageMs", self.average_ms)
            .with("p50Ms", self.p50_ms)
            .with("p95Ms", self.p95_ms)
            .with("maxMs", self.max_ms)
            .with("totalMs", self.total_ms)
    }
}
