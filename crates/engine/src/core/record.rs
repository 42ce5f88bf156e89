//! Making records. Each takes a position whether or not anybody wants to see it.

use std::cell::RefCell;
use std::convert::Infallible;

use bpmn::graph::ElementIndex;
use protocol::{
    ActivateElement, AdHocSubProcessInstructionRecord, CompensationSubscriptionRecord, ErrorRecord, Intent,
    Key, MessageStartSubscriptionRecord, MessageSubscriptionRecord, MultiInstanceRecord, Name,
    ProcessInstanceBatchRecord, ProcessInstanceRecord, Record, RecordValue, TimerRecord, VariableRecord,
};
use protocol::{Document, IncidentRecord, JobRecord, JobResult, Json, MessageRecord};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::counters::ElementAction;
use crate::entity::{Compensation, Incident, Instance, Job, Message, StartSubscription, Subscription, Timer};

/// Fields of a job's record beyond the job itself.
pub(crate) struct JobNews<'a> {
    /// Variables that were sent or are handed out.
    pub variables: Option<&'a Document>,
    pub error_code: &'a str,
    /// For how long a worker has it, or -1.
    pub timeout_ms: i64,
    /// A worker's result.
    pub result: Option<&'a JobResult>,
    /// Names of the attributes that were changed from outside.
    pub changed: &'a [&'static str],
    /// Whether people do its work now.
    pub is_handed_over: bool,
}

impl Default for JobNews<'_> {
    fn default() -> Self {
        Self {
            variables: None,
            error_code: "",
            timeout_ms: -1,
            result: None,
            changed: &[],
            is_handed_over: false,
        }
    }
}

/// About how many bytes a record has beside what users made large.
pub(crate) const RECORD_BYTES: u64 = 512;
/// Fixed texts that are kept.
const MAX_TEXTS: usize = 64;

impl CommandContext<'_> {
    /// Emits a record; its value is made only if somebody wants it.
    pub fn emit<V: Into<RecordValue>>(
        &mut self,
        key: Key,
        intent: Intent,
        value: impl FnOnce(&mut Self) -> V,
    ) {
        let Ok(()) = self.try_emit(key, intent, |work| Ok::<V, Infallible>(value(work)));
    }

    /// Emits a record whose value is made of what is read for it.
    pub fn try_emit<V: Into<RecordValue>, E>(
        &mut self,
        key: Key,
        intent: Intent,
        value: impl FnOnce(&mut Self) -> Result<V, E>,
    ) -> Result<(), E> {
        self.meta.position += 1;
        self.meter.note_record(RECORD_BYTES);
        if !self.options.records {
            return Ok(());
        }
        let value: RecordValue = value(self)?.into();
        let asked = self.asked.as_ref().filter(|asked| asked.subjects.contains(&value.value_type()));
        let actor = asked.map(|asked| asked.actor.clone());
        debug_assert!(
            self.effects.records.last().is_none_or(|last| last.position < self.meta.position),
            "positions of records grow"
        );
        self.effects.records.push(Record {
            position: self.meta.position,
            source_position: self.command_position,
            key,
            timestamp_ms: self.meta.now_ms,
            partition_id: self.options.partition_id,
            intent,
            operation_reference: self.operation_reference,
            batch_operation_reference: self.batch_operation_reference,
            value,
            actor,
        });
        Ok(())
    }

    /// The ID of an element, empty if its definition is gone.
    pub fn element_id(&mut self, definition_key: Key, element: ElementIndex) -> Result<Name, StateError> {
        let process = self.definitions.find_process(self.tables, definition_key)?;
        Ok(process.map(|process| Name::from(&process.element(element).id)).unwrap_or_default())
    }

    /// A step in the life of an element instance.
    pub fn record_element(&mut self, at: &ActiveElement, intent: Intent) {
        let element_type = at.element().element_type;
        match intent {
            Intent::ElementActivated => self.counters.count_element(element_type, ElementAction::Activated),
            Intent::ElementCompleted => self.counters.count_element(element_type, ElementAction::Completed),
            Intent::ElementTerminated => self.counters.count_element(element_type, ElementAction::Terminated),
            _ => {}
        }
        self.emit(at.key, intent, |_| {
            let element = at.element();
            let scope = (at.scope_key != 0).then_some(at.scope_key);
            process_instance(
                &at.instance,
                at.process_instance_key,
                &element.id,
                scope,
                element.element_type.as_str(),
                element.event_type.as_str(),
            )
        });
    }

    /// A sequence flow was taken.
    pub fn record_flow(&mut self, at: &ActiveElement, flow: bpmn::graph::FlowIndex) {
        let key = self.next_key();
        self.emit(key, Intent::SequenceFlowTaken, |_| {
            let id = &at.process.flow(flow).id;
            let scope = Some(at.scope_key);
            process_instance(&at.instance, at.process_instance_key, id, scope, "SEQUENCE_FLOW", "UNSPECIFIED")
        });
    }

    pub fn record_variable(
        &mut self,
        key: Key,
        intent: Intent,
        scope_key: Key,
        at: &VariableOwner,
        name: &Name,
        value: &Json,
    ) -> Result<(), StateError> {
        self.meter.note_record(value.as_bytes().len() as u64);
        self.try_emit(key, intent, |work| {
            let instance = work.instance(at.process_instance_key)?.map(|(instance, _)| instance);
            Ok(VariableRecord {
                name: name.clone(),
                value: value.clone(),
                scope_key,
                process_instance_key: at.process_instance_key,
                process_definition_key: instance.as_ref().map_or(0, |instance| instance.definition_key),
                bpmn_process_id: instance
                    .as_ref()
                    .map(|instance| instance.process_id.clone())
                    .unwrap_or_default(),
                tenant_id: instance.as_ref().map(|instance| instance.tenant_id.clone()).unwrap_or_default(),
                root_process_instance_key: instance.as_ref().map_or(at.process_instance_key, |i| i.root_key),
            })
        })
    }

    pub fn record_job(
        &mut self,
        key: Key,
        intent: Intent,
        job: &Job,
        variables: &Document,
        error_code: &str,
        timeout_ms: i64,
    ) -> Result<(), StateError> {
        let news = JobNews { variables: Some(variables), error_code, timeout_ms, ..JobNews::default() };
        self.record_job_news(key, intent, job, &news)
    }

    pub fn record_job_news(
        &mut self,
        key: Key,
        intent: Intent,
        job: &Job,
        news: &JobNews,
    ) -> Result<(), StateError> {
        self.meter.note_record(news.variables.map_or(0, |variables| variables.json_len() as u64));
        self.try_emit(key, intent, |work| {
            let found = work.instance(job.process_instance_key)?;
            let (element_id, headers) =
                found.as_ref().map_or((Name::default(), text("{}")), |(_, process)| {
                    let element = process.element(job.element);
                    (Name::from(&element.id), Name::from(crate::job::headers(element, job)))
                });
            let instance = found.map(|(instance, _)| instance);
            Ok(JobRecord {
                job_type: job.job_type.clone(),
                worker: job.worker.clone(),
                retries: job.retries,
                deadline_ms: if job.state == crate::entity::JobState::Activated { job.due_ms } else { -1 },
                timeout_ms: news.timeout_ms,
                custom_headers: headers,
                variables: news.variables.cloned().unwrap_or_default(),
                retry_backoff_ms: job.retry_backoff_ms,
                recurring_time_ms: if job.state == crate::entity::JobState::Backoff {
                    job.due_ms
                } else {
                    -1
                },
                error_message: job.error_message.clone(),
                error_code: Name::from(news.error_code),
                element_id,
                element_instance_key: job.element_instance_key,
                process_instance_key: job.process_instance_key,
                bpmn_process_id: instance.as_ref().map(|i| i.process_id.clone()).unwrap_or_default(),
                process_definition_version: instance.as_ref().map_or(0, |i| i.version),
                process_definition_key: instance.as_ref().map_or(0, |i| i.definition_key),
                tenant_id: job.tenant_id.clone(),
                job_kind: text(job.kind.as_str()),
                job_listener_event_type: text(job.listener_event_type.as_str()),
                root_process_instance_key: instance.as_ref().map_or(job.process_instance_key, |i| i.root_key),
                tags: instance.as_ref().map(|i| i.tags.clone()).unwrap_or_default(),
                changed_attributes: news.changed.iter().copied().map(Name::from).collect(),
                result: news.result.cloned().map(Box::new),
                is_job_to_user_task_migration: news.is_handed_over,
            })
        })
    }

    pub fn record_incident(
        &mut self,
        key: Key,
        intent: Intent,
        incident: &Incident,
    ) -> Result<(), StateError> {
        self.try_emit(key, intent, |work| {
            let row = work.tables.element_instances.get(&incident.element_instance_key)?;
            let found = work.instance(incident.process_instance_key)?;
            let element_id = match (&found, row) {
                (Some((_, process)), Some(row)) => Name::from(&process.element(row.element).id),
                _ => Name::default(),
            };
            let instance = found.map(|(instance, _)| instance);
            let path = work.call_path(incident.process_instance_key, incident.element_instance_key)?;
            Ok(IncidentRecord {
                element_instance_path: path.element_instances,
                process_definition_path: path.definitions,
                calling_element_path: path.calling_elements,
                error_type: text(incident.error_type.as_str()),
                error_message: incident.error_message.clone(),
                bpmn_process_id: instance.as_ref().map(|i| i.process_id.clone()).unwrap_or_default(),
                process_definition_key: instance.as_ref().map_or(0, |i| i.definition_key),
                process_instance_key: incident.process_instance_key,
                element_id,
                element_instance_key: incident.element_instance_key,
                job_key: incident.job_key,
                variable_scope_key: incident.element_instance_key,
                tenant_id: instance.as_ref().map(|i| i.tenant_id.clone()).unwrap_or_default(),
                root_process_instance_key: instance
                    .as_ref()
                    .map_or(incident.process_instance_key, |i| i.root_key),
            })
        })
    }

    pub fn record_timer(&mut self, key: Key, intent: Intent, timer: &Timer) -> Result<(), StateError> {
        self.try_emit(key, intent, |work| {
            Ok(TimerRecord {
                element_instance_key: timer.element_instance_key,
                process_instance_key: timer.process_instance_key,
                process_definition_key: timer.definition_key,
                due_date_ms: timer.due_ms,
                target_element_id: work.element_id(timer.definition_key, timer.element)?,
                repetitions: timer.repetitions,
                tenant_id: timer.tenant_id.clone(),
            })
        })
    }

    pub fn record_message(&mut self, key: Key, intent: Intent, message: &Message) {
        self.meter.note_record(message.variables.json_len() as u64);
        self.emit(key, intent, |_| MessageRecord {
            name: message.name.clone(),
            correlation_key: message.correlation_key.clone(),
            message_id: message.message_id.clone(),
            time_to_live_ms: message.time_to_live_ms,
            deadline_ms: message.deadline_ms,
            variables: message.variables.clone(),
            tenant_id: message.tenant_id.clone(),
        });
    }

    /// A subscription as the message sees it and as the instance sees it: two records.
    pub fn record_subscription(
        &mut self,
        key: Key,
        intent: Intent,
        subscription: &Subscription,
        message: Option<(Key, &Document)>,
    ) -> Result<(), StateError> {
        let record = |element_id| MessageSubscriptionRecord {
            process_instance_key: subscription.process_instance_key,
            element_instance_key: subscription.element_instance_key,
            message_key: message.map(|(key, _)| key),
            message_name: subscription.message_name.clone(),
            correlation_key: subscription.correlation_key.clone(),
            bpmn_process_id: subscription.process_id.clone(),
            interrupting: subscription.interrupting,
            variables: message.map(|(_, variables)| variables.clone()).unwrap_or_default(),
            tenant_id: subscription.tenant_id.clone(),
            element_id,
            process_definition_key: subscription.definition_key,
        };
        self.emit(key, intent, |_| record(None));
        self.try_emit(key, intent, |work| {
            Ok(record(Some(work.element_id(subscription.definition_key, subscription.element)?)))
        })
    }

    pub fn record_start_subscription(
        &mut self,
        intent: Intent,
        subscription: &StartSubscription,
        tenant_id: &Name,
        process_id: &Name,
        message_name: &Name,
        started: Option<(Key, Key, &Message)>,
    ) -> Result<(), StateError> {
        self.try_emit(subscription.key, intent, |work| {
            Ok(MessageStartSubscriptionRecord {
                process_definition_key: subscription.definition_key,
                bpmn_process_id: process_id.clone(),
                start_event_id: work.element_id(subscription.definition_key, subscription.element)?,
                message_name: message_name.clone(),
                process_instance_key: started.map(|(instance_key, _, _)| instance_key),
                message_key: started.map(|(_, message_key, _)| message_key),
                correlation_key: started.map(|(_, _, m)| m.correlation_key.clone()).unwrap_or_default(),
                variables: started.map(|(_, _, m)| m.variables.clone()).unwrap_or_default(),
                tenant_id: tenant_id.clone(),
            })
        })
    }

    /// A completed activity that can be compensated.
    pub fn record_compensation(
        &mut self,
        key: Key,
        intent: Intent,
        scope_key: Key,
        row: &Compensation,
    ) -> Result<(), StateError> {
        self.try_emit(key, intent, |work| {
            let process = work.definitions.find_process(work.tables, row.definition_key)?;
            let id = |element: Option<u32>| {
                let id = process.as_ref().zip(element).map(|(process, element)| &process.element(element).id);
                id.map(Name::from).unwrap_or_default()
            };
            let thrower = match row.thrower_key {
                Some(key) => work.tables.element_instances.get(&key)?,
                None => None,
            };
            Ok(CompensationSubscriptionRecord {
                tenant_id: row.tenant_id.clone(),
                process_instance_key: row.process_instance_key,
                process_definition_key: row.definition_key,
                compensable_activity_id: id(Some(row.activity)),
                throw_event_id: id(thrower.map(|thrower| thrower.element)),
                throw_event_instance_key: row.thrower_key,
                compensation_handler_id: id(row.handler),
                compensation_handler_instance_key: row.handler_instance_key,
                compensable_activity_scope_key: scope_key,
                compensable_activity_instance_key: row.activity_instance_key,
                variables: row.variables.clone(),
            })
        })
    }

    /// A slice of the children of a scope is activated or terminated.
    pub fn record_batch(
        &mut self,
        scope_key: Key,
        process_instance_key: Key,
        intent: Intent,
        index: u64,
    ) -> Result<(), StateError> {
        let key = self.next_key();
        self.try_emit(key, intent, |work| {
            let instance = work.instance(process_instance_key)?;
            Ok(ProcessInstanceBatchRecord {
                process_instance_key,
                batch_element_instance_key: scope_key,
                index,
                tenant_id: instance.map(|(instance, _)| instance.tenant_id.clone()).unwrap_or_default(),
            })
        })
    }

    /// The collection of a multi-instance body is known.
    pub fn record_collection(&mut self, at: &ActiveElement, collection: &feel::List) {
        let key = self.next_key();
        self.emit(key, Intent::InputCollectionEvaluated, |work| MultiInstanceRecord {
            process_instance_key: at.process_instance_key,
            process_definition_key: at.instance.definition_key,
            bpmn_process_id: at.instance.process_id.clone(),
            element_id: Name::from(&at.element().id),
            element_instance_key: at.key,
            input_collection: work.to_json(&feel::Value::List(collection.clone())),
            tenant_id: at.instance.tenant_id.clone(),
        });
    }

    /// Something is to be done inside an ad-hoc sub-process.
    pub fn record_instruction(
        &mut self,
        at: &ActiveElement,
        intent: Intent,
        elements: &[ActivateElement],
        cancel_remaining: bool,
    ) {
        self.emit(at.key, intent, |_| AdHocSubProcessInstructionRecord {
            ad_hoc_sub_process_instance_key: at.key,
            activate_elements: elements.to_vec(),
            cancel_remaining_instances: cancel_remaining,
            completion_condition_fulfilled: intent == Intent::Completed,
            tenant_id: at.instance.tenant_id.clone(),
        });
    }

    /// The engine failed on an instance.
    pub fn record_error(&mut self, process_instance_key: Key, reason: &str) {
        let key = self.next_key();
        self.emit(key, Intent::Created, |work| ErrorRecord {
            exception_message: Name::from(reason),
            stacktrace: Name::default(),
            error_event_position: work.command_position,
            process_instance_key,
        });
    }
}

thread_local! {
    /// Fixed texts of records, so that not every record has a copy.
    static TEXTS: RefCell<Vec<(&'static str, Name)>> = const { RefCell::new(Vec::new()) };
}

/// A fixed text as a name. There are few, so a list is searched; the same constant is told by its address.
fn text(constant: &'static str) -> Name {
    TEXTS.with_borrow_mut(|texts| {
        if let Some((_, name)) = texts.iter().find(|(known, _)| std::ptr::eq(*known, constant)) {
            return name.clone();
        }
        let name = Name::from(constant);
        // One constant may have several addresses, but never many.
        if texts.len() < MAX_TEXTS {
            texts.push((constant, name.clone()));
        }
        name
    })
}

/// Scope of the variable.
pub(crate) struct VariableOwner {
    pub process_instance_key: Key,
}

fn process_instance(
    instance: &Instance,
    process_instance_key: Key,
    element_id: &std::sync::Arc<str>,
    flow_scope_key: Option<Key>,
    element_type: &'static str,
    event_type: &'static str,
) -> ProcessInstanceRecord {
    ProcessInstanceRecord {
        bpmn_process_id: instance.process_id.clone(),
        version: instance.version,
        process_definition_key: instance.definition_key,
        process_instance_key,
        element_id: Name::from(element_id),
        flow_scope_key,
        bpmn_element_type: text(element_type),
        bpmn_event_type: text(event_type),
        parent_process_instance_key: instance.parent.map(|parent| parent.process_instance_key),
        parent_element_instance_key: instance.parent.map(|parent| parent.element_instance_key),
        root_process_instance_key: instance.root_key,
        tenant_id: instance.tenant_id.clone(),
        tags: instance.tags.clone(),
        business_id: instance.business_id.clone(),
    }
}

#[cfg(test)]
mod tests {
    use protocol::{
        Batch, Command, CreateInstance, DefinitionRef, Deploy, ENGINE_VERSION, Name, Resource, UpdateJob,
    };

    use crate::core::failure::ApplyError;
    use crate::{Effects, Engine, Options};

    const MODEL: &str = r#"
        <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
          <process id="p" isExecutable="true">
            <startEvent id="s"/>
            <sequenceFlow id="f" sourceRef="s" targetRef="t"/>
            <serviceTask id="t">
              <extensionElements><zeebe:taskDefinition type="t"/></extensionElements>
            </serviceTask>
          </process>
        </definitions>"#;

    fn apply(engine: &mut Engine, command: Command) -> Result<Effects, ApplyError> {
        let commands = vec![command];
        let batch = Batch { engine_version: ENGINE_VERSION, timestamp_ms: 1, commands, demand: Vec::new() };
        let mut effects = Effects::default();
        engine.apply(&batch, &mut effects).map(|()| effects)
    }

    #[test]
    fn a_record_of_what_cannot_be_read_is_an_error() {
        let store = state::Store::in_memory(state::Options::default()).unwrap();
        let options = Options { records: true, ..Options::default() };
        let mut engine = Engine::open(&store, options.clone()).unwrap();
        let file = Resource { name: "p.bpmn".into(), content: MODEL.into() };
        let deploy = Deploy { resources: vec![file], tenant_id: Name::default_tenant() };
        apply(&mut engine, Command::Deploy(deploy)).unwrap();
        let definition = DefinitionRef::Id { id: "p".into(), version: None };
        apply(&mut engine, Command::CreateInstance(CreateInstance::of(definition))).unwrap();
        let (job_key, _) = engine.tables.jobs.first(..).unwrap().unwrap();
        let update = |retries| {
            let retries = Some(retries);
            Command::UpdateJob(UpdateJob { job_key, retries, timeout_ms: None, operation_reference: None })
        };
        assert_eq!(apply(&mut engine, update(2)).unwrap().records.len(), 1);

        let (definition_key, _) = engine.tables.definitions.first(..).unwrap().unwrap();
        engine.tables.begin();
        engine.tables.definitions.delete(&definition_key);
        engine.tables.commit();
        engine.definitions.forget(definition_key);
        let error = apply(&mut engine, update(3)).expect_err("the instance has no model");
        assert!(error.to_string().contains("is referenced, but not there"), "{error}");
    }
}
