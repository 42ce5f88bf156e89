//! Changes of a process instance as a whole: cancellation, suspension, resumption.

use protocol::{Command, Key};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

/// `POST /v2/process-instances/{processInstanceKey}/cancellation`
pub(super) async fn cancel(call: &Call<'_>) -> Result<Reply, Failure> {
    change(call, "CANCEL", |process_instance_key, operation_reference| Command::CancelInstance {
        process_instance_key,
        operation_reference,
    })
    .await
}

/// `POST /v2/process-instances/{processInstanceKey}/suspension`
pub(super) async fn suspend(call: &Call<'_>) -> Result<Reply, Failure> {
    change(call, "SUSPEND", |process_instance_key, operation_reference| Command::SuspendInstance {
        process_instance_key,
        operation_reference,
    })
    .await
}

/// `POST /v2/process-instances/{processInstanceKey}/resumption`
pub(super) async fn resume(call: &Call<'_>) -> Result<Reply, Failure> {
    change(call, "RESUME", |process_instance_key, operation_reference| Command::ResumeInstance {
        process_instance_key,
        operation_reference,
    })
    .await
}

async fn change(
    call: &Call<'_>,
    intent: &str,
    command: fn(Key, Option<u64>) -> Command,
) -> Result<Reply, Failure> {
    let command = command(call.key()?, call.fields.operation_reference());
    call.submit_for_nothing(intent, command).await
}
