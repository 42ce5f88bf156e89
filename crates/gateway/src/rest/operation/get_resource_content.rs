//! `GET /v2/resources/{resourceKey}/content`: the file as it was deployed, not wrapped into anything.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::download::Download;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Resource { key: call.key()?, with_content: true }).await?;
    let QueryReply::Resource(file) = reply else { return Err(unexpected(&reply)) };
    let content_type = match std::str::from_utf8(&file.content) {
        Ok(text) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => "application/json",
        Ok(_) => "text/plain; charset=utf-8",
        Err(_) => "application/octet-stream",
    };
    let download = Download::new(content_type, &file.resource_name);
    Ok(Reply::file(file.content, download))
}
