//! `POST /v2/messages/correlation`

use protocol::{Command, CorrelateMessage, Response};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = CorrelateMessage {
        name: call.fields.name_or_empty("name"),
        correlation_key: call.fields.name_or_empty("correlationKey"),
        variables: call.document("variables")?,
        tenant_id: call.fields.tenant(),
        business_id: call.business_id_claim(),
        request_id: None,
    };
    let answer = call.submit("CORRELATE", Command::CorrelateMessage(command)).await?;
    let Response::MessageCorrelated { message_key, process_instance_key, tenant_id } = &answer.response
    else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(128);
    object(&mut out)
        .with("tenantId", tenant_id)
        .with("messageKey", Digits(*message_key))
        .with("processInstanceKey", Digits(*process_instance_key))
        .end();
    Ok(Reply::json(out).timed(answer.timing))
}
