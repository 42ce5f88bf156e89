//! `POST /v2/documents/{documentId}/links`: an address in the cloud that lets whoever has it read the document for
//! a while. A store in a directory or in memory has none to hand out, and says so.

use std::time::Duration;

use http::StatusCode;

use super::{Call, document};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Moment, object};

/// How long a link is good if nobody says, in milliseconds.
const DEFAULT_LIFE_MS: i64 = 3_600_000;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let store = document::store(call)?;
    let life_ms =
        if call.fields.is_declared("timeToLive") { call.fields.integer("timeToLive") } else { None };
    // Values below one are refused.
    let life = Duration::from_millis(u64::try_from(life_ms.unwrap_or(DEFAULT_LIFE_MS)).unwrap_or(0));
    let hash = call.query_parameter("contentHash")?;
    let found = document::find(call, store, hash.as_deref()).await?;
    let link = document::told(call, store, store.link(&found, life, document::now_ms()).await)?;
    let mut out = Vec::with_capacity(1024);
    object(&mut out).with("url", &link.url).with("expiresAt", Moment(link.expires_at_ms)).end();
    Ok(Reply { status: StatusCode::CREATED, ..Reply::json(out) })
}
