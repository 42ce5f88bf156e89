//! `POST /v2/process-instances/{processInstanceKey}/suspension`

use protocol::Command;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = Command::SuspendInstance {
        process_instance_key: call.key()?,
        operation_reference: call.fields.operation_reference(),
    };
    call.submit_for_nothing("SUSPEND", command).await
}
