//! `GET /v2/system/configuration`: what clients may want to know of limits. Statistics of jobs are counted where
//! searches are answered, by the minute and whatever the names are; one answer has so many groups.

use super::Call;
use crate::rest::limits::GROUPS_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::object;

/// As the contract has it.
const TENANT_CHARS_MAX: u32 = 256;

#[expect(clippy::unused_async, reason = "all handlers have one shape")]
pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let options = &call.gateway.options;
    let mut out = Vec::with_capacity(512);
    object(&mut out)
        .object("jobMetrics", |object| {
            object
                .with("enabled", call.storage().is_ok())
                .with("exportInterval", "PT1M")
                .with("maxWorkerNameLength", i32::MAX)
                .with("maxJobTypeLength", i32::MAX)
                .with("maxTenantIdLength", TENANT_CHARS_MAX)
                .with("maxUniqueKeys", GROUPS_MAX)
        })
        // There is no web application yet, and no session of a browser to end.
        .object("components", |object| object.raw("active", "[]"))
        .object("deployment", |object| {
            object
                .with("isMultiTenancyEnabled", options.tenancy.is_enabled)
                .with("maxRequestSize", call.gateway.broker.max_message_bytes())
        })
        .object("authentication", |object| object.with("canLogout", false).with("isLoginDelegated", false))
        .object("cloud", |object| object.with("stage", ()))
        .end();
    Ok(Reply::json(out))
}
