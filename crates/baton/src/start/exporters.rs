//! The exporters of the broker, as the management port asks for them.

use std::sync::Arc;

use broker::Node;
use export::{ChangeError, Hub};
use gateway::management::{ExporterStatus, OperationError, ParkedRecord, Replayed};

/// Those that are configured, and those that once were.
pub(super) fn list(node: &Node) -> Vec<ExporterStatus> {
    let configured = node.exporting().map(|status| status.exporters).unwrap_or_default();
    let parked = |id: &str| node.hubs().map(|(_, exports)| exports.parked_count(id)).sum();
    let configured = configured.into_iter().map(|one| ExporterStatus {
        parked_records: parked(&one.id),
        exporter_id: one.id,
        status: if one.enabled { "ENABLED" } else { "DISABLED" },
        exported_position: Some(one.acknowledged_position),
        backlog_records: one.backlog_records,
        backlog_seconds: one.backlog.as_millis() as f64 / 1000.0,
        failure: one.failure,
    });
    let former = node.former_exporters().into_iter().map(|id| ExporterStatus {
        exporter_id: id,
        status: "CONFIG_NOT_FOUND",
        exported_position: None,
        backlog_records: 0,
        backlog_seconds: 0.0,
        parked_records: 0,
        failure: None,
    });
    configured.chain(former).collect()
}

pub(super) async fn switch(
    node: &Node,
    id: String,
    enabled: bool,
    like: Option<String>,
) -> Result<(), OperationError> {
    node.switch_exporter(id, enabled, like).await.map_err(|error| failed(&error))
}

pub(super) async fn parked(node: &Node, id: String) -> Result<Vec<ParkedRecord>, OperationError> {
    let parked = with(node, id, Hub::parked).await?;
    let shown = parked.into_iter().map(|one| {
        let record = serde_json::to_value(&one.record);
        record.map(|record| ParkedRecord { reason: one.reason, parked_at_ms: one.parked_ms, record })
    });
    shown.collect::<Result<_, _>>().map_err(|error| OperationError::Failed(error.to_string()))
}

pub(super) async fn replay(node: &Node, id: String) -> Result<Replayed, OperationError> {
    let done = node.replay_parked(&id).await.map_err(|error| failed(&error))?;
    Ok(Replayed { replayed: done.replayed, refused: done.refused, reason: done.reason })
}

/// Gathers something from the exporters of all partitions; it may block.
async fn with<T: Send + 'static>(
    node: &Node,
    id: String,
    work: impl Fn(&Hub, &str) -> Result<Vec<T>, ChangeError> + Send + 'static,
) -> Result<Vec<T>, OperationError> {
    let all: Vec<Arc<Hub>> = node.hubs().map(|(_, exports)| Arc::clone(exports)).collect();
    if all.is_empty() {
        return Err(failed(&ChangeError::Unknown(id)));
    }
    let done = tokio::task::spawn_blocking(move || {
        all.iter().map(|exports| work(exports, &id)).collect::<Result<Vec<Vec<T>>, _>>()
    });
    let done = done.await.map_err(|error| OperationError::Failed(error.to_string()))?;
    Ok(done.map_err(|error| failed(&error))?.into_iter().flatten().collect())
}

fn failed(error: &ChangeError) -> OperationError {
    let text = error.to_string();
    match error {
        ChangeError::Unknown(_) => OperationError::NotFound(text),
        ChangeError::Disabled(_) => OperationError::Invalid(text),
        ChangeError::Busy(_) | ChangeError::File(_) => OperationError::Failed(text),
    }
}
