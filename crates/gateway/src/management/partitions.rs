//! Partitions: how far they are, pausing and resuming what they do, and writing their state to disk.

use std::collections::BTreeMap;

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use http::StatusCode;
use protocol::FIRST_PARTITION;

use super::operate::{running, serialized};
use super::operations::Slot;
use super::problem::Problem;

/// `GET /actuator/partitions`.
pub(super) async fn list(State(slot): State<Slot>) -> Result<Response, Problem> {
    serialized(running(&slot)?.partitions())
}

/// `GET /actuator/cluster`.
pub(super) async fn cluster(State(slot): State<Slot>) -> Result<Response, Problem> {
    serialized(running(&slot)?.cluster())
}

/// `POST /actuator/partitions/{action}`: does it and answers as [`list`]; `compareStates` answers with what it found.
pub(super) async fn change(
    State(slot): State<Slot>,
    Path(action): Path<String>,
) -> Result<Response, Problem> {
    let broker = running(&slot)?;
    if action == "compareStates" {
        return serialized(BTreeMap::from([(FIRST_PARTITION, broker.compare_states().await?)]));
    }
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
                 resumeExporting, prepareUpgrade or compareStates, but found '{other}'"
            );
            return Err(Problem::new(StatusCode::NOT_FOUND, detail));
        }
    }
    serialized(broker.partitions())
}

/// `POST /actuator/rebalance[?broker=N]`: hands partition 1 to a broker, 0 unless another is named, and answers with
/// the one that leads.
pub(super) async fn rebalance(
    State(slot): State<Slot>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let wanted = match query.as_deref() {
        None | Some("") => Some(0),
        Some(query) => query.strip_prefix("broker=").and_then(|number| number.parse().ok()),
    };
    let Some(wanted) = wanted else {
        let query = query.unwrap_or_default();
        let detail = format!("Expected 'broker' to be the number of a broker, but the query was '{query}'");
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    };
    let leader = running(&slot)?.hand_over(Some(wanted)).await?;
    serialized(BTreeMap::from([(FIRST_PARTITION, leader)]))
}
