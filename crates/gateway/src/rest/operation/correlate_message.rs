//! `POST /v2/messages/correlation`

use protocol::{Command, CorrelateMessage, Response};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_key, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = CorrelateMessage {
        name: call.fields.name_or_empty("name"),
        correlation_key: call.fields.name_or_empty("correlationKey"),
        variables: call.document("variables")?,
        tenant_id: call.fields.tenant(),
    };
    let answer = call.submit("CORRELATE", Command::CorrelateMessage(command)).await?;
    let Response::MessageCorrelated { message_key, process_instance_key, tenant_id } = &answer.response
    else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(128);
    out.push(b'{');
    member("tenantId", &mut out);
    write_text(tenant_id, &mut out);
    member("messageKey", &mut out);
    write_key(*message_key, &mut out);
    member("processInstanceKey", &mut out);
    write_key(*process_instance_key, &mut out);
    out.push(b'}');
    Ok(Reply::json(out).timed(answer.timing))
}
