//! `GET /v2/system/configuration`: what clients may want to know of limits. Statistics of jobs are counted where searches
//! are answered, by the minute and whatever the names are; one answer has so many groups.

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::GROUPS_MAX;
use crate::rest::reply::Reply;
use crate::rest::writer::{integer_member, member, write_flag, write_text};

/// As the contract has it.
const TENANT_CHARS_MAX: u32 = 256;

#[expect(clippy::unused_async, reason = "all handlers have one shape")]
pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(b"{\"jobMetrics\":{");
    member("enabled", &mut out);
    write_flag(call.storage().is_ok(), &mut out);
    member("exportInterval", &mut out);
    write_text("PT1M", &mut out);
    integer_member("maxWorkerNameLength", i32::MAX, &mut out);
    integer_member("maxJobTypeLength", i32::MAX, &mut out);
    integer_member("maxTenantIdLength", TENANT_CHARS_MAX, &mut out);
    integer_member("maxUniqueKeys", GROUPS_MAX, &mut out);
    out.extend_from_slice(b"}}");
    Ok(Reply::json(out))
}
