//! The answer to a question for durations.

use protocol::Name;
use search::Spread;

use crate::rest::reply::Reply;
use crate::rest::writer::{Moment, Object, object};

/// Figures of some durations.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) count: i64,
    pub(super) average_ms: i64,
    pub(super) p50_ms: i64,
    pub(super) p95_ms: i64,
    pub(super) max_ms: i64,
    pub(super) total_ms: i64,
}

/// Figures of what something took, and of its jobs if it had any.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Parts {
    pub(super) total: Figures,
    pub(super) wait: Option<Figures>,
    pub(super) work: Option<Figures>,
}

/// Durations of elements, of the instances, and of hours.
#[derive(Debug, Default)]
pub(super) struct Durations {
    pub(super) elements: Vec<(Name, Parts)>,
    /// The instances themselves, where they are counted.
    pub(super) process: Option<Parts>,
    /// By the beginning of each hour.
    pub(super) hours: Vec<(i64, Parts)>,
    pub(super) are_counted: bool,
    /// The first hour that is counted.
    pub(super) since_ms: Option<i64>,
    pub(super) sampled: i64,
    pub(super) is_complete: bool,
}

impl Durations {
    pub(super) fn written(&self) -> Reply {
        let mut out = Vec::with_capacity(512 * self.elements.len() + 256 * self.hours.len() + 256);
        let answer = object(&mut out)
            .list("items", &self.elements, |(element_id, parts), out| {
                parts.written(object(out).with("elementId", element_id)).end();
            })
            .with("sampled", self.sampled)
            .with("isComplete", self.is_complete)
            .with("source", if self.are_counted { "COUNTERS" } else { "SAMPLE" })
            .with("countedSince", self.since_ms.map(Moment));
        let answer = match &self.process {
            Some(parts) => answer.object("process", |object| parts.written(object)),
            None => answer.with("process", ()),
        };
        answer
            .list("hours", &self.hours, |(time_ms, parts), out| {
                parts.written(object(out).with("time", Moment(*time_ms))).end();
            })
            .end();
        Reply::json(out)
    }
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
    pub(super) fn of_spread(spread: &Spread) -> Self {
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
