//! `PUT /v2/element-instances/{elementInstanceKey}/variables`

use protocol::{Command, SetVariables};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = SetVariables {
        element_instance_key: call.key()?,
        variables: call.document("variables")?,
        local: call.fields.flag("local"),
        operation_reference: call.fields.operation_reference(),
        request_id: None,
    };
    call.submit_to_listeners("UPDATE", Command::SetVariables(command)).await
}
