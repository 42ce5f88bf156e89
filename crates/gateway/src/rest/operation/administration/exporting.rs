//! `/v2/exporting`: whether records go to exporters.

use std::collections::BTreeSet;

use http::StatusCode;

use super::super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::object;

/// `GET /v2/exporting`
pub(crate) async fn status(call: &Call<'_>) -> Result<Reply, Failure> {
    let phases = call.operations()?.partitions().into_values().map(|partition| partition.exporter_phase);
    let mut out = Vec::with_capacity(32);
    object(&mut out).with("status", status_of(phases.collect())).end();
    Ok(Reply::json(out))
}

/// The status of all partitions together.
fn status_of(mut phases: BTreeSet<&'static str>) -> &'static str {
    // Without exporters nothing is paused.
    if phases.remove("CLOSED") {
        phases.insert("EXPORTING");
    }
    match phases.len() {
        0 => "EXPORTING",
        1 => phases.first().expect("there is one"),
        _ => "MIXED",
    }
}

/// `POST /v2/exporting/pause[?soft=true]`: on all brokers, kept over restarts.
pub(crate) async fn pause(call: &Call<'_>) -> Result<Reply, Failure> {
    call.operations()?.pause_exporting(call.is_set("soft")?).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

/// `POST /v2/exporting/resume`
pub(crate) async fn resume(call: &Call<'_>) -> Result<Reply, Failure> {
    call.operations()?.resume_exporting().await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_that_disagree_are_mixed() {
        for (phases, status) in [
            (&[][..], "EXPORTING"),
            (&["EXPORTING", "EXPORTING"], "EXPORTING"),
            (&["SOFT_PAUSED"], "SOFT_PAUSED"),
            (&["PAUSED", "SOFT_PAUSED"], "MIXED"),
            (&["CLOSED"], "EXPORTING"),
            (&["CLOSED", "PAUSED"], "MIXED"),
        ] {
            assert_eq!(status_of(phases.iter().copied().collect()), status, "{phases:?}");
        }
    }
}
