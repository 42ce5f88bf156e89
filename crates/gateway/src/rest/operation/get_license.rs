//! `GET /v2/license`: this is free software, so the licence is valid, not a commercial one, and does not expire.

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

const LICENSE: &[u8] =
    br#"{"validLicense":true,"licenseType":"Apache-2.0","isCommercial":false,"expiresAt":null}"#;

#[expect(clippy::unused_async, reason = "all handlers have one shape")]
pub(super) async fn handle(_: &Call<'_>) -> Result<Reply, Failure> {
    Ok(Reply::json(LICENSE.to_vec()))
}
