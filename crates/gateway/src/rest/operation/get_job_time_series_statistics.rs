//! `POST /v2/jobs/statistics/time-series`

use jiff::SpanRelativeTo;
use serde_json::Value;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::{self, JobGroups, JobsAsked, MINUTE_MS};
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let filter = call.fields.value("filter");
    let resolution = match filter.get("resolution").and_then(Value::as_str) {
        Some(text) => resolution(text)?,
        None => MINUTE_MS,
    };
    statistics::of_jobs(call, JobsAsked::of_body(call)?, JobGroups::Times(resolution)).await
}

/// A duration such as `PT1H` in milliseconds, whole minutes.
fn resolution(text: &str) -> Result<i64, Failure> {
    let span: Option<jiff::Span> = text.parse().ok();
    let milliseconds = span.and_then(|span| {
        let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        i64::try_from(duration.as_millis()).ok().filter(|ms| *ms > 0)
    });
    let milliseconds = milliseconds.ok_or_else(|| {
        Failure::invalid(format!("filter.resolution: expected a duration such as PT1H, but found '{text}'"))
    })?;
    Ok(milliseconds.saturating_add(MINUTE_MS - 1) / MINUTE_MS * MINUTE_MS)
}
