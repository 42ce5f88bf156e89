//! `POST /v2/messages/publication`

use protocol::{Command, PublishMessage, Response};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = PublishMessage {
        name: call.fields.name_or_empty("name"),
        correlation_key: call.fields.name_or_empty("correlationKey"),
        time_to_live_ms: call.fields.integer("timeToLive").unwrap_or_default(),
        message_id: call.fields.name_or_empty("messageId"),
        variables: call.document("variables")?,
        tenant_id: call.fields.tenant(),
        business_id: call.business_id_claim(),
    };
    let answer = call.submit("PUBLISH", Command::PublishMessage(command)).await?;
    let Response::MessagePublished { message_key, tenant_id } = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(96);
    object(&mut out).with("tenantId", tenant_id).with("messageKey", Digits(*message_key)).end();
    Ok(Reply::json(out).timed(answer.timing))
}
