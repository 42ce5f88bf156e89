//! `POST /v2/signals/broadcast`

use protocol::{BroadcastSignal, Command, Response};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_key, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = BroadcastSignal {
        name: call.fields.name_or_empty("signalName"),
        variables: call.document("variables")?,
        tenant_id: call.fields.tenant(),
    };
    let answer = call.submit("BROADCAST", Command::BroadcastSignal(command)).await?;
    let Response::SignalBroadcast { signal_key, tenant_id } = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(96);
    out.push(b'{');
    member("tenantId", &mut out);
    write_text(tenant_id, &mut out);
    member("signalKey", &mut out);
    write_key(*signal_key, &mut out);
    out.push(b'}');
    Ok(Reply::json(out).timed(answer.timing))
}
