//! `GET /v2/process-instances/{processInstanceKey}/call-hierarchy`: the root first, the instance itself last.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_key, write_list, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::CallHierarchy { process_instance_key: call.key()? }).await?;
    let QueryReply::CallHierarchy(entries) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(640);
    write_list(&entries, &mut out, |entry, out| {
        out.push(b'{');
        member("processInstanceKey", out);
        write_key(entry.process_instance_key, out);
        member("processDefinitionKey", out);
        write_key(entry.process_definition_key, out);
        member("processDefinitionName", out);
        write_text(&entry.process_name, out);
        out.push(b'}');
    });
    Ok(Reply::json(out))
}
