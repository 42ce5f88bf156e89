//! Partitions: how far they are, pausing and resuming what they do, and writing their state to disk.

use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;

use super::operate::{running, serialized};
use super::operations::Slot;
use super::problem::Problem;

/// `GET /actuator/partitions`.
pub(super) async fn list(State(slot): State<Slot>) -> Result<Response, Problem> {
    serialized(running(&slot)?.partitions())
}

/// `POST /actuator/partitions/{action}`: does it and answers as [`list`].
pub(super) async fn change(
    State(slot): State<Slot>,
    Path(action): Path<String>,
) -> Result<Response, Problem> {
    let broker = running(&slot)?;
    match &*action {
        "takeSnapshot" => broker.write_state().await?,
        "pauseProcessing" => broker.pause_processing().await?,
        "resumeProcessing" => broker.resume_processing().await?,
        "pauseExporting" => broker.pause_exporting(false).await?,
        "softPauseExporting" => broker.pause_exporting(true).await?,
        "resumeExporting" => broker.resume_exporting().await?,
        "prepareUpgrade" => {
            broker.pause_processing().await?;
            broker.write_state().await?;
        }
        other => {
            let detail = format!(
                "Expected takeSnapshot, pauseProcessing, resumeProcessing, pauseExporting, softPauseExporting, \
                 resumeExporting or prepareUpgrade, but found '{other}'"
            );
            return Err(Problem::new(StatusCode::NOT_FOUND, detail));
        }
    }
    serialized(broker.partitions())
}
