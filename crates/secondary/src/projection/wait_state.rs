//! Jobs, messages, timers, signals, conditions and people that active element instances wait for. A row is there as
//! long as something is waited for. Boundary events, event sub-processes and event-based gateways have none.

use protocol::{
    ConditionalSubscriptionIntent, ConditionalSubscriptionRecord, JobIntent, JobRecord, Key,
    MessageSubscriptionIntent, MessageSubscriptionRecord, Name, Record, RecordValue,
    SignalSubscriptionIntent, SignalSubscriptionRecord, TimerIntent, TimerRecord, UserTaskIntent,
    UserTaskRecord, Word,
};
use search::Value;
use search::model::wait_state as wait;
use serde::Serialize;

use super::agent::text;
use super::user_task::date;
use crate::change::{Batch, RowId};
use crate::words::{local, word};

/// Details of something that is waited for, as the API shows them.
#[derive(Serialize)]
#[serde(tag = "waitStateType", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
enum Details<'a> {
    Job {
        job_key: String,
        job_type: &'a str,
        job_kind: &'a str,
        retries: i32,
        listener_event_type: Option<&'a str>,
    },
    UserTask {
        task_key: String,
        due_date: Option<String>,
    },
    Timer {
        due_date: i64,
        repetitions: i64,
    },
    Message {
        message_name: &'a str,
        correlation_key: Option<&'a str>,
    },
    Signal {
        signal_name: &'a str,
    },
    Condition {
        expression: &'a str,
        events: Vec<&'a str>,
    },
}

impl Details<'_> {
    const fn wait_type(&self) -> &'static str {
        match self {
            Self::Job { .. } => "JOB",
            Self::UserTask { .. } => "USER_TASK",
            Self::Timer { .. } => "TIMER",
            Self::Message { .. } => "MESSAGE",
            Self::Signal { .. } => "SIGNAL",
            Self::Condition { .. } => "CONDITION",
        }
    }
}

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
    fn wait(&self, key: Key, details: &Details<'_>, batch: &mut Batch) {
        let (Some(element), Some(element_type), Some(process_id)) =
            (self.element, self.element_type, self.process_id)
        else {
            return;
        };
        batch
            .insert(&wait::ENTITY, id(element, key))
            .set(wait::ROOT_INSTANCE_KEY, self.root)
            .set(wait::INSTANCE_KEY, self.instance)
            .set(wait::ELEMENT_KEY, element)
            .set(wait::ELEMENT_ID, local(self.element_id))
            .set(wait::ELEMENT_TYPE, word(element_type.as_str()))
            .set(wait::TENANT, local(self.tenant_id))
            .set(wait::PROCESS_ID, local(process_id))
            .set(wait::DETAILS, text(serde_json::to_string(details)))
            .set(wait::TYPE, word(details.wait_type()));
    }

    fn end(&self, key: Key, batch: &mut Batch) {
        if let Some(element) = self.element {
            batch.delete(&wait::ENTITY, id(element, key));
        }
    }
}

/// An event that is waited for, or was until now.
struct Waiting<'a> {
    place: Place<'a>,
    details: Details<'a>,
    has_ended: bool,
}

fn id(element: Key, key: Key) -> RowId {
    RowId::Text(Name::from(format!("{element}_{key}")))
}

pub(super) fn apply(record: &Record, batch: &mut Batch) {
    let waiting = match &record.value {
        RecordValue::Job(value) => return job(record, value, batch),
        RecordValue::UserTask(value) => return user_task(record, value, batch),
        RecordValue::Timer(value) => TimerIntent::of(record.intent).map(|intent| timer(value, intent)),
        RecordValue::ProcessMessageSubscription(value) => {
            MessageSubscriptionIntent::of(record.intent).map(|intent| message(value, intent))
        }
        RecordValue::SignalSubscription(value) => {
            SignalSubscriptionIntent::of(record.intent).map(|intent| signal(value, intent))
        }
        RecordValue::ConditionalSubscription(value) => {
            ConditionalSubscriptionIntent::of(record.intent).map(|intent| condition(value, intent))
        }
        // No element waits for them.
        #[rustfmt::skip]
        RecordValue::Deployment(_) | RecordValue::ProcessInstance(_) | RecordValue::Incident(_)
        | RecordValue::Message(_) | RecordValue::MessageSubscription(_)
        | RecordValue::MessageStartEventSubscription(_) | RecordValue::Variable(_)
        | RecordValue::ProcessInstanceCreation(_) | RecordValue::Error(_) | RecordValue::Process(_)
        | RecordValue::ResourceDeletion(_) | RecordValue::CompensationSubscription(_)
        | RecordValue::Signal(_) | RecordValue::Escalation(_) | RecordValue::ConditionalEvaluation(_)
        | RecordValue::ProcessInstanceMigration(_) | RecordValue::ProcessInstanceModification(_)
        | RecordValue::RuntimeInstruction(_) | RecordValue::DecisionRequirements(_)
        | RecordValue::Decision(_) | RecordValue::Form(_) | RecordValue::ClusterVariable(_)
        | RecordValue::Resource(_) | RecordValue::DecisionEvaluation(_)
        | RecordValue::BatchOperationCreation(_) | RecordValue::BatchOperationChunk(_)
        | RecordValue::BatchOperationExecution(_) | RecordValue::BatchOperationInitialization(_)
        | RecordValue::BatchOperationLifecycleManagement(_)
        | RecordValue::BatchOperationPartitionLifecycle(_) | RecordValue::HistoryDeletion(_)
        | RecordValue::ProcessInstanceBatch(_) | RecordValue::MultiInstance(_)
        | RecordValue::AdHocSubProcessInstruction(_) | RecordValue::GlobalListener(_)
        | RecordValue::VariableDocument(_) | RecordValue::Clock(_) | RecordValue::User(_)
        | RecordValue::Group(_) | RecordValue::Role(_) | RecordValue::Tenant(_) | RecordValue::MappingRule(_)
        | RecordValue::Authorization(_) | RecordValue::AgentDefinition(_) | RecordValue::AgentInstance(_)
        | RecordValue::AgentHistory(_) | RecordValue::Purge(_) => return,
    };
    match waiting.filter(|waiting| waiting.place.is_catch_event()) {
        Some(Waiting { place, details, has_ended: false }) => place.wait(record.key, &details, batch),
        Some(Waiting { place, has_ended: true, .. }) => place.end(record.key, batch),
        None => {}
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
    let Some(intent) = JobIntent::of(record.intent) else { return };
    match intent {
        JobIntent::ErrorThrown if value.is_uncaught => {}
        JobIntent::Completed | JobIntent::Canceled | JobIntent::ErrorThrown => {
            return place.end(record.key, batch);
        }
        JobIntent::Created
        | JobIntent::Failed
        | JobIntent::RetriesUpdated
        | JobIntent::Updated
        | JobIntent::Migrated => {}
        // They change nothing that is shown.
        JobIntent::Activated
        | JobIntent::TimedOut
        | JobIntent::Yielded
        | JobIntent::RecurredAfterBackoff
        | JobIntent::TimeoutUpdated
        | JobIntent::PriorityUpdated => return,
    }
    let listener = value.job_listener_event_type.as_str();
    let details = Details::Job {
        job_key: record.key.to_string(),
        job_type: value.job_type.as_str(),
        job_kind: value.job_kind.as_str(),
        retries: value.retries,
        listener_event_type: (listener != "UNSPECIFIED").then_some(listener),
    };
    place.wait(record.key, &details, batch);
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
    let Some(intent) = UserTaskIntent::of(record.intent) else { return };
    match intent {
        UserTaskIntent::Completed | UserTaskIntent::Canceled => place.end(record.key, batch),
        UserTaskIntent::Created
        | UserTaskIntent::Assigned
        | UserTaskIntent::Updated
        | UserTaskIntent::Migrated => {
            let details =
                Details::UserTask { task_key: record.key.to_string(), due_date: moment(&value.due_date) };
            place.wait(record.key, &details, batch);
        }
        // They show what may be denied yet, or what was.
        UserTaskIntent::Creating
        | UserTaskIntent::Assigning
        | UserTaskIntent::Claiming
        | UserTaskIntent::AssignmentDenied
        | UserTaskIntent::Updating
        | UserTaskIntent::UpdateDenied
        | UserTaskIntent::Completing
        | UserTaskIntent::CompletionDenied
        | UserTaskIntent::Canceling
        | UserTaskIntent::Corrected => {}
    }
}

/// A date of a user task as the API tells moments.
fn moment(text: &Name) -> Option<String> {
    let Value::Integer(time_ms) = date(text) else { return None };
    let time = jiff::Timestamp::from_millisecond(time_ms).ok()?;
    Some(format!("{time:.3}"))
}

fn timer(value: &TimerRecord, intent: TimerIntent) -> Waiting<'_> {
    let has_ended = match intent {
        TimerIntent::Created | TimerIntent::Migrated => false,
        TimerIntent::Triggered | TimerIntent::Canceled => true,
    };
    let place = Place {
        element: value.element_instance_key,
        element_id: &value.target_element_id,
        element_type: value.element_type,
        instance: value.process_instance_key,
        root: value.root_process_instance_key,
        process_id: value.bpmn_process_id.as_ref(),
        tenant_id: &value.tenant_id,
    };
    let details = Details::Timer { due_date: value.due_date_ms, repetitions: value.repetitions };
    Waiting { place, details, has_ended }
}

fn message(value: &MessageSubscriptionRecord, intent: MessageSubscriptionIntent) -> Waiting<'_> {
    let has_ended = match intent {
        MessageSubscriptionIntent::Created | MessageSubscriptionIntent::Migrated => false,
        MessageSubscriptionIntent::Correlated | MessageSubscriptionIntent::Deleted => true,
    };
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
    let details = Details::Message { message_name: value.message_name.as_str(), correlation_key };
    Waiting { place, details, has_ended }
}

fn signal(value: &SignalSubscriptionRecord, intent: SignalSubscriptionIntent) -> Waiting<'_> {
    let has_ended = match intent {
        SignalSubscriptionIntent::Created | SignalSubscriptionIntent::Migrated => false,
        SignalSubscriptionIntent::Deleted => true,
    };
    let place = Place {
        element: value.catch_event_instance_key,
        element_id: &value.catch_event_id,
        element_type: value.element_type,
        instance: value.process_instance_key,
        root: value.root_process_instance_key,
        process_id: Some(&value.bpmn_process_id),
        tenant_id: &value.tenant_id,
    };
    let details = Details::Signal { signal_name: value.signal_name.as_str() };
    Waiting { place, details, has_ended }
}

fn condition(value: &ConditionalSubscriptionRecord, intent: ConditionalSubscriptionIntent) -> Waiting<'_> {
    let has_ended = match intent {
        ConditionalSubscriptionIntent::Created | ConditionalSubscriptionIntent::Migrated => false,
        ConditionalSubscriptionIntent::Triggered | ConditionalSubscriptionIntent::Deleted => true,
    };
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
    let details = Details::Condition { expression: value.condition.as_str(), events };
    Waiting { place, details, has_ended }
}
