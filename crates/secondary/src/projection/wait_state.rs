//! Jobs, messages, timers, signals, conditions and people that active element instances wait for. A row is there as
//! long as something is waited for. Boundary events, event sub-processes and event-based gateways have none.

use protocol::{
    ConditionalSubscriptionRecord, Intent, JobRecord, Key, MessageSubscriptionRecord, Name, Record,
    RecordValue, SignalSubscriptionRecord, TimerRecord, UserTaskRecord, Word,
};
use search::Value;
use search::model::wait_state as wait;
use serde_json::{Value as Json, json};

use super::user_task::date;
use crate::change::{Batch, RowId};
use crate::words::{local, word};

/// The element instance that waits.
struct Place<'a> {
    element: Option<Key>,
    element_id: &'a Name,
    element_type: Option<Word>,
    instance: Option<Key>,
    root: Option<Key>,
    process_id: Option<&'a Name>,
    tenant_id: &'a Name,
}

impl Place<'_> {
    /// Whether the element waits for nothing but an event that its own instance waits for.
    fn is_catch_event(&self) -> bool {
        self.element_type.is_some_and(|found| matches!(&*found, "INTERMEDIATE_CATCH_EVENT" | "RECEIVE_TASK"))
    }

    /// Begins the row of something that is waited for, or shows what it is now.
    fn wait(&self, key: Key, wait_type: &'static str, mut details: Json, batch: &mut Batch) {
        let (Some(element), Some(element_type), Some(process_id)) =
            (self.element, self.element_type, self.process_id)
        else {
            return;
        };
        details["waitStateType"] = wait_type.into();
        batch
            .insert(&wait::ENTITY, id(element, key))
            .set(wait::ROOT_INSTANCE_KEY, self.root)
            .set(wait::INSTANCE_KEY, self.instance)
            .set(wait::ELEMENT_KEY, element)
            .set(wait::ELEMENT_ID, local(self.element_id))
            .set(wait::ELEMENT_TYPE, word(element_type.as_str()))
            .set(wait::TENANT, local(self.tenant_id))
            .set(wait::PROCESS_ID, local(process_id))
            .set(wait::DETAILS, Name::from(details.to_string()))
            .set(wait::TYPE, word(wait_type));
    }

    fn end(&self, key: Key, batch: &mut Batch) {
        if let Some(element) = self.element {
            batch.delete(&wait::ENTITY, id(element, key));
        }
    }
}

fn id(element: Key, key: Key) -> RowId {
    RowId::Text(Name::from(format!("{element}_{key}")))
}

pub(super) fn apply(record: &Record, batch: &mut Batch) {
    let (place, wait_type, details) = match &record.value {
        RecordValue::Job(value) => return job(record, value, batch),
        RecordValue::UserTask(value) => return user_task(record, value, batch),
        RecordValue::Timer(value) => timer(value),
        RecordValue::ProcessMessageSubscription(value) => message(value),
        RecordValue::SignalSubscription(value) => signal(value),
        RecordValue::ConditionalSubscription(value) => condition(value),
        _ => return,
    };
    if !place.is_catch_event() {
        return;
    }
    match record.intent {
        Intent::Created | Intent::Migrated => place.wait(record.key, wait_type, details, batch),
        Intent::Triggered | Intent::Canceled | Intent::Correlated | Intent::Deleted => {
            place.end(record.key, batch);
        }
        _ => {}
    }
}

fn job(record: &Record, value: &JobRecord, batch: &mut Batch) {
    let place = Place {
        element: Some(value.element_instance_key),
        element_id: &value.element_id,
        element_type: value.element_type,
        instance: Some(value.instance.process_instance_key),
        root: Some(value.instance.root_process_instance_key),
        process_id: Some(&value.instance.bpmn_process_id),
        tenant_id: &value.tenant_id,
    };
    match record.intent {
        Intent::ErrorThrown if value.is_uncaught => {}
        Intent::Completed | Intent::Canceled | Intent::ErrorThrown => return place.end(record.key, batch),
        Intent::Created | Intent::Failed | Intent::RetriesUpdated | Intent::Updated | Intent::Migrated => {}
        _ => return,
    }
    let listener = value.job_listener_event_type.as_str();
    let details = json!({
        "jobKey": record.key.to_string(), "jobType": value.job_type.as_str(),
        "jobKind": value.job_kind.as_str(), "retries": value.retries,
        "listenerEventType": (listener != "UNSPECIFIED").then_some(listener),
    });
    place.wait(record.key, "JOB", details, batch);
}

fn user_task(record: &Record, value: &UserTaskRecord, batch: &mut Batch) {
    let place = Place {
        element: Some(value.element_instance_key),
        element_id: &value.element_id,
        element_type: Some(Word::new("USER_TASK")),
        instance: Some(value.process_instance_key),
        root: Some(value.root_process_instance_key),
        process_id: Some(&value.bpmn_process_id),
        tenant_id: &value.tenant_id,
    };
    match record.intent {
        Intent::Completed | Intent::Canceled => place.end(record.key, batch),
        // Others show what may be denied yet.
        Intent::Created | Intent::Assigned | Intent::Updated | Intent::Migrated => {
            let details = json!({"taskKey": record.key.to_string(), "dueDate": moment(&value.due_date)});
            place.wait(record.key, "USER_TASK", details, batch);
        }
        _ => {}
    }
}

/// A date of a user task as the API tells moments.
fn moment(text: &Name) -> Option<String> {
    let Value::Integer(time_ms) = date(text) else { return None };
    let time = jiff::Timestamp::from_millisecond(time_ms).ok()?;
    Some(format!("{time:.3}"))
}

fn timer(value: &TimerRecord) -> (Place<'_>, &'static str, Json) {
    let place = Place {
        element: value.element_instance_key,
        element_id: &value.target_element_id,
        element_type: value.element_type,
        instance: value.process_instance_key,
        root: value.root_process_instance_key,
        process_id: value.bpmn_process_id.as_ref(),
        tenant_id: &value.tenant_id,
    };
    (place, "TIMER", json!({"dueDate": value.due_date_ms, "repetitions": value.repetitions}))
}

fn message(value: &MessageSubscriptionRecord) -> (Place<'_>, &'static str, Json) {
    let place = Place {
        element: Some(value.element_instance_key),
        element_id: value.element_id.as_ref().unwrap_or(&value.bpmn_process_id),
        element_type: value.element_type,
        instance: Some(value.process_instance_key),
        root: value.root_process_instance_key,
        process_id: Some(&value.bpmn_process_id),
        tenant_id: &value.tenant_id,
    };
    let correlation_key = Some(value.correlation_key.as_str()).filter(|key| !key.is_empty());
    let details = json!({"messageName": value.message_name.as_str(), "correlationKey": correlation_key});
    (place, "MESSAGE", details)
}

fn signal(value: &SignalSubscriptionRecord) -> (Place<'_>, &'static str, Json) {
    let place = Place {
        element: value.catch_event_instance_key,
        element_id: &value.catch_event_id,
        element_type: value.element_type,
        instance: value.process_instance_key,
        root: value.root_process_instance_key,
        process_id: Some(&value.bpmn_process_id),
        tenant_id: &value.tenant_id,
    };
    (place, "SIGNAL", json!({"signalName": value.signal_name.as_str()}))
}

fn condition(value: &ConditionalSubscriptionRecord) -> (Place<'_>, &'static str, Json) {
    let place = Place {
        element: value.element_instance_key,
        element_id: &value.catch_event_id,
        element_type: value.element_type,
        instance: value.process_instance_key,
        root: value.root_process_instance_key,
        process_id: Some(&value.bpmn_process_id),
        tenant_id: &value.tenant_id,
    };
    // A condition that names no events is looked at with both.
    let events = match &value.variable_events[..] {
        [] => vec!["create", "update"],
        events => events.iter().map(Name::as_str).collect(),
    };
    (place, "CONDITION", json!({"expression": value.condition.as_str(), "events": events}))
}
