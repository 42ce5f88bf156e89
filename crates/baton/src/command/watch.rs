//! `baton watch`: an instance as it goes.
//!
//! The instance is asked for again and again. Once everything so far is known, only elements that began or ended since
//! are asked for. They are asked for after the state of the instance, so that none is missing when it has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::Duration;

use ::client::RestClient;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::kind::Kind;
use super::table;
use crate::cli::Watch;
use crate::failure::Failure;
use crate::output;

/// Time between two looks at the instance.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Entities that are asked for at a time.
const PAGE: u32 = 1000;

pub(crate) async fn run(arguments: &Watch) -> Result<ExitCode, Failure> {
    let client = arguments.to.connect()?;
    let key = arguments.key.to_string();
    let deadline = arguments.timeout.map(|timeout| Instant::now() + timeout);
    let mut known = Known::default();
    loop {
        let instance = Kind::Instances.find(&client, &key).await?;
        for event in known.look(&client, &key).await? {
            if !output::line_of_many(event.line(arguments.to.json))? {
                return Ok(ExitCode::SUCCESS);
            }
        }
        let state = instance["state"].as_str().unwrap_or_default();
        if let Some(word) = ending(state) {
            let time = instance["endDate"].as_str().unwrap_or_default().to_owned();
            let ended = Event { time, word, item: instance.clone() };
            output::line_of_many(ended.line(arguments.to.json))?;
            return Ok(if state == "COMPLETED" { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        let next = Instant::now() + LOOK_INTERVAL;
        if let (Some(deadline), Some(timeout)) = (deadline, arguments.timeout)
            && next > deadline
        {
            return Err(Failure::new(format!(
                "process instance {key} has not ended within --timeout ({timeout:?})"
            )));
        }
        tokio::time::sleep_until(next).await;
    }
}

/// The word for the end of an instance; none while it goes on, or will after its suspension.
fn ending(state: &str) -> Option<&'static str> {
    match state {
        "COMPLETED" => Some("completed"),
        "TERMINATED" => Some("terminated"),
        _ => None,
    }
}

/// Something that happened in the instance.
#[derive(Debug, PartialEq)]
struct Event {
    time: String,
    word: &'static str,
    item: Value,
}

impl Event {
    fn line(&self, json: bool) -> String {
        if json {
            return json!({ "time": self.time, "event": self.word, "item": self.item }).to_string();
        }
        let item = &self.item;
        let text = |property: &str| table::line(&item[property]);
        let what = if item["incidentKey"].is_string() && item["errorType"].is_string() {
            format!(
                "{} at {}: {}: {}",
                text("incidentKey"),
                text("elementId"),
                text("errorType"),
                text("errorMessage")
            )
        } else if item["elementInstanceKey"].is_string() {
            format!("{} ({})", text("elementId"), text("type"))
        } else {
            format!("process instance {}", text("processInstanceKey"))
        };
        format!("{}  {:<10}  {what}", self.time, self.word)
    }
}

/// The parts of the instance that were told.
#[derive(Default)]
struct Known {
    entered: BTreeSet<String>,
    left: BTreeSet<String>,
    incidents: BTreeMap<String, String>,
    /// The latest times that were seen; parts before them do not change any more.
    last_start: Option<String>,
    last_end: Option<String>,
}

impl Known {
    /// Everything that has happened since the last look, in its order.
    async fn look(&mut self, client: &RestClient, key: &str) -> Result<Vec<Event>, Failure> {
        let mut filters = vec![json!({ "processInstanceKey": key })];
        if let Some(start) = &self.last_start {
            filters = vec![json!({ "processInstanceKey": key, "startDate": { "$gte": start } })];
            let end = self.last_end.as_ref().unwrap_or(start);
            filters.push(json!({ "processInstanceKey": key, "endDate": { "$gte": end } }));
        }
        let mut events = Vec::new();
        for filter in filters {
            let request = json!({ "filter": filter, "sort": [{ "field": "startDate" }] });
            for element in Kind::Elements.search_all(client, request, PAGE).await? {
                self.element(element, &mut events);
            }
        }
        let request =
            json!({ "filter": { "processInstanceKey": key }, "sort": [{ "field": "creationTime" }] });
        for incident in Kind::Incidents.search_all(client, request, PAGE).await? {
            self.incident(incident, &mut events);
        }
        events.sort_by(|a, b| a.time.cmp(&b.time));
        Ok(events)
    }

    fn element(&mut self, element: Value, events: &mut Vec<Event>) {
        let Some(key) = element["elementInstanceKey"].as_str().map(str::to_owned) else { return };
        let time = |property: &str| element[property].as_str().map(str::to_owned);
        let (start, end) = (time("startDate"), time("endDate"));
        self.last_start = self.last_start.take().max(start.clone());
        self.last_end = self.last_end.take().max(end.clone());
        if self.entered.insert(key.clone()) {
            let time = start.unwrap_or_default();
            events.push(Event { time, word: "entered", item: element.clone() });
        }
        if let Some(time) = end
            && self.left.insert(key)
        {
            let word = if element["state"] == "TERMINATED" { "terminated" } else { "left" };
            events.push(Event { time, word, item: element });
        }
    }

    fn incident(&mut self, incident: Value, events: &mut Vec<Event>) {
        let Some(key) = incident["incidentKey"].as_str().map(str::to_owned) else { return };
        let state = incident["state"].as_str().unwrap_or_default().to_owned();
        let is_resolved = state == "RESOLVED";
        let before = self.incidents.insert(key, state.clone());
        if before.is_none() {
            let time = incident["creationTime"].as_str().unwrap_or_default().to_owned();
            events.push(Event { time, word: "incident", item: incident.clone() });
        }
        if is_resolved && before.as_ref() != Some(&state) {
            // The API does not tell when.
            let time = format!("{:.3}", jiff::Timestamp::now());
            events.push(Event { time, word: "resolved", item: incident });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspended_instance_has_not_ended() {
        let words = ["ACTIVE", "SUSPENDED", "COMPLETED", "TERMINATED"].map(ending);
        assert_eq!(words, [None, None, Some("completed"), Some("terminated")]);
    }

    #[test]
    fn each_part_is_told_once() {
        let mut known = Known::default();
        let mut told = |part: Value, is_incident: bool| {
            let mut events = Vec::new();
            if is_incident {
                known.incident(part, &mut events);
            } else {
                known.element(part, &mut events);
            }
            events.iter().map(|event| event.line(false)).collect::<Vec<_>>()
        };
        let task = json!({ "elementInstanceKey": "1", "elementId": "pay", "type": "SERVICE_TASK", "state": "ACTIVE", "startDate": "T1" });
        assert_eq!(told(task.clone(), false), ["T1  entered     pay (SERVICE_TASK)"]);
        assert!(told(task.clone(), false).is_empty());
        let mut ended = task;
        ended["endDate"] = json!("T3");
        ended["state"] = json!("TERMINATED");
        assert_eq!(told(ended.clone(), false), ["T3  terminated  pay (SERVICE_TASK)"]);
        assert!(told(ended, false).is_empty());
        let mut incident = json!({
            "incidentKey": "9", "elementId": "pay", "errorType": "JOB_NO_RETRIES", "errorMessage": "no\nmoney",
            "creationTime": "T2", "state": "ACTIVE",
        });
        assert_eq!(told(incident.clone(), true), ["T2  incident    9 at pay: JOB_NO_RETRIES: no money"]);
        incident["state"] = json!("RESOLVED");
        assert_eq!(told(incident.clone(), true).len(), 1);
        assert!(told(incident, true).is_empty());
        assert_eq!((known.last_start.as_deref(), known.last_end.as_deref()), (Some("T1"), Some("T3")));
    }
}
