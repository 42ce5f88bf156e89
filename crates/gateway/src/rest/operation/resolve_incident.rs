//! `POST /v2/incidents/{incidentKey}/resolution`

use protocol::Command;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = Command::ResolveIncident {
        incident_key: call.key()?,
        operation_reference: call.fields.operation_reference(),
    };
    call.submit_for_nothing("RESOLVE", command).await
}
