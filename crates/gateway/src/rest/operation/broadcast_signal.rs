//! `POST /v2/signals/broadcast`

use protocol::{BroadcastSignal, Command, Response};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

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
    object(&mut out).with("tenantId", tenant_id).with("signalKey", Digits(*signal_key)).end();
    Ok(Reply::json(out).timed(answer.timing))
}
