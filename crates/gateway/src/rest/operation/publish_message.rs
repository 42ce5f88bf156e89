//! `POST /v2/messages/publication`

use protocol::{Command, PublishMessage, Response};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_key, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = PublishMessage {
        name: call.fields.name_or_empty("name"),
        correlation_key: call.fields.name_or_empty("correlationKey"),
        time_to_live_ms: call.fields.integer("timeToLive").unwrap_or_default(),
        message_id: call.fields.name_or_empty("messageId"),
        variables: call.document("variables")?,
        tenant_id: call.fields.tenant(),
    };
    let answer = call.submit("PUBLISH", Command::PublishMessage(command)).await?;
    let Response::MessagePublished { message_key, tenant_id } = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(96);
    out.push(b'{');
    member("tenantId", &mut out);
    write_text(tenant_id, &mut out);
    member("messageKey", &mut out);
    write_key(*message_key, &mut out);
    out.push(b'}');
    Ok(Reply::json(out).timed(answer.timing))
}
