//! `GET /v2/resources/{resourceKey}`: what is known of a file that is neither a model nor a form.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Resource { key: call.key()?, with_content: false }).await?;
    let QueryReply::Resource(file) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(256);
    object(&mut out)
        .with("resourceName", &file.resource_name)
        .with("version", file.version)
        .with("versionTag", file.version_tag.as_ref())
        .with("resourceId", &file.id)
        .with("tenantId", &file.tenant_id)
        .with("resourceKey", Digits(file.key))
        .end();
    Ok(Reply::json(out))
}
