//! `POST /v2/process-instances/{processInstanceKey}/business-id-assignment`

use protocol::Command;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let Some(claim) = call.business_id_claim() else {
        return Err(Failure::invalid("businessId: is required, but missing"));
    };
    let command = Command::AssignBusinessId { process_instance_key: call.key()?, claim };
    call.submit_for_nothing("ASSIGN_BUSINESS_ID", command).await
}
