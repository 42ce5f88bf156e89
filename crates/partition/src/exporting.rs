//! The exporters of a partition: the refusal of work when they lag, and those that are not configured any more.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use broker_api::SubmitError;
use engine::Engine;
use export::Hub;
use state::StateError;

use crate::flow_control::Class;
use crate::options::PartitionOptions;
use crate::write_limit::{Exported, WriteLimit};

/// How long shutdown waits for exporters to flush what they took.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether there is room for the records of commands of a class.
pub(crate) fn check(exports: &Hub, class: Class) -> Result<(), SubmitError> {
    match exports.overload() {
        Some(overload) if overload.everything || class == Class::New => Err(SubmitError::ResourceExhausted(
            format!("Expected to handle the command, but {}", overload.reason),
        )),
        _ => Ok(()),
    }
}

/// The write limit as it is configured; what finds no room is dealt with as flow control does.
pub(crate) fn write_limit(options: &PartitionOptions) -> WriteLimit {
    let flow = &options.flow_control;
    WriteLimit::new(
        options.number,
        options.write_limit.clone(),
        flow.overflow,
        flow.max_wait,
        flow.max_waiting,
    )
}

/// How far the exporters are.
pub(crate) fn exported(exports: &Hub) -> Exported {
    let status = exports.status();
    let backlog = status.exporters.iter().map(|exporter| exporter.backlog_records).max();
    Exported { position: status.acknowledged_position, backlog: backlog.unwrap_or(0) }
}

/// IDs of exporters that are told at the most when they are not configured any more.
const FORMER_MAX: usize = 100;

/// Exporters that have acknowledged something once, but are not configured any more.
pub(crate) fn former(engine: &Engine, exports: Option<&Hub>) -> Result<Vec<String>, StateError> {
    let configured = exports.map(|exports| exports.status().exporters).unwrap_or_default();
    let known = engine.tables().exporters.keys(.., FORMER_MAX)?;
    let is_former = |id: &String| configured.iter().all(|exporter| exporter.id != *id);
    Ok(known.into_iter().map(|id| id.to_string()).filter(is_former).collect())
}

/// Lets exporters flush what they took, and ends them.
pub(crate) async fn stop(exports: Arc<Hub>) {
    let stopped = tokio::task::spawn_blocking(move || exports.shutdown(STOP_TIMEOUT)).await;
    if !stopped.unwrap_or(false) {
        tracing::warn!(
            "an exporter is blocked and was left behind; its unacknowledged records are exported again"
        );
    }
}

/// Forgets what is kept of an exporter beside its position.
pub(crate) async fn forget(
    exports: Option<Arc<Hub>>,
    directory: PathBuf,
    id: String,
) -> Result<(), SubmitError> {
    let forget = move || match exports {
        Some(exports) => exports.forget(&id),
        None => Hub::forget_in(&directory, &id),
    };
    let forgotten = tokio::task::spawn_blocking(forget).await;
    let forgotten = forgotten.map_err(|error| SubmitError::Internal(error.to_string()))?;
    forgotten.map_err(|error| SubmitError::Internal(error.to_string()))
}
