//! `GET /baton/v1/process-instances/{processInstanceKey}/at/{position}`: an instance as it was behind one of its steps.

use std::collections::{BTreeMap, VecDeque};

use protocol::{Key, Name};
use search::model::StepKind;

use super::recorded::each;
use super::step::Step;
use crate::rest::call::Call;
use crate::rest::fields::parse_key;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, object};

/// Default number of things of each kind.
const LIMIT_DEFAULT: u64 = 1_000;

pub(in crate::rest::baton) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = call.key()?;
    let until = parse_key("position", &call.parameters[1])?;
    let limit = call.query_number("limit")?.unwrap_or(LIMIT_DEFAULT) as usize;
    let mut then = Then::new(key, limit);
    each(call, key, until, |step| then.apply(step)).await?;
    if then.position == 0 {
        return Err(Failure::not_found(format!(
            "position: expected that of a step of process instance '{key}', or a later one, but found '{until}', when it had not begun"
        )));
    }
    let mut out = Vec::with_capacity(1024);
    then.write(&mut out);
    Ok(Reply::json(out))
}

#[derive(Debug)]
struct ElementThen {
    key: Key,
    element_id: Name,
    kind: Name,
    state: &'static str,
    since_ms: i64,
    until_ms: Option<i64>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    active: u64,
    completed: u64,
    canceled: u64,
}

/// The state behind the steps that it was told.
#[derive(Debug)]
struct Then {
    instance_key: Key,
    /// Things of each kind that are shown.
    limit: usize,
    position: u64,
    time_ms: i64,
    state: &'static str,
    active: BTreeMap<Key, ElementThen>,
    /// Latest elements that have ended, as many as are shown.
    ended: VecDeque<ElementThen>,
    ended_count: usize,
    counts: BTreeMap<Name, Counts>,
    /// Variables in effect, by scope and name.
    variables: BTreeMap<(Key, Name), Step>,
    incidents: BTreeMap<Key, Step>,
    jobs: BTreeMap<Key, (&'static str, Step)>,
}

impl Then {
    const fn new(instance_key: Key, limit: usize) -> Self {
        Self {
            instance_key,
            limit,
            position: 0,
            time_ms: 0,
            state: "ACTIVE",
            active: BTreeMap::new(),
            ended: VecDeque::new(),
            ended_count: 0,
            counts: BTreeMap::new(),
            variables: BTreeMap::new(),
            incidents: BTreeMap::new(),
            jobs: BTreeMap::new(),
        }
    }

    fn apply(&mut self, step: Step) {
        (self.position, self.time_ms) = (step.position, step.time_ms);
        let key = step.subject_key.unwrap_or(0);
        match step.kind {
            StepKind::ElementActivated => self.begin(step),
            StepKind::ElementCompleted => self.end(step, "COMPLETED"),
            StepKind::ElementTerminated => self.end(step, "TERMINATED"),
            StepKind::VariableSet => {
                let place = (step.element_key.unwrap_or(0), step.name.clone().unwrap_or_default());
                self.variables.insert(place, step);
            }
            StepKind::JobCreated => self.job(key, "CREATED", step),
            StepKind::JobActivated => self.job(key, "ACTIVATED", step),
            StepKind::JobFailed => self.job(key, "FAILED", step),
            StepKind::JobTimedOut => self.job(key, "TIMED_OUT", step),
            StepKind::JobCompleted | StepKind::JobCanceled => drop(self.jobs.remove(&key)),
            StepKind::IncidentCreated => drop(self.incidents.insert(key, step)),
            StepKind::IncidentResolved => drop(self.incidents.remove(&key)),
            StepKind::Suspended => self.state = "SUSPENDED",
            StepKind::Resumed => self.state = "ACTIVE",
            // Steps of elements and variables behind it tell the rest.
            StepKind::Canceled | StepKind::Modified | StepKind::Migrated => {}
        }
    }

    fn job(&mut self, key: Key, state: &'static str, step: Step) {
        self.jobs.insert(key, (state, step));
    }

    fn begin(&mut self, step: Step) {
        let key = step.element_key.unwrap_or(0);
        if key == self.instance_key {
            return;
        }
        let element_id = step.element_id.unwrap_or_default();
        self.counts.entry(element_id.clone()).or_default().active += 1;
        let kind = step.name.unwrap_or_default();
        let since_ms = step.time_ms;
        self.active
            .insert(key, ElementThen { key, element_id, kind, state: "ACTIVE", since_ms, until_ms: None });
    }

    fn end(&mut self, step: Step, state: &'static str) {
        let key = step.element_key.unwrap_or(0);
        if key == self.instance_key {
            self.state = state;
            return;
        }
        let Some(mut element) = self.active.remove(&key) else { return };
        // Variables of the scope are gone with it.
        let of_scope = (key, Name::default())..(key + 1, Name::default());
        let gone: Vec<_> = self.variables.range(of_scope).map(|(place, _)| place.clone()).collect();
        for place in gone {
            self.variables.remove(&place);
        }
        if let Some(counts) = self.counts.get_mut(&element.element_id) {
            counts.active -= 1;
        }
        // A migration may have put it on another element.
        element.element_id = step.element_id.unwrap_or(element.element_id);
        let counts = self.counts.entry(element.element_id.clone()).or_default();
        *(if state == "COMPLETED" { &mut counts.completed } else { &mut counts.canceled }) += 1;
        (element.state, element.until_ms) = (state, Some(step.time_ms));
        self.ended_count += 1;
        self.ended.push_back(element);
        if self.ended.len() > self.limit {
            self.ended.pop_front();
        }
    }

    /// Incidents by the element instance that has them.
    fn incidents_at(&self) -> BTreeMap<Key, u64> {
        let mut at = BTreeMap::new();
        for key in self.incidents.values().filter_map(|incident| incident.element_key) {
            *at.entry(key).or_insert(0) += 1;
        }
        at
    }

    fn write(&self, out: &mut Vec<u8>) {
        let incidents_at = self.incidents_at();
        let mut troubled: BTreeMap<&Name, u64> = BTreeMap::new();
        for element in incidents_at.keys().filter_map(|key| self.active.get(key)) {
            *troubled.entry(&element.element_id).or_insert(0) += 1;
        }
        // The living first, then those that ended last.
        let elements = self.active.values().chain(self.ended.iter().rev()).take(self.limit);
        object(out)
            .with("position", self.position)
            .with("time", Moment(self.time_ms))
            .with("state", self.state)
            .list(
                "counts",
                self.counts.iter().filter(|(_, counts)| **counts != Counts::default()),
                |(id, counts), out| {
                    let incidents = troubled.get(id).copied().unwrap_or(0);
                    object(out)
                        .with("elementId", id)
                        .with("active", counts.active - incidents)
                        .with("incidents", incidents)
                        .with("completed", counts.completed)
                        .with("canceled", counts.canceled)
                        .end();
                },
            )
            .list("elements", elements, |element, out| {
                object(out)
                    .with("elementInstanceKey", Digits(element.key))
                    .with("elementId", &element.element_id)
                    .with("type", &element.kind)
                    .with("state", element.state)
                    .with("hasIncident", incidents_at.contains_key(&element.key))
                    .with("startDate", Moment(element.since_ms))
                    .with("endDate", element.until_ms.map(Moment))
                    .end();
            })
            .with("totalElements", self.active.len() + self.ended_count)
            .list("variables", self.variables.values().take(self.limit), write_variable)
            .with("totalVariables", self.variables.len())
            .list("incidents", self.incidents.values().take(self.limit), write_incident)
            .with("totalIncidents", self.incidents.len())
            .list("jobs", self.jobs.values().take(self.limit), write_job)
            .with("totalJobs", self.jobs.len())
            .end();
    }
}

fn write_variable(step: &Step, out: &mut Vec<u8>) {
    object(out)
        .with("variableKey", Digits(step.subject_key.unwrap_or(0)))
        .with("scopeKey", Digits(step.element_key.unwrap_or(0)))
        .with("name", step.name.as_ref().unwrap_or(&Name::default()))
        .with("value", step.value.as_ref().unwrap_or(&Name::default()))
        .with("since", Moment(step.time_ms))
        .end();
}

fn write_incident(step: &Step, out: &mut Vec<u8>) {
    let none = Name::default();
    object(out)
        .with("incidentKey", Digits(step.subject_key.unwrap_or(0)))
        .with("elementId", step.element_id.as_ref().unwrap_or(&none))
        .with("elementInstanceKey", Digits(step.element_key.unwrap_or(0)))
        .with("errorType", step.name.as_ref().unwrap_or(&none))
        .with("errorMessage", step.value.as_ref().unwrap_or(&none))
        .with("since", Moment(step.time_ms))
        .end();
}

fn write_job((state, step): &(&'static str, Step), out: &mut Vec<u8>) {
    let none = Name::default();
    object(out)
        .with("jobKey", Digits(step.subject_key.unwrap_or(0)))
        .with("elementId", step.element_id.as_ref().unwrap_or(&none))
        .with("elementInstanceKey", Digits(step.element_key.unwrap_or(0)))
        .with("type", step.name.as_ref().unwrap_or(&none))
        .with("state", state)
        .with("worker", step.value.as_ref().filter(|_| *state == "ACTIVATED"))
        .end();
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::super::tests::{element, job, step};
    use super::*;

    pub(in super::super) fn then_of(steps: &[Step], limit: usize) -> Value {
        let mut then = Then::new(1, limit);
        for step in steps {
            then.apply(step.clone());
        }
        let mut out = Vec::new();
        then.write(&mut out);
        serde_json::from_slice(&out).unwrap()
    }

    fn set(scope: Key, name: &str, value: &str) -> Step {
        Step {
            name: Some(Name::from(name)),
            value: Some(Name::from(value)),
            ..step(StepKind::VariableSet, 0, scope)
        }
    }

    fn variables(then: &Value) -> Vec<String> {
        let text = |one: &Value| format!("{} {}={}", one["scopeKey"], one["name"], one["value"]);
        then["variables"].as_array().unwrap().iter().map(text).map(|text| text.replace('"', "")).collect()
    }

    #[test]
    fn variables_are_those_in_effect_and_elements_those_of_then() {
        let steps = [
            element(StepKind::ElementActivated, 1, "p"),
            set(1, "total", "3"),
            element(StepKind::ElementActivated, 2, "work"),
            set(2, "own", "true"),
            set(1, "total", "4"),
            job(StepKind::JobCreated, 2, 7),
            Step { value: Some(Name::from("w")), ..job(StepKind::JobActivated, 2, 7) },
            element(StepKind::ElementCompleted, 2, "work"),
            element(StepKind::ElementActivated, 3, "work"),
            Step { subject_key: Some(9), ..element(StepKind::IncidentCreated, 3, "work") },
            step(StepKind::Suspended, 1, 1),
        ];
        let then = then_of(&steps[..7], 10);
        assert_eq!(variables(&then), ["1 total=4", "2 own=true"]);
        assert_eq!(
            (&then["jobs"][0]["state"], &then["jobs"][0]["worker"]),
            (&json!("ACTIVATED"), &json!("w"))
        );
        assert_eq!(
            then["counts"],
            json!([{"elementId": "work", "active": 1, "incidents": 0, "completed": 0, "canceled": 0}])
        );
        let then = then_of(&steps, 10);
        assert_eq!(variables(&then), ["1 total=4"], "a scope takes its variables along");
        assert_eq!(
            then["counts"],
            json!([{"elementId": "work", "active": 0, "incidents": 1, "completed": 1, "canceled": 0}])
        );
        assert_eq!(then["state"], "SUSPENDED");
        let states: Vec<_> = then["elements"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
        assert_eq!(states, ["ACTIVE", "COMPLETED"]);
        assert_eq!(then["elements"][0]["hasIncident"], true);
        // The living come first where not all are shown.
        let few = then_of(&steps, 1);
        assert_eq!((few["elements"].as_array().unwrap().len(), &few["totalElements"]), (1, &json!(2)));
        assert_eq!(few["elements"][0]["elementInstanceKey"], "3");
    }

    #[test]
    fn an_element_ends_where_a_migration_put_it() {
        let steps =
            [element(StepKind::ElementActivated, 2, "old"), element(StepKind::ElementTerminated, 2, "new")];
        let then = then_of(&steps, 10);
        assert_eq!(
            then["counts"],
            json!([{"elementId": "new", "active": 0, "incidents": 0, "completed": 0, "canceled": 1}])
        );
        assert_eq!(then_of(&[element(StepKind::ElementTerminated, 1, "p")], 1)["state"], "TERMINATED");
    }
}
