//! `POST /v2/jobs/{jobKey}/completion`

use bytes::Bytes;
use protocol::{ActivateElement, Command, CompleteJob, Document, JobResult, Name, UserTaskChanges};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

/// The result of a listener's or ad-hoc sub-process's job, as it stands in the body.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawResult<'a> {
    #[serde(default)]
    r#type: Option<String>,
    #[serde(default)]
    denied: Option<bool>,
    #[serde(default)]
    denied_reason: Option<Name>,
    #[serde(default)]
    corrections: Option<Corrections>,
    #[serde(borrow, default)]
    activate_elements: Option<Vec<RawActivation<'a>>>,
    #[serde(default)]
    is_completion_condition_fulfilled: Option<bool>,
    #[serde(default)]
    is_cancel_remaining_instances: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawActivation<'a> {
    #[serde(default)]
    element_id: Option<Name>,
    #[serde(borrow, default)]
    variables: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Corrections {
    assignee: Option<Name>,
    due_date: Option<Name>,
    follow_up_date: Option<Name>,
    candidate_users: Option<Vec<Name>>,
    candidate_groups: Option<Vec<Name>>,
    priority: Option<i32>,
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let result = call.fields.raw("result").map(read).transpose()?;
    let command = CompleteJob {
        job_key: call.key()?,
        variables: call.document("variables")?,
        result: result.map(Box::new),
        lease: call.lease(),
        business_id: call.business_id_claim(),
    };
    call.submit_for_nothing("COMPLETE", Command::CompleteJob(command)).await
}

fn read(raw: &str) -> Result<JobResult, Failure> {
    let result: RawResult<'_> =
        serde_json::from_str(raw).map_err(|error| Failure::invalid(format!("result: {error}")))?;
    if result.r#type.as_deref() == Some("adHocSubProcess") {
        let activations = result.activate_elements.unwrap_or_default();
        return Ok(JobResult::AdHocSubProcess {
            activate_elements: elements("result.activateElements", &activations)?,
            is_completion_condition_fulfilled: result.is_completion_condition_fulfilled == Some(true),
            is_cancel_remaining_instances: result.is_cancel_remaining_instances == Some(true),
        });
    }
    let corrections = result.corrections.unwrap_or_default();
    Ok(JobResult::UserTask {
        denied: result.denied == Some(true),
        denied_reason: result.denied_reason.unwrap_or_default(),
        corrections: UserTaskChanges {
            candidate_users: corrections.candidate_users,
            candidate_groups: corrections.candidate_groups,
            due_date: corrections.due_date,
            follow_up_date: corrections.follow_up_date,
            priority: corrections.priority,
            assignee: corrections.assignee,
        },
    })
}

/// Elements to activate; `place` names their list in a failure.
pub(super) fn elements(place: &str, raw: &[RawActivation<'_>]) -> Result<Vec<ActivateElement>, Failure> {
    raw.iter().enumerate().map(|(at, raw)| activation(&format!("{place}[{at}]"), raw)).collect()
}

fn activation(place: &str, raw: &RawActivation<'_>) -> Result<ActivateElement, Failure> {
    let variables = match raw.variables.map(RawValue::get) {
        None | Some("null") => Document::empty(),
        Some(text) => Document::parse(Bytes::copy_from_slice(text.as_bytes()))
            .map_err(|error| Failure::invalid(format!("{place}.variables: {error}")))?,
    };
    let element_id = raw.element_id.clone().filter(|id| !id.is_empty());
    let element_id = element_id.ok_or_else(|| Failure::invalid(format!("{place}.elementId: is required")))?;
    Ok(ActivateElement { element_id, variables })
}
