//! `POST /v2/jobs/activation`: hands out jobs, waiting for the first one if need be.

use std::time::Duration;

use broker_api::{Activation, JobRequest};
use protocol::{ActivatedJob, UserTaskProperties};

use super::Call;
use super::administration::PHYSICAL_TENANT;
use crate::rest::parameter::wait_of;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_key, write_list, write_names, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let fields = &call.fields;
    let tenant_ids = Some(fields.names("tenantIds"))
        .filter(|ids| !ids.is_empty() && fields.text("tenantFilter").as_deref() != Some("ASSIGNED"));
    let (access, broker) = (&call.gateway.options.access, &call.gateway.broker);
    let tenant_ids = access.tenants_of_jobs(broker, call.principal, tenant_ids).await;
    let tenant_ids = tenant_ids.map_err(|error| Failure::submit(error, "ACTIVATE"))?;
    let request = JobRequest {
        job_type: fields.name_or_empty("type"),
        worker: fields.name_or_empty("worker"),
        timeout_ms: fields.integer("timeout").unwrap_or_default(),
        max_jobs: fields.int32("maxJobsToActivate").unwrap_or_default().unsigned_abs(),
        fetch_variables: fields.names("fetchVariable"),
        tenant_ids,
        caller: call.caller().await?,
        with_lease: fields.flag("withLease"),
    };
    let wait = wait(fields.integer("requestTimeout"), call.gateway.options.long_poll_timeout);
    let activation = call.gateway.broker.activate_jobs(request, wait);
    let Activation { jobs, positions } = tokio::select! {
        biased;
        activation = activation => activation.map_err(|error| Failure::submit(error, "ACTIVATE"))?,
        () = call.gateway.stop.cancelled() => Activation::default(),
    };
    call.reached(&positions);
    let mut out =
        Vec::with_capacity(16 + jobs.iter().map(|job| 640 + job.variables.json_len()).sum::<usize>());
    out.push(b'{');
    member("jobs", &mut out);
    write_list(&jobs, &mut out, write_job);
    out.push(b'}');
    Ok(Reply::json(out))
}

/// Zero or nothing asks for the default, a negative time for no waiting.
fn wait(request_timeout: Option<i64>, default: Duration) -> Option<Duration> {
    match request_timeout {
        Some(..0) => None,
        other => Some(wait_of(other).unwrap_or(default)),
    }
}

fn write_optional_text(text: Option<&str>, out: &mut Vec<u8>) {
    match text {
        Some(text) => write_text(text, out),
        None => out.extend_from_slice(b"null"),
    }
}

fn write_job(job: &ActivatedJob, out: &mut Vec<u8>) {
    out.push(b'{');
    member("type", out);
    write_text(&job.job_type, out);
    member("processDefinitionId", out);
    write_text(&job.process_id, out);
    member("processDefinitionVersion", out);
    write_integer(job.process_definition_version, out);
    member("elementId", out);
    write_text(&job.element_id, out);
    member("customHeaders", out);
    out.extend_from_slice(job.custom_headers_json.as_bytes());
    member("worker", out);
    write_text(&job.worker, out);
    member("retries", out);
    write_integer(job.retries, out);
    member("deadline", out);
    write_integer(job.deadline_ms, out);
    member("variables", out);
    job.variables.write_json(out);
    member("tenantId", out);
    write_text(&job.tenant_id, out);
    member("jobKey", out);
    write_key(job.key, out);
    member("processInstanceKey", out);
    write_key(job.process_instance_key, out);
    member("processDefinitionKey", out);
    write_key(job.process_definition_key, out);
    member("elementInstanceKey", out);
    write_key(job.element_instance_key, out);
    member("kind", out);
    write_text(job.kind.as_str(), out);
    member("listenerEventType", out);
    write_text(job.listener_event_type.as_str(), out);
    member("userTask", out);
    match &job.user_task {
        Some(task) => write_user_task(task, out),
        None => out.extend_from_slice(b"null"),
    }
    member("tags", out);
    write_names(&job.tags, out);
    member("rootProcessInstanceKey", out);
    write_key(job.root_process_instance_key, out);
    member("businessId", out);
    write_optional_text(job.business_id.as_deref(), out);
    member("priority", out);
    write_integer(job.priority, out);
    member("jobLeaseToken", out);
    write_optional_text(job.lease.as_deref(), out);
    member("physicalTenantId", out);
    write_text(PHYSICAL_TENANT, out);
    out.push(b'}');
}

fn write_user_task(task: &UserTaskProperties, out: &mut Vec<u8>) {
    out.push(b'{');
    member("action", out);
    write_text(&task.action, out);
    for (name, text) in
        [("assignee", &task.assignee), ("dueDate", &task.due_date), ("followUpDate", &task.follow_up_date)]
    {
        member(name, out);
        if text.is_empty() { out.extend_from_slice(b"null") } else { write_text(text, out) }
    }
    for (name, names) in [
        ("candidateGroups", &task.candidate_groups),
        ("candidateUsers", &task.candidate_users),
        ("changedAttributes", &task.changed_attributes),
    ] {
        member(name, out);
        write_names(names, out);
    }
    member("formKey", out);
    match task.form_key {
        Some(key) => write_key(key, out),
        None => out.extend_from_slice(b"null"),
    }
    member("priority", out);
    write_integer(task.priority, out);
    member("userTaskKey", out);
    write_key(task.user_task_key, out);
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_asked_for_defaulted_or_refused() {
        let default = Duration::from_secs(10);
        assert_eq!(wait(None, default), Some(default));
        assert_eq!(wait(Some(0), default), Some(default));
        assert_eq!(wait(Some(-1), default), None);
        assert_eq!(wait(Some(250), default), Some(Duration::from_millis(250)));
        assert_eq!(wait(Some(i64::MAX), default), Some(crate::rest::MAX_WAIT));
    }
}
