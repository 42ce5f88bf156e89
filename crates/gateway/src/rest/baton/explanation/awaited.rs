//! The things that elements wait for: jobs, tasks, messages, timers, signals, conditions, and called instances.

use std::collections::BTreeMap;

use futures::future::{try_join, try_join3};
use protocol::{Key, Name};
use search::Row;
use search::model::{
    element_instance as element, job, message_subscription as subscription, process_instance as instance,
    user_task as task, wait_state as wait,
};
use serde::Serialize;
use serde_json::Value as Json;

use super::super::rows::{key_of, number, text, with_key, with_text};
use super::parts::{grouped, one_of, visible};
use crate::management::WorkerStatus;
use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::writer::{Digits, Moment};

/// Workers that would take jobs of a type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Serving {
    streams: u32,
    polls: u32,
    free_places: u64,
}

impl Serving {
    fn of(workers: &[WorkerStatus], job_type: &str, tenant_id: &str) -> Self {
        let mut serving = Self::default();
        let takes = |worker: &&WorkerStatus| {
            worker.job_type == job_type && worker.tenant_ids.iter().any(|one| one == tenant_id)
        };
        for worker in workers.iter().filter(takes) {
            *(if worker.is_stream { &mut serving.streams } else { &mut serving.polls }) += 1;
            serving.free_places += u64::from(worker.free_places);
        }
        serving
    }
}

/// Something that an element waits for: one of its parts is there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Awaited {
    kind: &'static str,
    since: Moment,
    job: Option<JobPart>,
    user_task: Option<UserTaskPart>,
    message: Option<Message>,
    timer: Option<Timer>,
    signal: Option<Signal>,
    condition: Option<Condition>,
    called_instance: Option<CalledInstance>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JobPart {
    job_key: Name,
    job_type: Name,
    job_kind: Name,
    listener_event_type: Option<Name>,
    retries: i64,
    state: Option<Name>,
    worker: Option<Name>,
    deadline: Option<Moment>,
    streams: Option<u32>,
    polls: Option<u32>,
    free_places: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UserTaskPart {
    user_task_key: Name,
    name: Option<Name>,
    assignee: Option<Name>,
    candidate_users: Json,
    candidate_groups: Json,
    due_date: Option<Name>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    message_name: Name,
    correlation_key: Option<Name>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Timer {
    due_date: Option<Moment>,
    repetitions: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Signal {
    signal_name: Name,
}

#[derive(Serialize)]
struct Condition {
    expression: Name,
    events: Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CalledInstance {
    process_instance_key: Digits,
    process_definition_id: Name,
    process_definition_name: Option<Name>,
    state: Name,
}

impl Awaited {
    /// One without its part.
    const fn new(kind: &'static str, since_ms: i64) -> Self {
        Self {
            kind,
            since: Moment(since_ms),
            job: None,
            user_task: None,
            message: None,
            timer: None,
            signal: None,
            condition: None,
            called_instance: None,
        }
    }

    /// A job by its details, its row if there is one, and the workers that would take it if they are known.
    fn job(details: &Details, row: Option<&Row>, serving: Option<Serving>, began_ms: i64) -> Self {
        let since_ms = row.and_then(|row| number(row, job::CREATED)).unwrap_or(began_ms);
        let told = |column| row.and_then(|row| text(row, column)).filter(|text| !text.is_empty());
        let job = JobPart {
            job_key: details.text("jobKey").unwrap_or_default(),
            job_type: details.text("jobType").unwrap_or_default(),
            job_kind: details.text("jobKind").unwrap_or_default(),
            listener_event_type: details.text("listenerEventType"),
            retries: details.number("retries").unwrap_or(0),
            state: told(job::STATE),
            worker: told(job::WORKER),
            deadline: row.and_then(|row| number(row, job::DEADLINE)).map(Moment),
            streams: serving.map(|serving| serving.streams),
            polls: serving.map(|serving| serving.polls),
            free_places: serving.map(|serving| serving.free_places),
        };
        Self { job: Some(job), ..Self::new("JOB", since_ms) }
    }

    /// A task by its details, and its row for those who may see it.
    fn user_task(details: &Details, row: Option<&Row>, began_ms: i64) -> Self {
        let since_ms = row.and_then(|row| number(row, task::CREATED)).unwrap_or(began_ms);
        let told = |column| row.and_then(|row| text(row, column)).filter(|text| !text.is_empty());
        let list = |column| told(column).and_then(|text| serde_json::from_str(&text).ok());
        let none = || Json::Array(Vec::new());
        let user_task = UserTaskPart {
            user_task_key: details.text("taskKey").unwrap_or_default(),
            name: told(task::NAME),
            assignee: told(task::ASSIGNEE),
            candidate_users: list(task::CANDIDATE_USERS).unwrap_or_else(none),
            candidate_groups: list(task::CANDIDATE_GROUPS).unwrap_or_else(none),
            due_date: details.text("dueDate"),
        };
        Self { user_task: Some(user_task), ..Self::new("USER_TASK", since_ms) }
    }

    fn message(message_name: Name, correlation_key: Option<Name>, since_ms: i64) -> Self {
        let message = Some(Message { message_name, correlation_key });
        Self { message, ..Self::new("MESSAGE", since_ms) }
    }

    fn timer(details: &Details, since_ms: i64) -> Self {
        let due_date = details.number("dueDate").map(Moment);
        let timer = Some(Timer { due_date, repetitions: details.number("repetitions").unwrap_or(1) });
        Self { timer, ..Self::new("TIMER", since_ms) }
    }

    fn signal(details: &Details, since_ms: i64) -> Self {
        let signal = Some(Signal { signal_name: details.text("signalName").unwrap_or_default() });
        Self { signal, ..Self::new("SIGNAL", since_ms) }
    }

    fn condition(details: &Details, since_ms: i64) -> Self {
        let events = details.0.get("events").filter(|events| events.is_array()).cloned();
        let condition = Condition {
            expression: details.text("expression").unwrap_or_default(),
            events: events.unwrap_or_else(|| Json::Array(Vec::new())),
        };
        Self { condition: Some(condition), ..Self::new("CONDITION", since_ms) }
    }

    fn called(row: &Row) -> Self {
        let called_instance = Some(CalledInstance {
            process_instance_key: Digits(key_of(row, instance::KEY)),
            process_definition_id: text(row, instance::PROCESS_ID).unwrap_or_default(),
            process_definition_name: text(row, instance::PROCESS_NAME).filter(|name| !name.is_empty()),
            state: text(row, instance::STATE).unwrap_or_default(),
        });
        let since_ms = number(row, instance::START).unwrap_or(0);
        Self { called_instance, ..Self::new("CALLED_INSTANCE", since_ms) }
    }
}

/// A row of something that is waited for.
struct Wait {
    kind: Option<Name>,
    details: Details,
}

impl Wait {
    fn of(row: &Row) -> Self {
        let details = text(row, wait::DETAILS).and_then(|text| serde_json::from_str(&text).ok());
        Self { kind: text(row, wait::TYPE), details: Details(details.unwrap_or_default()) }
    }
}

/// Its details, by the names of the API.
struct Details(Json);

impl Details {
    fn text(&self, name: &str) -> Option<Name> {
        self.0.get(name)?.as_str().map(Name::from)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.0.get(name)?.as_i64()
    }

    fn key(&self, name: &str) -> Option<Key> {
        self.text(name)?.parse().ok()
    }
}

/// The things that some elements of an instance wait for, by their keys.
pub(super) async fn of(
    call: &Call<'_>,
    instance: &Row,
    elements: &[Row],
    keys: &[Key],
) -> Result<BTreeMap<Key, Vec<Awaited>>, Failure> {
    let instance_key = key_of(instance, instance::KEY);
    let messages = with_key(subscription::INSTANCE_KEY, instance_key)
        .and(with_text(subscription::STATE, "CREATED"))
        .and(one_of(subscription::ELEMENT_KEY, keys));
    let called = with_key(instance::PARENT_INSTANCE_KEY, instance_key)
        .and(one_of(instance::PARENT_ELEMENT_KEY, keys))
        .and(search::Filter::Column(instance::END, search::Test::Exists(false)));
    let (waits, messages, called) = try_join3(
        visible(call, &wait::ENTITY, one_of(wait::ELEMENT_KEY, keys)),
        visible(call, &subscription::ENTITY, messages),
        visible(call, &instance::ENTITY, called),
    )
    .await?;
    let mut by_element: BTreeMap<Key, Vec<Wait>> = BTreeMap::new();
    for row in &waits {
        by_element.entry(key_of(row, wait::ELEMENT_KEY)).or_default().push(Wait::of(row));
    }
    let parts = Parts::of(call, instance, by_element.values().flatten(), messages, called).await?;
    let all = elements.iter().map(|element| {
        let key = key_of(element, element::KEY);
        (key, parts.of_element(element, by_element.get(&key).map(Vec::as_slice).unwrap_or_default()))
    });
    Ok(all.collect())
}

/// Rows that say more of what is waited for.
struct Parts {
    workers: Option<Vec<WorkerStatus>>,
    tenant_id: Name,
    jobs: BTreeMap<Key, Row>,
    tasks: BTreeMap<Key, Row>,
    messages: BTreeMap<Key, Vec<Row>>,
    called: BTreeMap<Key, Vec<Row>>,
}

impl Parts {
    async fn of(
        call: &Call<'_>,
        instance: &Row,
        waits: impl Iterator<Item = &Wait> + Clone,
        messages: Vec<Row>,
        called: Vec<Row>,
    ) -> Result<Self, Failure> {
        let keys =
            |name: &str| -> Vec<Key> { waits.clone().filter_map(|wait| wait.details.key(name)).collect() };
        let (jobs, tasks) = try_join(
            visible(call, &job::ENTITY, one_of(job::KEY, &keys("jobKey"))),
            visible(call, &task::ENTITY, one_of(task::KEY, &keys("taskKey"))),
        )
        .await?;
        let by_key =
            |rows: Vec<Row>, column| rows.into_iter().map(|row| (key_of(&row, column), row)).collect();
        Ok(Self {
            workers: call.operations().ok().and_then(|operations| operations.workers()),
            tenant_id: text(instance, instance::TENANT).unwrap_or_default(),
            jobs: by_key(jobs, job::KEY),
            tasks: by_key(tasks, task::KEY),
            messages: grouped(messages, subscription::ELEMENT_KEY),
            called: grouped(called, instance::PARENT_ELEMENT_KEY),
        })
    }

    fn of_element(&self, element: &Row, waits: &[Wait]) -> Vec<Awaited> {
        let key = key_of(element, element::KEY);
        let began_ms = number(element, element::START).unwrap_or(0);
        let messages = self.messages.get(&key).map(Vec::as_slice).unwrap_or_default();
        let mut all: Vec<_> = waits.iter().map(|wait| self.of_wait(wait, began_ms, messages)).collect();
        // A gateway waits for the events behind it, of which messages are known by their subscriptions.
        if text(element, element::TYPE).is_some_and(|kind| &*kind == "EVENT_BASED_GATEWAY") {
            all.extend(messages.iter().map(|row| {
                let name = text(row, subscription::MESSAGE_NAME).unwrap_or_default();
                let since_ms = number(row, subscription::UPDATED).unwrap_or(began_ms);
                Awaited::message(name, text(row, subscription::CORRELATION_KEY), since_ms)
            }));
        }
        all.extend(self.called.get(&key).into_iter().flatten().map(Awaited::called));
        all
    }

    /// `messages` are the subscriptions of its element.
    fn of_wait(&self, Wait { kind, details }: &Wait, began_ms: i64, messages: &[Row]) -> Awaited {
        match kind.as_deref() {
            Some("JOB") => {
                let job_type = details.text("jobType").unwrap_or_default();
                let workers = self.workers.as_ref();
                let serving = workers.map(|workers| Serving::of(workers, &job_type, &self.tenant_id));
                let row = details.key("jobKey").and_then(|key| self.jobs.get(&key));
                Awaited::job(details, row, serving, began_ms)
            }
            Some("USER_TASK") => {
                let row = details.key("taskKey").and_then(|key| self.tasks.get(&key));
                Awaited::user_task(details, row, began_ms)
            }
            Some("MESSAGE") => {
                let name = details.text("messageName").unwrap_or_default();
                let of_name = |row: &&Row| text(row, subscription::MESSAGE_NAME).as_ref() == Some(&name);
                let since_ms =
                    messages.iter().find(of_name).and_then(|row| number(row, subscription::UPDATED));
                let correlation_key = details.text("correlationKey");
                Awaited::message(name, correlation_key, since_ms.unwrap_or(began_ms))
            }
            Some("TIMER") => Awaited::timer(details, began_ms),
            Some("CONDITION") => Awaited::condition(details, began_ms),
            _ => Awaited::signal(details, began_ms),
        }
    }
}
