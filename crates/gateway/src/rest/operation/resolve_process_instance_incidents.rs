//! `POST /v2/process-instances/{processInstanceKey}/incident-resolution`: a batch operation for one instance.

use protocol::Command;

use super::{Call, batch_operation};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = Command::ResolveInstanceIncidents { process_instance_key: call.key()? };
    batch_operation::submit(call, command).await
}
