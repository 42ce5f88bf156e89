//! `GET /v2/resources/{resourceKey}`: what is known of a file that is neither a model nor a form.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_key, write_optional_text, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Resource { key: call.key()?, with_content: false }).await?;
    let QueryReply::Resource(file) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(256);
    out.push(b'{');
    member("resourceName", &mut out);
    write_text(&file.resource_name, &mut out);
    member("version", &mut out);
    write_integer(file.version, &mut out);
    member("versionTag", &mut out);
    write_optional_text(file.version_tag.as_ref(), &mut out);
    member("resourceId", &mut out);
    write_text(&file.id, &mut out);
    member("tenantId", &mut out);
    write_text(&file.tenant_id, &mut out);
    member("resourceKey", &mut out);
    write_key(file.key, &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}
