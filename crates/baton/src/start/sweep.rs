//! Removes expired documents now and then.

use std::time::{Duration, SystemTime};

use documents::Stores;
use tokio_util::sync::CancellationToken;

/// How long it rests between two looks.
const INTERVAL: Duration = Duration::from_mins(5);
/// Documents that one look at a store removes at the most.
const REMOVED_MAX: usize = 1000;

/// Sweeps until `stop`.
pub(super) async fn keep(documents: Stores, stop: CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_some() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now_ms = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        for documents in documents.iter() {
            let store = documents.store_id();
            match stop.run_until_cancelled(documents.sweep(now_ms, REMOVED_MAX)).await {
                None | Some(Ok(0)) => {}
                Some(Ok(count)) => tracing::debug!(count, store, "expired documents are removed"),
                Some(Err(error)) => {
                    tracing::warn!(%error, store, "expired documents could not be removed");
                }
            }
        }
    }
}
