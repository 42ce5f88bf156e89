//! `POST /v2/element-instances/ad-hoc-activities/{adHocSubProcessInstanceKey}/activation`

use protocol::{ActivateAdHoc, Command};

use super::Call;
use super::complete_job::{RawActivation, elements};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let raw: Vec<RawActivation<'_>> = serde_json::from_str(call.fields.raw("elements").unwrap_or("[]"))
        .map_err(|error| Failure::invalid(format!("elements: {error}")))?;
    if raw.is_empty() {
        return Err(Failure::invalid("elements: at least one element is required"));
    }
    let command = ActivateAdHoc {
        element_instance_key: call.key()?,
        elements: elements("elements", &raw)?,
        cancel_remaining_instances: call.fields.flag("cancelRemainingInstances"),
    };
    call.submit_for_nothing("ACTIVATE", Command::ActivateAdHoc(command)).await
}
