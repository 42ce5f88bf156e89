//! Partitions: how far they are, pausing and resuming what they do, and writing their state to disk.

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use http::StatusCode;

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

/// `POST /actuator/cluster/purge[?dryRun=true]`: 202, and 409 while another change goes on.
pub(super) async fn purge(State(slot): State<Slot>, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let dry_run = match query.as_deref() {
        None | Some("" | "dryRun=false") => false,
        Some("dryRun=true") => true,
        Some(other) => {
            let detail = format!("Expected 'dryRun' to be true or false, but the query was '{other}'");
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
        }
    };
    let mut response = serialized(running(&slot)?.purge(dry_run).await?)?;
    *response.status_mut() = StatusCode::ACCEPTED;
    Ok(response)
}

/// `POST /actuator/partitions/{action}`: does it and answers as [`list`]; `compareStates` answers with what it found.
pub(super) async fn change(
    State(slot): State<Slot>,
    Path(action): Path<String>,
) -> Result<Response, Problem> {
    let broker = running(&slot)?;
    if action == "compareStates" {
        return serialized(broker.compare_states().await?);
    }
    match &*action {
        "takeSnapshot" => broker.write_state().await?,
        "beginHistory" => broker.begin_history().await?,
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
                 resumeExporting, prepareUpgrade, beginHistory or compareStates, but found '{other}'"
            );
            return Err(Problem::new(StatusCode::NOT_FOUND, detail));
        }
    }
    serialized(broker.partitions())
}

/// `POST /actuator/rebalance[?broker=N]`: hands all partitions to a broker, or each to the one that is to lead it by
/// its place, and answers with the one that leads each.
pub(super) async fn rebalance(
    State(slot): State<Slot>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let wanted = match query.as_deref() {
        None | Some("") => Some(None),
        Some(query) => query.strip_prefix("broker=").and_then(|number| number.parse().ok()).map(Some),
    };
    let Some(wanted) = wanted else {
        let query = query.unwrap_or_default();
        let detail = format!("Expected 'broker' to be the number of a broker, but the query was '{query}'");
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    };
    serialized(running(&slot)?.hand_over(wanted).await?)
}
