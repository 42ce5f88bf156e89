//! Jobs: activate, complete, fail, throw an error, change retries or timeout.

use broker_api::JobRequest;
use grpc as pb;
use grpc::activated_job::{JobKind as PbKind, ListenerEventType as PbListener};
use protocol::{
    ActivateElement, ActivatedJob, Command, CompleteJob, FailJob, JobKind, JobListenerEventType, JobResult,
    Name, ThrowError, UpdateJob, UserTaskChanges, UserTaskProperties,
};
use tonic::Status;

use super::field;
use super::status::wrong_field;

/// Reads a request for a batch of jobs.
pub(super) fn activate(request: pb::ActivateJobsRequest) -> Result<JobRequest, Status> {
    if request.max_jobs_to_activate < 1 {
        return Err(wrong_field("maxJobsToActivate", "greater than zero", request.max_jobs_to_activate));
    }
    Ok(JobRequest {
        job_type: field::name("type", request.r#type)?,
        worker: field::optional_name("worker", request.worker)?,
        timeout_ms: field::positive_ms("timeout", request.timeout)?,
        max_jobs: request.max_jobs_to_activate as u32,
        fetch_variables: field::names("fetchVariable", request.fetch_variable)?,
        tenant_ids: field::tenants("tenantIds", &request.tenant_ids)?,
        caller: None,
        with_lease: false,
    })
}

/// Reads a request for a stream of jobs.
pub(super) fn stream(request: pb::StreamActivatedJobsRequest) -> Result<JobRequest, Status> {
    Ok(JobRequest {
        job_type: field::name("type", request.r#type)?,
        worker: field::optional_name("worker", request.worker)?,
        timeout_ms: field::positive_ms("timeout", request.timeout)?,
        max_jobs: 0,
        fetch_variables: field::names("fetchVariable", request.fetch_variable)?,
        tenant_ids: field::tenants("tenantIds", &request.tenant_ids)?,
        caller: None,
        with_lease: false,
    })
}

pub(super) fn complete(request: pb::CompleteJobRequest) -> Result<Command, Status> {
    let result = request.result.map(job_result).transpose()?;
    Ok(Command::CompleteJob(CompleteJob {
        job_key: field::key("jobKey", request.job_key)?,
        variables: field::variables("variables", request.variables)?,
        // Clients send an empty result with every completion.
        result: result.filter(|result| !result.is_empty()).map(Box::new),
        lease: None,
        business_id: None,
    }))
}

fn job_result(result: pb::JobResult) -> Result<JobResult, Status> {
    let is_ad_hoc = match result.r#type.as_deref() {
        None | Some("" | "userTask") => false,
        Some("adHocSubProcess") => true,
        Some(other) => {
            return Err(wrong_field("result.type", "userTask or adHocSubProcess", format!("'{other}'")));
        }
    };
    if is_ad_hoc {
        field::length("result.activateElements", result.activate_elements.len())?;
        let activate_elements = result
            .activate_elements
            .into_iter()
            .map(|element| {
                Ok(ActivateElement {
                    element_id: field::name("result.activateElements.elementId", element.element_id)?,
                    variables: field::variables("result.activateElements.variables", element.variables)?,
                })
            })
            .collect::<Result<_, Status>>()?;
        return Ok(JobResult::AdHocSubProcess {
            activate_elements,
            is_completion_condition_fulfilled: result.is_completion_condition_fulfilled.unwrap_or_default(),
            is_cancel_remaining_instances: result.is_cancel_remaining_instances.unwrap_or_default(),
        });
    }
    let denied = result.denied();
    let corrections = result.corrections.unwrap_or_default();
    Ok(JobResult::UserTask {
        denied,
        denied_reason: field::optional_name("result.deniedReason", result.denied_reason.unwrap_or_default())?,
        corrections: UserTaskChanges {
            candidate_users: candidates("result.corrections.candidateUsers", corrections.candidate_users)?,
            candidate_groups: candidates("result.corrections.candidateGroups", corrections.candidate_groups)?,
            due_date: corrections.due_date.map(Name::from),
            follow_up_date: corrections.follow_up_date.map(Name::from),
            priority: corrections.priority,
            assignee: corrections.assignee.map(Name::from),
        },
    })
}

fn candidates(field: &str, list: Option<pb::StringList>) -> Result<Option<Vec<Name>>, Status> {
    let Some(list) = list else { return Ok(None) };
    field::length(field, list.values.len())?;
    Ok(Some(list.values.into_iter().map(Name::from).collect()))
}

/// A user task as the worker of its listener sees it.
fn user_task(task: UserTaskProperties) -> pb::UserTaskProperties {
    let texts = |names: Vec<Name>| names.iter().map(ToString::to_string).collect();
    let text = |name: &Name| (!name.is_empty()).then(|| name.to_string());
    pb::UserTaskProperties {
        action: Some(task.action.to_string()),
        assignee: text(&task.assignee),
        candidate_groups: texts(task.candidate_groups),
        candidate_users: texts(task.candidate_users),
        changed_attributes: texts(task.changed_attributes),
        due_date: text(&task.due_date),
        follow_up_date: text(&task.follow_up_date),
        form_key: task.form_key.map(|key| key as i64),
        priority: Some(task.priority),
        user_task_key: Some(task.user_task_key as i64),
    }
}

/// Reads a failure. Retries below zero are taken as none: workers count down without looking.
pub(super) fn fail(request: pb::FailJobRequest) -> Result<Command, Status> {
    Ok(Command::FailJob(FailJob {
        job_key: field::key("jobKey", request.job_key)?,
        retries: request.retries.max(0),
        retry_backoff_ms: field::non_negative_ms("retryBackOff", request.retry_back_off)?,
        error_message: request.error_message.into(),
        variables: field::variables("variables", request.variables)?,
        lease: None,
    }))
}

/// Reads a BPMN error.
pub(super) fn throw_error(request: pb::ThrowErrorRequest) -> Result<Command, Status> {
    Ok(Command::ThrowError(ThrowError {
        job_key: field::key("jobKey", request.job_key)?,
        error_code: field::optional_name("errorCode", request.error_code)?,
        error_message: request.error_message.into(),
        variables: field::variables("variables", request.variables)?,
        lease: None,
    }))
}

/// Reads a change of retries.
pub(super) fn update_retries(request: &pb::UpdateJobRetriesRequest) -> Result<Command, Status> {
    let job_key = field::key("jobKey", request.job_key)?;
    if request.retries < 1 {
        return Err(wrong_field("retries", "greater than zero", request.retries));
    }
    Ok(Command::UpdateJob(UpdateJob {
        job_key,
        retries: Some(request.retries),
        timeout_ms: None,
        operation_reference: request.operation_reference,
        priority: None,
        lease: None,
    }))
}

/// Reads a change of timeout. Zero ends it now.
pub(super) fn update_timeout(request: &pb::UpdateJobTimeoutRequest) -> Result<Command, Status> {
    Ok(Command::UpdateJob(UpdateJob {
        job_key: field::key("jobKey", request.job_key)?,
        retries: None,
        timeout_ms: Some(field::non_negative_ms("timeout", request.timeout)?),
        operation_reference: request.operation_reference,
        priority: None,
        lease: None,
    }))
}

pub(super) fn message(job: ActivatedJob) -> pb::ActivatedJob {
    let headers = &job.custom_headers_json;
    pb::ActivatedJob {
        key: job.key as i64,
        r#type: job.job_type.to_string(),
        process_instance_key: job.process_instance_key as i64,
        bpmn_process_id: job.process_id.to_string(),
        process_definition_version: job.process_definition_version as i32,
        process_definition_key: job.process_definition_key as i64,
        element_id: job.element_id.to_string(),
        element_instance_key: job.element_instance_key as i64,
        // Clients parse this without a guard.
        custom_headers: if headers.is_empty() { "{}".to_owned() } else { headers.to_string() },
        worker: job.worker.to_string(),
        retries: job.retries,
        deadline: job.deadline_ms,
        variables: job.variables.to_json(),
        tenant_id: job.tenant_id.to_string(),
        user_task: job.user_task.map(|task| user_task(*task)),
        kind: match job.kind {
            JobKind::BpmnElement => PbKind::BpmnElement,
            JobKind::ExecutionListener => PbKind::ExecutionListener,
            JobKind::TaskListener => PbKind::TaskListener,
            JobKind::AdHocSubProcess => PbKind::AdHocSubProcess,
        } as i32,
        listener_event_type: match job.listener_event_type {
            // The protocol has no name for the latter.
            JobListenerEventType::Unspecified
            | JobListenerEventType::BeforeAll
            | JobListenerEventType::Cancel => PbListener::Unspecified,
            JobListenerEventType::Start => PbListener::Start,
            JobListenerEventType::End => PbListener::End,
            JobListenerEventType::Creating => PbListener::Creating,
            JobListenerEventType::Assigning => PbListener::Assigning,
            JobListenerEventType::Updating => PbListener::Updating,
            JobListenerEventType::Completing => PbListener::Completing,
            JobListenerEventType::Canceling => PbListener::Canceling,
        } as i32,
        tags: job.tags.iter().map(ToString::to_string).collect(),
    }
}
