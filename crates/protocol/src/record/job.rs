//! Records of jobs.

use std::sync::Arc;

use minicbor::decode::{Decoder, Error as DecodeError};
use minicbor::encode::{Encoder, Error as EncodeError, Write};
use minicbor::{Decode, Encode};
use serde::{Serialize, Serializer};

use super::field::raw_json;
use super::instance::{RecordedInstance, flat};
use super::word::Word;
use crate::{ActivateElement, Document, JobResult, Key, Name, UserTaskChanges};

/// A job after it changed.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRecord {
    pub instance: Arc<RecordedInstance>,
    pub job_type: Name,
    pub worker: Name,
    pub retries: i32,
    pub deadline_ms: i64,
    pub timeout_ms: i64,
    pub custom_headers: Name,
    pub variables: Document,
    pub retry_backoff_ms: i64,
    pub recurring_time_ms: i64,
    pub error_message: Name,
    pub error_code: Name,
    pub element_id: Name,
    pub element_instance_key: Key,
    pub tenant_id: Name,
    pub job_kind: Word,
    pub job_listener_event_type: Word,
    pub changed_attributes: Vec<Name>,
    pub result: Option<Box<JobResult>>,
    pub is_job_to_user_task_migration: bool,
    pub priority: i32,
    pub element_type: Option<Word>,
    /// Whether nobody catches the error that it threw, so that it goes on once its incident is resolved.
    pub is_uncaught: bool,
}

flat!(JobRecord as FlatJob);

records! {
    FlatJob {
        0 #[serde(rename = "type")] job_type: Name, 1 worker: Name, 2 retries: i32, 3 #[serde(rename = "deadline")] deadline_ms: i64,
        4 #[serde(rename = "timeout")] timeout_ms: i64, 5 #[serde(serialize_with = "raw_json")] custom_headers: Name,
        6 variables: Document, 7 #[serde(rename = "retryBackoff")] retry_backoff_ms: i64, 8 #[serde(rename = "recurringTime")] recurring_time_ms: i64,
        9 error_message: Name, 10 error_code: Name, 11 element_id: Name, 12 element_instance_key: Key,
        13 process_instance_key: Key, 14 bpmn_process_id: Name, 15 process_definition_version: u32,
        16 process_definition_key: Key, 17 tenant_id: Name, 18 job_kind: Word, 19 job_listener_event_type: Word,
        20 root_process_instance_key: Key, 21 tags: Vec<Name>, 22 #[cbor(default)] changed_attributes: Vec<Name>,
        23 #[serde(serialize_with = "result_or_none")] result: Option<Box<JobResult>>,
        24 #[cbor(default)] #[serde(rename = "jobToUserTaskMigration")] is_job_to_user_task_migration: bool,
        25 #[cbor(default)] priority: i32, 26 business_id: Option<Name>, 27 element_type: Option<Word>,
        28 #[cbor(default)] #[serde(skip)] is_uncaught: bool,
    }
}

impl From<&JobRecord> for FlatJob {
    fn from(record: &JobRecord) -> Self {
        let instance = &record.instance;
        Self {
            job_type: record.job_type.clone(),
            worker: record.worker.clone(),
            retries: record.retries,
            deadline_ms: record.deadline_ms,
            timeout_ms: record.timeout_ms,
            custom_headers: record.custom_headers.clone(),
            variables: record.variables.clone(),
            retry_backoff_ms: record.retry_backoff_ms,
            recurring_time_ms: record.recurring_time_ms,
            error_message: record.error_message.clone(),
            error_code: record.error_code.clone(),
            element_id: record.element_id.clone(),
            element_instance_key: record.element_instance_key,
            process_instance_key: instance.process_instance_key,
            bpmn_process_id: instance.bpmn_process_id.clone(),
            process_definition_version: instance.version,
            process_definition_key: instance.process_definition_key,
            tenant_id: record.tenant_id.clone(),
            job_kind: record.job_kind,
            job_listener_event_type: record.job_listener_event_type,
            root_process_instance_key: instance.root_process_instance_key,
            tags: instance.tags.clone(),
            changed_attributes: record.changed_attributes.clone(),
            result: record.result.clone(),
            is_job_to_user_task_migration: record.is_job_to_user_task_migration,
            priority: record.priority,
            business_id: instance.business_id.clone(),
            element_type: record.element_type,
            is_uncaught: record.is_uncaught,
        }
    }
}

impl From<FlatJob> for JobRecord {
    fn from(flat: FlatJob) -> Self {
        let instance = RecordedInstance {
            bpmn_process_id: flat.bpmn_process_id,
            version: flat.process_definition_version,
            process_definition_key: flat.process_definition_key,
            process_instance_key: flat.process_instance_key,
            root_process_instance_key: flat.root_process_instance_key,
            tags: flat.tags,
            tenant_id: flat.tenant_id.clone(),
            business_id: flat.business_id,
            ..RecordedInstance::default()
        };
        Self {
            instance: Arc::new(instance),
            job_type: flat.job_type,
            worker: flat.worker,
            retries: flat.retries,
            deadline_ms: flat.deadline_ms,
            timeout_ms: flat.timeout_ms,
            custom_headers: flat.custom_headers,
            variables: flat.variables,
            retry_backoff_ms: flat.retry_backoff_ms,
            recurring_time_ms: flat.recurring_time_ms,
            error_message: flat.error_message,
            error_code: flat.error_code,
            element_id: flat.element_id,
            element_instance_key: flat.element_instance_key,
            tenant_id: flat.tenant_id,
            job_kind: flat.job_kind,
            job_listener_event_type: flat.job_listener_event_type,
            changed_attributes: flat.changed_attributes,
            result: flat.result,
            is_job_to_user_task_migration: flat.is_job_to_user_task_migration,
            priority: flat.priority,
            element_type: flat.element_type,
            is_uncaught: flat.is_uncaught,
        }
    }
}

/// Consumers find all members of a result in each record.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Exported<'a> {
    r#type: &'static str,
    denied: bool,
    denied_reason: &'a str,
    corrected_attributes: Vec<&'static str>,
    corrections: Corrections<'a>,
    activate_elements: &'a [ActivateElement],
    completion_condition_fulfilled: bool,
    cancel_remaining_instances: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Corrections<'a> {
    assignee: &'a str,
    due_date: &'a str,
    follow_up_date: &'a str,
    candidate_groups_list: &'a [Name],
    candidate_users_list: &'a [Name],
    priority: i32,
}

/// A result as consumers expect it, the one of a job without any included.
#[expect(clippy::ref_option, reason = "serde hands over a reference")]
fn result_or_none<S: Serializer>(result: &Option<Box<JobResult>>, serializer: S) -> Result<S::Ok, S::Error> {
    let none = UserTaskChanges::default();
    let mut exported = Exported {
        r#type: "USER_TASK",
        denied: false,
        denied_reason: "",
        corrected_attributes: Vec::new(),
        corrections: corrections(&none),
        activate_elements: &[],
        completion_condition_fulfilled: false,
        cancel_remaining_instances: false,
    };
    match result.as_deref() {
        None => {}
        Some(JobResult::UserTask { denied, denied_reason, corrections: changes }) => {
            exported.denied = *denied;
            exported.denied_reason = denied_reason;
            exported.corrected_attributes = corrected(changes);
            exported.corrections = corrections(changes);
        }
        Some(JobResult::AdHocSubProcess {
            activate_elements,
            is_completion_condition_fulfilled,
            is_cancel_remaining_instances,
        }) => {
            exported.r#type = "AD_HOC_SUB_PROCESS";
            exported.activate_elements = activate_elements;
            exported.completion_condition_fulfilled = *is_completion_condition_fulfilled;
            exported.cancel_remaining_instances = *is_cancel_remaining_instances;
        }
    }
    exported.serialize(serializer)
}

fn corrected(changes: &UserTaskChanges) -> Vec<&'static str> {
    [
        ("assignee", changes.assignee.is_some()),
        ("dueDate", changes.due_date.is_some()),
        ("followUpDate", changes.follow_up_date.is_some()),
        ("candidateGroupsList", changes.candidate_groups.is_some()),
        ("candidateUsersList", changes.candidate_users.is_some()),
        ("priority", changes.priority.is_some()),
    ]
    .into_iter()
    .filter_map(|(name, is_corrected)| is_corrected.then_some(name))
    .collect()
}

fn corrections(changes: &UserTaskChanges) -> Corrections<'_> {
    Corrections {
        assignee: changes.assignee.as_deref().unwrap_or_default(),
        due_date: changes.due_date.as_deref().unwrap_or_default(),
        follow_up_date: changes.follow_up_date.as_deref().unwrap_or_default(),
        candidate_groups_list: changes.candidate_groups.as_deref().unwrap_or_default(),
        candidate_users_list: changes.candidate_users.as_deref().unwrap_or_default(),
        priority: changes.priority.unwrap_or(-1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exported(result: Option<JobResult>) -> serde_json::Value {
        let result = result.map(Box::new);
        let mut json = Vec::new();
        result_or_none(&result, &mut serde_json::Serializer::new(&mut json)).unwrap();
        serde_json::from_slice(&json).unwrap()
    }

    #[test]
    fn a_result_is_exported_with_all_its_members() {
        let none = exported(None);
        assert_eq!(none["type"], "USER_TASK");
        assert_eq!(none["denied"], false);
        assert_eq!(none["corrections"]["priority"], -1);
        assert_eq!(none["corrections"]["candidateUsersList"], serde_json::json!([]));
        let corrections = UserTaskChanges {
            assignee: Some(Name::from("ann")),
            candidate_groups: Some(Vec::new()),
            ..UserTaskChanges::default()
        };
        let denied_reason = Name::from("no");
        let of_task = exported(Some(JobResult::UserTask { denied: true, denied_reason, corrections }));
        assert_eq!(of_task["deniedReason"], "no");
        assert_eq!(of_task["corrections"]["assignee"], "ann");
        assert_eq!(of_task["correctedAttributes"], serde_json::json!(["assignee", "candidateGroupsList"]));
        let ad_hoc = exported(Some(JobResult::AdHocSubProcess {
            activate_elements: vec![ActivateElement {
                element_id: Name::from("a"),
                variables: Document::empty(),
            }],
            is_completion_condition_fulfilled: false,
            is_cancel_remaining_instances: true,
        }));
        assert_eq!(ad_hoc["type"], "AD_HOC_SUB_PROCESS");
        assert_eq!(ad_hoc["activateElements"][0]["elementId"], "a");
        assert_eq!(ad_hoc["cancelRemainingInstances"], true);
    }

    #[test]
    fn consumers_find_each_member() {
        let instance = RecordedInstance {
            bpmn_process_id: Name::from("p"),
            version: 1,
            process_definition_key: 2,
            process_instance_key: 3,
            root_process_instance_key: 3,
            tenant_id: Name::default_tenant(),
            ..RecordedInstance::default()
        };
        let record = JobRecord {
            priority: 0,
            element_type: Some(Word::new("SERVICE_TASK")),
            is_uncaught: false,
            instance: Arc::new(instance),
            job_type: Name::from("t"),
            worker: Name::default(),
            retries: 3,
            deadline_ms: -1,
            timeout_ms: -1,
            custom_headers: Name::from("{}"),
            variables: Document::empty(),
            retry_backoff_ms: 5,
            recurring_time_ms: -1,
            error_message: Name::default(),
            error_code: Name::default(),
            element_id: Name::from("a"),
            element_instance_key: 4,
            tenant_id: Name::default_tenant(),
            job_kind: Word::new("BPMN_ELEMENT"),
            job_listener_event_type: Word::new("UNSPECIFIED"),
            changed_attributes: vec![Name::from("retries")],
            result: None,
            is_job_to_user_task_migration: true,
        };
        let json = serde_json::to_value(&record).unwrap();
        let mut members: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        members.sort_unstable();
        let wanted = "bpmnProcessId businessId changedAttributes customHeaders deadline elementId elementInstanceKey elementType \
                      errorCode errorMessage jobKind jobListenerEventType jobToUserTaskMigration priority processDefinitionKey \
                      processDefinitionVersion processInstanceKey recurringTime result retries retryBackoff \
                      rootProcessInstanceKey tags tenantId timeout type variables worker";
        assert_eq!(members.join(" "), wanted);
        let bytes = minicbor::to_vec(&record).unwrap();
        assert_eq!(minicbor::decode::<JobRecord>(&bytes).unwrap(), record);
    }
}
