//! Files that are neither models nor forms: their content, and their form for clients.

use protocol::{FileView, Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::download::Download;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

/// The file of the key in the path.
async fn read(call: &Call<'_>, with_content: bool) -> Result<FileView, Failure> {
    match call.read(Query::Resource { key: call.key()?, with_content }).await? {
        QueryReply::Resource(file) => Ok(file),
        reply => Err(unexpected(&reply)),
    }
}

/// `GET /v2/resources/{resourceKey}`
pub(crate) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let mut out = Vec::with_capacity(256);
    write(&read(call, false).await?, &mut out);
    Ok(Reply::json(out))
}

/// `GET /v2/resources/{resourceKey}/content`: the file as it was deployed, of the type that it seems to be.
pub(crate) async fn get_content(call: &Call<'_>) -> Result<Reply, Failure> {
    let file = read(call, true).await?;
    let content_type = match std::str::from_utf8(&file.content) {
        Ok(text) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => "application/json",
        Ok(_) => "text/plain; charset=utf-8",
        Err(_) => OCTETS,
    };
    Ok(content(file, content_type))
}

/// `GET /v2/resources/{resourceKey}/content/binary`: the same as bytes, whatever they are.
pub(crate) async fn get_bytes(call: &Call<'_>) -> Result<Reply, Failure> {
    Ok(content(read(call, true).await?, OCTETS))
}

const OCTETS: &str = "application/octet-stream";

fn content(file: FileView, content_type: &'static str) -> Reply {
    let download = Download::new(content_type, &file.resource_name);
    Reply::file(file.content, download)
}

/// A file without its content.
pub(super) fn write(file: &FileView, out: &mut Vec<u8>) {
    object(out)
        .with("resourceName", &file.resource_name)
        .with("version", file.version)
        .with("versionTag", file.version_tag.as_ref())
        .with("resourceId", &file.id)
        .with("tenantId", &file.tenant_id)
        .with("resourceKey", Digits(file.key))
        .end();
}
