//! Transcripts: records and responses as short lines of text. Keys are shown as names of their rows.

use std::collections::HashMap;
use std::fmt::Write as _;

use engine::{Effects, Outcome};
use protocol::{
    ActivatedJob, CompensationSubscriptionRecord, DEFAULT_TENANT, DecisionEvaluationRecord,
    DeploymentCreated, Intent, JobKind, Key, Name, ProcessInstanceRecord, Record, RecordValue, Response,
    TimerRecord, UserTaskRecord,
};

use super::harness::START_MS;
use super::{cluster_variable, identity};

/// Kinds of line, for the `show` command of a script.
pub const KINDS: &[&str] = &[
    "elements",
    "flows",
    "jobs",
    "variables",
    "incidents",
    "timers",
    "messages",
    "subscriptions",
    "definitions",
    "decisions",
    "escalations",
    "errors",
    "batches",
    "slices",
    "tasks",
    "documents",
    "identity",
    "clock",
];

/// Turns records and answers into text and remembers whose key is whose.
#[derive(Default)]
pub struct Transcript {
    pub text: String,
    pub hidden: Vec<&'static str>,
    /// Element instance to element ID.
    elements: HashMap<Key, String>,
    /// Process instances in the order of their start.
    pub instances: Vec<Key>,
    /// Element ID to jobs, in the order of their creation.
    pub jobs: HashMap<String, Vec<Key>>,
    /// Element ID to user tasks, in the order of their creation.
    pub user_tasks: HashMap<String, Vec<Key>>,
    /// Element ID to incident, the last one.
    pub incidents: HashMap<String, Key>,
    /// Element ID to instances, in the order of their activation.
    pub element_instances: HashMap<String, Vec<Key>>,
    /// Process ID and version to definition.
    pub definitions: HashMap<(String, u32), Key>,
    /// Batch operations in the order of their creation.
    pub batches: Vec<Key>,
    /// Authorizations in the order of their creation.
    pub authorizations: Vec<Key>,
    /// The element instance that the last line is about, to go on with the same line.
    line_of: Option<Key>,
}

impl Transcript {
    pub fn hiding(kinds: &[&'static str]) -> Self {
        Self { hidden: kinds.to_vec(), ..Self::default() }
    }

    /// The text of a line of the script.
    pub fn command(&mut self, line: &str) {
        self.line_of = None;
        let _ = writeln!(self.text, "> {line}");
    }

    pub fn line(&mut self, text: &str) {
        self.line_of = None;
        let _ = writeln!(self.text, "  {text}");
    }

    pub fn answer(&mut self, outcome: Option<&Outcome>) {
        match outcome {
            None | Some(Ok(Response::Done | Response::Pending | Response::VariablesSet { .. })) => {}
            Some(Ok(response)) => {
                let text = match response {
                    Response::Deployed(deployed) => {
                        format!("= deployed{}", deployed_names(deployed))
                    }
                    Response::InstanceCreated(created) => {
                        format!("= created {} v{}", created.process_id, created.version)
                    }
                    Response::InstanceCompleted { instance, variables } => {
                        format!("= completed {} {}", instance.process_id, variables.to_json())
                    }
                    Response::BatchOperationCreated(created) => {
                        format!("= {} {}", self.batch_name(created.batch_operation_key), created.kind)
                    }
                    Response::ConditionalsEvaluated { instances, .. } => {
                        let names = instances.iter().map(|(_, key)| self.instance_name(*key));
                        format!("= started [{}]", names.collect::<Vec<_>>().join(" "))
                    }
                    Response::MessageCorrelated { process_instance_key, .. } => {
                        format!("= correlated to {}", self.instance_name(*process_instance_key))
                    }
                    Response::DecisionEvaluated { evaluation, .. } => {
                        format!("= {}", self.without_keys(&evaluation_line(evaluation)))
                    }
                    Response::GlobalListener(listener) => format!("= listener {}", listener.id),
                    Response::Done
                    | Response::Pending
                    | Response::VariablesSet { .. }
                    | Response::ClusterVariable(_)
                    | Response::User(_)
                    | Response::AuthorizationCreated { .. }
                    | Response::ChangeBegun { .. }
                    | Response::MessagesReceived { .. }
                    | Response::SavedView(_)
                    | Response::MessagePublished { .. }
                    | Response::AgentInstance { .. }
                    | Response::SignalBroadcast { .. } => return,
                };
                self.line(&text);
            }
            Some(Err(rejection)) => {
                let reason = self.without_keys(&rejection.reason);
                self.line(&format!("= rejected {}: {reason}", rejection.kind));
            }
        }
    }

    pub fn effects(&mut self, effects: &Effects) {
        for record in &effects.records {
            self.record(record);
        }
        for (request_id, outcome) in &effects.late_responses {
            self.line(&format!("late answer to request {request_id}:"));
            self.answer(Some(outcome));
        }
        for (key, reason) in &effects.banned {
            let name = if *key == 0 { "nobody".to_owned() } else { self.instance_name(*key) };
            self.line(&format!("banned {name}: {reason}"));
        }
    }

    pub fn activated(&mut self, job: &ActivatedJob) {
        let element = self.element_name(job.element_instance_key, job.process_instance_key);
        let deadline = job.deadline_ms - START_MS;
        let headers = match &*job.custom_headers_json {
            "{}" => String::new(),
            headers => format!(" headers {headers}"),
        };
        let kind = match job.kind {
            JobKind::BpmnElement => String::new(),
            kind => format!(" {} {}", kind.as_str(), job.listener_event_type.as_str()),
        };
        let task = job.user_task.as_ref().map_or(String::new(), |task| {
            let action = if task.action.is_empty() { "-" } else { &task.action };
            let mut changed = String::new();
            for name in &task.changed_attributes {
                let _ = write!(changed, " {name}");
            }
            format!(" task [{action} of '{}', priority {}{changed}]", task.assignee, task.priority)
        });
        self.line(&format!(
            "< job {element}{kind} retries {} deadline {deadline} variables {}{headers}{task}",
            job.retries,
            job.variables.to_json()
        ));
    }

    /// `Bn` of a batch operation, by the order of their creation.
    pub fn batch_name(&self, key: Key) -> String {
        self.batches
            .iter()
            .position(|&known| known == key)
            .map_or("B?".to_owned(), |at| format!("B{}", at + 1))
    }

    /// `#n` of an instance, by the order of their start.
    pub fn instance_name(&self, key: Key) -> String {
        match self.instances.iter().position(|&known| known == key) {
            Some(at) => format!("#{}", at + 1),
            None => "#?".to_owned(),
        }
    }

    fn element_name(&self, key: Key, instance_key: Key) -> String {
        let id = self.elements.get(&key).map_or("?", String::as_str);
        let number = self.instances.iter().position(|&known| known == instance_key).unwrap_or(0);
        if number == 0 { id.to_owned() } else { format!("#{}.{id}", number + 1) }
    }

    /// Keys are numbers of sixteen digits and more.
    fn without_keys(&self, text: &str) -> String {
        let mut out = String::new();
        let mut digits = String::new();
        for c in text.chars().chain(['\0']) {
            if c.is_ascii_digit() {
                digits.push(c);
                continue;
            }
            out.push_str(if digits.len() < 16 { &digits } else { "<key>" });
            digits.clear();
            if c != '\0' {
                out.push(if c == '\n' { '|' } else { c });
            }
        }
        out
    }

    fn record(&mut self, record: &Record) {
        self.migrated(record);
        self.learn(record);
        let intent = record.intent.as_str().to_lowercase().replace("element_", "").replace('_', " ");
        let (kind, text) = match &record.value {
            RecordValue::ProcessInstance(value) => {
                if record.intent == Intent::SequenceFlowTaken {
                    ("flows", format!("-- {}", value.element_id))
                } else {
                    if self.hidden.contains(&"elements") {
                        return;
                    }
                    if self.line_of == Some(record.key) {
                        self.text.pop();
                        let _ = writeln!(self.text, ", {intent}");
                    } else {
                        let name = self.element_name(record.key, value.instance.process_instance_key);
                        self.line(&format!("{name} {intent}"));
                        self.line_of = Some(record.key);
                    }
                    return;
                }
            }
            RecordValue::Job(job) => {
                let name = self.element_name(job.element_instance_key, job.instance.process_instance_key);
                let mut text = format!("job {name} {intent}");
                match record.intent {
                    Intent::Created => {
                        let _ = write!(text, " type {} retries {}", job.job_type, job.retries);
                        if &*job.job_kind != "BPMN_ELEMENT" {
                            let kind = format!(" {} {}", job.job_kind, job.job_listener_event_type);
                            text.push_str(&kind.to_lowercase().replace('_', " "));
                        }
                    }
                    Intent::Failed | Intent::RetriesUpdated | Intent::Updated => {
                        let _ = write!(text, " retries {}", job.retries);
                    }
                    _ => {}
                }
                if job.recurring_time_ms >= 0 {
                    let _ = write!(text, " again at {}", job.recurring_time_ms - START_MS);
                }
                ("jobs", text)
            }
            RecordValue::UserTask(task) => {
                let name = self.element_name(task.element_instance_key, task.process_instance_key);
                ("tasks", format!("task {name} {intent}{}", self.task_details(task)))
            }
            RecordValue::Clock(clock) => ("clock", format!("clock {intent} at {}", clock.time_ms - START_MS)),
            RecordValue::GlobalListener(listener) => ("tasks", format!("listener {} {intent}", listener.id)),
            RecordValue::Variable(variable) => {
                let scope = self.element_name(variable.scope_key, variable.instance.process_instance_key);
                ("variables", format!("{scope}.{} = {} {intent}", variable.name, variable.value.as_str()))
            }
            RecordValue::VariableDocument(set) => {
                let scope = self.elements.get(&set.scope_key).map_or("instance", String::as_str);
                let text = format!(
                    "document of {scope} {intent} {} {}",
                    set.update_semantics,
                    set.variables.to_json()
                );
                ("documents", text)
            }
            RecordValue::User(_)
            | RecordValue::Group(_)
            | RecordValue::Role(_)
            | RecordValue::Tenant(_)
            | RecordValue::MappingRule(_)
            | RecordValue::Authorization(_) => {
                let intent = record.intent.as_str().to_lowercase().replace("entity_", "");
                ("identity", format!("{} {intent}", identity::describe(&record.value)))
            }
            RecordValue::ClusterVariable(variable) => {
                ("variables", cluster_variable::line(variable, &intent))
            }
            RecordValue::Incident(incident) => {
                let name = self.element_name(incident.element_instance_key, incident.process_instance_key);
                let mut text = format!("incident {name} {} {intent}", incident.error_type);
                if record.intent == Intent::Created {
                    let _ = write!(text, ": {}", self.without_keys(&incident.error_message));
                }
                ("incidents", text)
            }
            RecordValue::Timer(timer) => ("timers", timer_line(timer, &intent)),
            RecordValue::Message(message) => {
                ("messages", format!("message {}/{} {intent}", message.name, message.correlation_key))
            }
            RecordValue::ProcessMessageSubscription(it) => {
                let host = self.element_name(it.element_instance_key, it.process_instance_key);
                let text = format!(
                    "subscription {host}/{} {}/{} {intent}",
                    it.element_id.clone().unwrap_or_default(),
                    it.message_name,
                    it.correlation_key
                );
                ("subscriptions", text)
            }
            RecordValue::Signal(it) => {
                ("messages", format!("signal {} {intent} {}", it.signal_name, it.variables.to_json()))
            }
            RecordValue::SignalSubscription(it) => {
                let host = match it.catch_event_instance_key {
                    Some(key) => self.elements.get(&key).cloned().unwrap_or_default(),
                    None => it.bpmn_process_id.to_string(),
                };
                let text =
                    format!("signal subscription {host}/{} {} {intent}", it.catch_event_id, it.signal_name);
                ("subscriptions", text)
            }
            RecordValue::Escalation(it) => {
                let to = if it.catch_element_id.is_empty() { "" } else { " to " };
                let from = &it.throw_element_id;
                let text = format!(
                    "escalation {} {intent} from {from}{to}{}",
                    it.escalation_code, it.catch_element_id
                );
                ("escalations", text)
            }
            RecordValue::ConditionalSubscription(it) => {
                let host = match it.element_instance_key {
                    Some(key) => self.elements.get(&key).cloned().unwrap_or_default(),
                    None => it.bpmn_process_id.to_string(),
                };
                let text = format!("condition {host}/{} {} {intent}", it.catch_event_id, it.condition);
                ("subscriptions", text)
            }
            RecordValue::ConditionalEvaluation(it) => {
                let count = it.started_process_instances.len();
                ("messages", format!("conditions {intent}, {count} started"))
            }
            RecordValue::MessageStartEventSubscription(it) => {
                let text = format!(
                    "start subscription {}/{} {} {intent}",
                    it.bpmn_process_id, it.start_event_id, it.message_name
                );
                ("subscriptions", text)
            }
            RecordValue::Process(it) => {
                ("definitions", format!("process {} v{} {intent}", it.bpmn_process_id, it.version))
            }
            RecordValue::DecisionRequirements(it) => (
                "definitions",
                format!(
                    "decisions {} v{} {intent}",
                    it.decision_requirements_id, it.decision_requirements_version
                ),
            ),
            RecordValue::Decision(it) => {
                ("definitions", format!("decision {} v{} {intent}", it.decision_id, it.version))
            }
            RecordValue::Form(it) => ("definitions", format!("form {} v{} {intent}", it.form_id, it.version)),
            RecordValue::Resource(it) => {
                ("definitions", format!("file {} v{} {intent}", it.resource_id, it.version))
            }
            RecordValue::DecisionEvaluation(it) => {
                let text = format!("{intent} {}", self.without_keys(&evaluation_line(it)));
                ("decisions", text)
            }
            RecordValue::HistoryDeletion(it) => ("history", format!("{} {intent}", it.resource_type)),
            RecordValue::ResourceDeletion(_) => ("definitions", format!("resource {intent}")),
            RecordValue::CompensationSubscription(it) => ("compensations", compensation_line(it, &intent)),
            RecordValue::Error(it) => (
                "errors",
                format!("error in {}: {}", self.instance_name(it.process_instance_key), it.exception_message),
            ),
            RecordValue::ProcessInstanceMigration(it) => {
                ("elements", format!("{} {intent}", self.instance_name(it.process_instance_key)))
            }
            RecordValue::ProcessInstanceModification(it) => {
                ("elements", format!("{} modified", self.instance_name(it.process_instance_key)))
            }
            RecordValue::RuntimeInstruction(it) => (
                "elements",
                format!("{} ends after {}", self.instance_name(it.process_instance_key), it.element_id),
            ),
            RecordValue::BatchOperationLifecycleManagement(it) => {
                ("batches", format!("{} {intent}", self.batch_name(it.batch_operation_key)))
            }
            RecordValue::BatchOperationChunk(it) => {
                ("batches", format!("{} finds {}", self.batch_name(it.batch_operation_key), it.items.len()))
            }
            RecordValue::BatchOperationExecution(it) => {
                let mut text =
                    format!("{} item {}", self.batch_name(it.batch_operation_key), it.state.to_lowercase());
                if !it.error_message.is_empty() {
                    let _ = write!(text, ": {}", self.without_keys(&it.error_message));
                }
                ("batches", text)
            }
            RecordValue::ProcessInstanceBatch(it) => {
                let name = self.element_name(it.batch_element_instance_key, it.process_instance_key);
                ("slices", format!("batch of {name} {intent}"))
            }
            RecordValue::MultiInstance(it) => {
                let name = self.element_name(it.element_instance_key, it.process_instance_key);
                ("slices", format!("collection of {name} {}", it.input_collection.as_str()))
            }
            RecordValue::AdHocSubProcessInstruction(it) => {
                let elements: Vec<&str> = it.activate_elements.iter().map(|e| &*e.element_id).collect();
                let cancel = if it.cancel_remaining_instances { " and cancel the rest" } else { "" };
                ("slices", format!("instruction {intent} [{}]{cancel}", elements.join(", ")))
            }
            RecordValue::BatchOperationCreation(_)
            | RecordValue::BatchOperationInitialization(_)
            | RecordValue::BatchOperationPartitionLifecycle(_)
            | RecordValue::MessageSubscription(_)
            | RecordValue::Deployment(_)
            | RecordValue::AgentDefinition(_)
            | RecordValue::AgentInstance(_)
            | RecordValue::AgentHistory(_)
            | RecordValue::Purge(_)
            | RecordValue::ProcessInstanceCreation(_) => return, // As its counterpart, or in the answer.
        };
        if !self.hidden.contains(&kind) {
            self.line(&text);
        }
    }

    /// An element that became another has a new name from now on.
    fn migrated(&mut self, record: &Record) {
        let RecordValue::ProcessInstance(value) = &record.value else { return };
        if record.intent != Intent::ElementMigrated || record.key == value.instance.process_instance_key {
            return;
        }
        let name = name_of(value);
        let shown = self.element_name(record.key, value.instance.process_instance_key);
        let before = self.elements.insert(record.key, name.clone());
        if before.as_ref() != Some(&name) {
            if !self.hidden.contains(&"elements") {
                self.line(&format!("{shown} becomes {name}"));
            }
            self.element_instances.entry(name).or_default().push(record.key);
        }
    }

    fn learn(&mut self, record: &Record) {
        let created = matches!(record.intent, Intent::Created | Intent::Migrated);
        match &record.value {
            RecordValue::ProcessInstance(value) if record.intent == Intent::ElementActivating => {
                assert_eq!(&*value.instance.tenant_id, DEFAULT_TENANT);
                let name = name_of(value);
                self.elements.insert(record.key, name.clone());
                self.element_instances.entry(name).or_default().push(record.key);
                if record.key == value.instance.process_instance_key {
                    self.instances.push(record.key);
                }
            }
            RecordValue::Job(job) if created => {
                let jobs = self.jobs.entry(job.element_id.to_string()).or_default();
                if !jobs.contains(&record.key) {
                    jobs.push(record.key);
                }
            }
            RecordValue::UserTask(task) if record.intent == Intent::Creating => {
                self.user_tasks.entry(task.element_id.to_string()).or_default().push(record.key);
            }
            RecordValue::Incident(incident) if created => {
                self.incidents.insert(incident.element_id.to_string(), record.key);
            }
            RecordValue::Authorization(_) if created => self.authorizations.push(record.key),
            RecordValue::BatchOperationCreation(_) => self.batches.push(record.key),
            RecordValue::Process(process) if created => {
                self.definitions.insert((process.bpmn_process_id.to_string(), process.version), record.key);
            }
            RecordValue::DecisionRequirements(it) if created => {
                let name = format!("decisions:{}", it.decision_requirements_id);
                self.definitions.insert((name, it.decision_requirements_version), record.key);
            }
            RecordValue::Decision(it) if created => {
                self.definitions.insert((format!("decision:{}", it.decision_id), it.version), record.key);
            }
            RecordValue::Form(it) if created => {
                self.definitions.insert((format!("form:{}", it.form_id), it.version), record.key);
            }
            RecordValue::Resource(it) if created => {
                self.definitions.insert((format!("file:{}", it.resource_id), it.version), record.key);
            }
            _ => {}
        }
    }
}

impl Transcript {
    /// Properties of a user task.
    fn task_details(&self, task: &UserTaskRecord) -> String {
        let mut text = String::new();
        let list = |names: &[Name]| names.iter().map(|name| &**name).collect::<Vec<_>>().join(",");
        for (name, value) in [
            ("assignee", task.assignee.to_string()),
            ("users", list(&task.candidate_users_list)),
            ("groups", list(&task.candidate_groups_list)),
            ("due", task.due_date.to_string()),
            ("followup", task.follow_up_date.to_string()),
            ("external", task.external_form_reference.to_string()),
            ("action", task.action.to_string()),
            ("changed", list(&task.changed_attributes)),
            ("denied", task.denied_reason.to_string()),
        ] {
            if !value.is_empty() {
                let _ = write!(text, " {name}={value}");
            }
        }
        if task.priority != 50 {
            let _ = write!(text, " priority={}", task.priority);
        }
        if let Some(form_key) = task.form_key {
            let form = self.definitions.iter().find(|(_, key)| **key == form_key);
            let ((form, version), _) = form.expect("a form that is deployed");
            let _ = write!(text, " {form} v{version}");
        }
        if !task.variables.is_empty() {
            let _ = write!(text, " {}", task.variables.to_json());
        }
        text
    }
}

/// Body and activity of a multi-instance activity have one ID.
fn name_of(value: &ProcessInstanceRecord) -> String {
    let body = if &*value.bpmn_element_type == "MULTI_INSTANCE_BODY" { "*" } else { "" };
    format!("{}{body}", value.element_id)
}

fn deployed_names(deployed: &DeploymentCreated) -> String {
    let mut text = String::new();
    for process in &deployed.processes {
        let _ = write!(text, " {} v{}", process.process_id, process.version);
    }
    for graph in &deployed.decision_requirements {
        let _ = write!(text, " decisions:{} v{}", graph.id, graph.version);
    }
    for decision in &deployed.decisions {
        let _ = write!(text, " decision:{} v{}", decision.id, decision.version);
    }
    for form in &deployed.forms {
        let _ = write!(text, " form:{} v{}", form.id, form.version);
    }
    for file in &deployed.resources {
        let _ = write!(text, " file:{} v{}", file.id, file.version);
    }
    text
}

/// Result, and how each decision came to its own.
fn evaluation_line(it: &DecisionEvaluationRecord) -> String {
    let mut text = format!("{} v{} -> {}", it.decision_id, it.decision_version, it.decision_output.as_str());
    if !it.evaluation_failure_message.is_empty() {
        let _ = write!(text, " failed in {}: {}", it.failed_decision_id, it.evaluation_failure_message);
    }
    if !it.variables.is_empty() {
        let _ = write!(text, " with {}", it.variables.to_json());
    }
    for decision in &it.evaluated_decisions {
        let _ = write!(text, "|  {} v{}", decision.decision_id, decision.decision_version);
        for input in &decision.evaluated_inputs {
            let _ = write!(text, " {}={}", input.input_name, input.input_value.as_str());
        }
        for rule in &decision.matched_rules {
            let outputs = rule.evaluated_outputs.iter();
            let outputs =
                outputs.map(|output| format!("{}={}", output.output_name, output.output_value.as_str()));
            let _ = write!(text, " rule {} ({})", rule.rule_index, outputs.collect::<Vec<_>>().join(", "));
        }
        let _ = write!(text, " -> {}", decision.decision_output.as_str());
    }
    text
}

fn compensation_line(it: &CompensationSubscriptionRecord, intent: &str) -> String {
    let handler = if it.compensation_handler_id.is_empty() { "-" } else { &*it.compensation_handler_id };
    let mut text = format!("compensation {}/{handler} {intent}", it.compensable_activity_id);
    if !it.throw_event_id.is_empty() {
        let _ = write!(text, " by {}", it.throw_event_id);
    }
    if !it.variables.is_empty() {
        let _ = write!(text, " {}", it.variables.to_json());
    }
    text
}

fn timer_line(timer: &TimerRecord, intent: &str) -> String {
    let mut text = format!("timer {} {intent}", timer.target_element_id);
    if intent == "created" {
        let _ = write!(text, " due {}", timer.due_date_ms - START_MS);
        if timer.repetitions != 1 {
            let _ = write!(text, " repetitions {}", timer.repetitions);
        }
    }
    text
}
