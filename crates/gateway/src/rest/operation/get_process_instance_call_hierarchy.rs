//! `GET /v2/process-instances/{processInstanceKey}/call-hierarchy`: the root first, the instance itself last.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object, write_list};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::CallHierarchy { process_instance_key: call.key()? }).await?;
    let QueryReply::CallHierarchy(entries) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(640);
    write_list(&entries, &mut out, |entry, out| {
        object(out)
            .with("processInstanceKey", Digits(entry.process_instance_key))
            .with("processDefinitionKey", Digits(entry.process_definition_key))
            .with("processDefinitionName", &entry.process_name)
            .end();
    });
    Ok(Reply::json(out))
}
