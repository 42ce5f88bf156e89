//! `GET /baton/v1/process-instances/{processInstanceKey}/timeline`: when each element ran, and where its time went,
//! from the steps that are kept.

use std::collections::BTreeMap;

use protocol::{Key, Name};
use search::model::StepKind;

use super::recorded::each;
use super::step::{Step, write};
use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, object};

/// Default number of elements.
const LIMIT_DEFAULT: u64 = 200;
/// Events of one answer, the first ones.
const EVENTS_MAX: usize = 1_000;

pub(in crate::rest::baton) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = call.key()?;
    let from = call.query_number("from")?.unwrap_or(0) as usize;
    let limit = call.query_number("limit")?.unwrap_or(LIMIT_DEFAULT) as usize;
    let mut timeline = Timeline::new(key, from, limit);
    each(call, key, u64::MAX, |step| timeline.apply(step)).await?;
    timeline.reach(call.now_ms());
    let mut out = Vec::with_capacity(256);
    timeline.write(&mut out);
    Ok(Reply::json(out))
}

/// Ways in which the time of an element goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Waiting,
    Working,
    Incident,
    Other,
}

/// One element.
#[derive(Debug)]
struct Bar {
    key: Key,
    element_id: Name,
    kind: Name,
    state: &'static str,
    first: u64,
    last: Option<u64>,
    start_ms: i64,
    end_ms: Option<i64>,
    /// Up to when its time was counted.
    counted_ms: i64,
    way: Way,
    incidents: u32,
    spent_ms: [i64; 4],
}

impl Bar {
    fn reach(&mut self, time_ms: i64) {
        let way = if self.incidents > 0 { Way::Incident } else { self.way };
        self.spent_ms[way as usize] += (time_ms - self.counted_ms).max(0);
        self.counted_ms = self.counted_ms.max(time_ms);
    }
}

/// Elements of a window in the order in which they began.
#[derive(Debug)]
struct Timeline {
    instance_key: Key,
    from: usize,
    limit: usize,
    total: usize,
    bars: Vec<Bar>,
    /// Places of bars that have not ended.
    open: BTreeMap<Key, usize>,
    events: Vec<Step>,
    are_events_cut: bool,
}

impl Timeline {
    const fn new(instance_key: Key, from: usize, limit: usize) -> Self {
        Self {
            instance_key,
            from,
            limit,
            total: 0,
            bars: Vec::new(),
            open: BTreeMap::new(),
            events: Vec::new(),
            are_events_cut: false,
        }
    }

    fn apply(&mut self, step: Step) {
        let key = step.element_key.unwrap_or(0);
        match step.kind {
            StepKind::ElementActivated => self.begin(key, step),
            StepKind::ElementCompleted => self.end(key, &step, "COMPLETED"),
            StepKind::ElementTerminated => self.end(key, &step, "TERMINATED"),
            StepKind::JobCreated | StepKind::JobFailed | StepKind::JobTimedOut => {
                self.go_on(key, &step, Way::Waiting);
            }
            StepKind::JobActivated => self.go_on(key, &step, Way::Working),
            StepKind::JobCompleted | StepKind::JobCanceled => self.go_on(key, &step, Way::Other),
            StepKind::IncidentCreated => {
                self.trouble(key, &step, 1);
                self.note(step);
            }
            StepKind::IncidentResolved => {
                self.trouble(key, &step, -1);
                self.note(step);
            }
            StepKind::Modified
            | StepKind::Migrated
            | StepKind::Suspended
            | StepKind::Resumed
            | StepKind::Canceled => self.note(step),
            // A bar has no place for it.
            StepKind::VariableSet => {}
        }
    }

    fn begin(&mut self, key: Key, step: Step) {
        if key == self.instance_key {
            return;
        }
        let place = self.total;
        self.total += 1;
        if place < self.from || self.bars.len() >= self.limit {
            return;
        }
        self.open.insert(key, self.bars.len());
        self.bars.push(Bar {
            key,
            element_id: step.element_id.unwrap_or_default(),
            kind: step.name.unwrap_or_default(),
            state: "ACTIVE",
            first: step.position,
            last: None,
            start_ms: step.time_ms,
            end_ms: None,
            counted_ms: step.time_ms,
            way: Way::Other,
            incidents: 0,
            spent_ms: [0; 4],
        });
    }

    fn bar(&mut self, key: Key, step: &Step) -> Option<&mut Bar> {
        let bar = self.open.get(&key).and_then(|at| self.bars.get_mut(*at))?;
        bar.reach(step.time_ms);
        Some(bar)
    }

    fn end(&mut self, key: Key, step: &Step, state: &'static str) {
        if let Some(bar) = self.bar(key, step) {
            (bar.state, bar.last, bar.end_ms) = (state, Some(step.position), Some(step.time_ms));
            // A migration may have put it on another element.
            if let Some(element_id) = &step.element_id {
                bar.element_id = element_id.clone();
            }
        }
        self.open.remove(&key);
    }

    fn go_on(&mut self, key: Key, step: &Step, way: Way) {
        if let Some(bar) = self.bar(key, step) {
            bar.way = way;
        }
    }

    fn trouble(&mut self, key: Key, step: &Step, more: i32) {
        if let Some(bar) = self.bar(key, step) {
            bar.incidents = bar.incidents.saturating_add_signed(more);
        }
    }

    fn note(&mut self, step: Step) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(step);
        } else {
            self.are_events_cut = true;
        }
    }

    /// Counts the time of what has not ended.
    fn reach(&mut self, now_ms: i64) {
        for at in self.open.values() {
            if let Some(bar) = self.bars.get_mut(*at) {
                bar.reach(now_ms);
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        object(out)
            .list("items", &self.bars, |bar, out| {
                let spent = |way: Way| bar.spent_ms[way as usize];
                object(out)
                    .with("elementInstanceKey", Digits(bar.key))
                    .with("elementId", &bar.element_id)
                    .with("type", &bar.kind)
                    .with("state", bar.state)
                    .with("firstPosition", bar.first)
                    .with("lastPosition", bar.last)
                    .with("startDate", Moment(bar.start_ms))
                    .with("endDate", bar.end_ms.map(Moment))
                    .with("waitingMs", spent(Way::Waiting))
                    .with("workingMs", spent(Way::Working))
                    .with("incidentMs", spent(Way::Incident))
                    .with("otherMs", spent(Way::Other))
                    .end();
            })
            .with("totalItems", self.total)
            .list("events", &self.events, write)
            .with("areEventsCut", self.are_events_cut)
            .end();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::{element, job, step};
    use super::*;

    fn timed(time_ms: i64, step: Step) -> Step {
        Step { time_ms, position: time_ms.unsigned_abs(), ..step }
    }

    fn timeline(from: usize, limit: usize) -> Timeline {
        let steps = [
            timed(1, element(StepKind::ElementActivated, 1, "p")),
            timed(10, element(StepKind::ElementActivated, 2, "work")),
            timed(12, job(StepKind::JobCreated, 2, 7)),
            timed(20, job(StepKind::JobActivated, 2, 7)),
            timed(50, job(StepKind::JobFailed, 2, 7)),
            timed(50, Step { subject_key: Some(9), ..element(StepKind::IncidentCreated, 2, "work") }),
            timed(150, Step { subject_key: Some(9), ..element(StepKind::IncidentResolved, 2, "work") }),
            timed(151, job(StepKind::JobActivated, 2, 7)),
            timed(155, job(StepKind::JobCompleted, 2, 7)),
            timed(160, element(StepKind::ElementCompleted, 2, "work")),
            timed(161, element(StepKind::ElementActivated, 3, "wait")),
            timed(170, step(StepKind::Suspended, 1, 1)),
        ];
        let mut timeline = Timeline::new(1, from, limit);
        for step in steps {
            timeline.apply(step);
        }
        timeline.reach(200);
        timeline
    }

    /// The elements of all steps, with the time until `now_ms`.
    pub(in super::super) fn items_of(steps: &[Step], now_ms: i64) -> serde_json::Value {
        let mut timeline = Timeline::new(1, 0, 100);
        for step in steps {
            timeline.apply(step.clone());
        }
        timeline.reach(now_ms);
        let mut out = Vec::new();
        timeline.write(&mut out);
        serde_json::from_slice::<serde_json::Value>(&out).unwrap()["items"].take()
    }

    #[test]
    fn time_goes_waiting_working_and_in_incidents() {
        let Timeline { bars, total, events, .. } = timeline(0, 10);
        assert_eq!((bars.len(), total), (2, 2));
        assert_eq!(bars[0].spent_ms, [8 + 1, 30 + 4, 100, 2 + 5], "waiting, working, incident, other");
        assert_eq!((bars[0].first, bars[0].last, bars[0].state), (10, Some(160), "COMPLETED"));
        assert_eq!((bars[1].spent_ms, bars[1].end_ms), ([0, 0, 0, 39], None), "it goes on until now");
        let kinds: Vec<_> = events.iter().map(|step| step.kind.as_str()).collect();
        assert_eq!(kinds, ["INCIDENT_CREATED", "INCIDENT_RESOLVED", "SUSPENDED"]);
    }

    #[test]
    fn a_window_has_its_elements_and_the_total_of_all() {
        let window = |from, limit| {
            let Timeline { bars, total, .. } = timeline(from, limit);
            (bars.iter().map(|bar| bar.key).collect::<Vec<_>>(), total)
        };
        assert_eq!(window(0, 1), (vec![2], 2));
        assert_eq!(window(1, 1), (vec![3], 2));
        assert_eq!(window(2, 5), (vec![], 2));
    }
}
