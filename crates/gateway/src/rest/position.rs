//! Waits until secondary storage shows what a command did.

use broker_api::Broker;
use http::{HeaderMap, HeaderName, HeaderValue};
use protocol::PartitionId;
use tokio::time::Instant;

use super::problem::Failure;
use super::problem_code::Code;
use super::storage::Storage;
use crate::position;

/// Asks to wait for a position that an answer told.
pub(super) const AWAIT_POSITION: HeaderName = HeaderName::from_static("baton-await-position");

/// Names the answer to `changes` that a read follows, by its `after`. Such a read need not be fresher than the hint.
const AFTER_CHANGE: HeaderName = HeaderName::from_static("baton-after-change");

/// Whether a request follows a hint that this broker has told; others are no worse for it.
pub(super) fn follows_hint(storage: &Storage, headers: &HeaderMap) -> bool {
    let name = headers.get(AFTER_CHANGE).and_then(|value| value.to_str().ok());
    name.is_some_and(|name| storage.progress.changes.has_told(name))
}

/// Waits until secondary storage shows positions.
pub(super) async fn wait(
    storage: &Storage,
    broker: &dyn Broker,
    wanted: &HeaderValue,
) -> Result<(), Failure> {
    let wanted = position::parse(wanted).ok_or_else(|| {
        Failure::invalid(
            "baton-await-position: expected a partition, a colon and a position, as in 1:2345, \
             or several of these with commas between them",
        )
    })?;
    // A partition that is shown is there: the topology is made for each look at it.
    let is_there = |partition: PartitionId| {
        storage.progress.position(partition) > 0
            || (1..=broker.topology().partitions_count).contains(&u32::from(partition))
    };
    if let Some((partition, _)) = wanted.iter().find(|(partition, _)| !is_there(*partition)) {
        // Nothing will ever be shown of it.
        return Err(Failure::invalid(format!("baton-await-position: there is no partition {partition}")));
    }
    let until = Instant::now() + storage.wait_max;
    for (partition, position) in wanted {
        let left = until.saturating_duration_since(Instant::now());
        if !storage.progress.wait(partition, position, left).await {
            let detail = format!(
                "Expected secondary storage to show position {position} of partition {partition} within {} ms, but it is at {}",
                storage.wait_max.as_millis(),
                storage.progress.position(partition)
            );
            return Err(Failure::new(Code::StorageBehind, detail));
        }
    }
    Ok(())
}
