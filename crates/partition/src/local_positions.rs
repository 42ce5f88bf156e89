//! Positions of exporters that this broker has for itself, beside those of the state.

use planted::Bug;
use protocol::{FIRST_PARTITION, PartitionId};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use data_directory::durable_file;
use export::Hub;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// How often positions that have changed are noted.
pub(crate) const ACKNOWLEDGE_INTERVAL: Duration = Duration::from_secs(1);

/// The positions of exporters whose targets each broker of a cluster has a copy of: they are those of this broker,
/// not of the partition. A position is noted once the target has everything up to it, or before a snapshot takes the
/// place of the state, since then the target must obtain what it lacks.
#[derive(Debug)]
pub struct LocalPositions {
    path: PathBuf,
    /// Says that this broker runs, or ran, without the copies that others have: it lacks records for them then.
    gap: PathBuf,
    noted: Mutex<BTreeMap<String, u64>>,
}

impl LocalPositions {
    /// The positions of a partition that were noted in a directory, which must exist.
    pub fn open(directory: &Path, partition: PartitionId) -> io::Result<Self> {
        // Files of the first partition have the names that they had when there was no other.
        let further = if partition == FIRST_PARTITION || planted::has(Bug::SharedPositions) {
            String::new()
        } else {
            format!("-{partition}")
        };
        let path = directory.join(format!("positions{further}.json"));
        let noted = durable_file::read_json(&path)?.unwrap_or_default();
        let gap = directory.join(format!("without-copy{further}"));
        Ok(Self { path, gap, noted: Mutex::new(noted) })
    }

    /// Notes that this broker has no copy from now on: records are not kept for one.
    pub fn begin_gap(&self) -> io::Result<()> {
        if self.gap.try_exists()? { Ok(()) } else { durable_file::write(&self.gap, &[]) }
    }

    /// Notes that this broker has a copy, and where it lacks records. If it had none before, that must obtain
    /// everything up to a position from elsewhere.
    pub fn note_gap(&self, exporter: &str, position: u64) -> io::Result<()> {
        if self.gap.try_exists()? {
            self.note([(exporter.to_owned(), position)])?;
            std::fs::remove_file(&self.gap)?;
        }
        Ok(())
    }

    /// The position of an exporter; 0 for a new one.
    pub fn get(&self, exporter: &str) -> u64 {
        self.noted.lock().get(exporter).copied().unwrap_or(0)
    }

    /// Notes positions, durably. None goes back.
    pub fn note(&self, positions: impl IntoIterator<Item = (String, u64)>) -> io::Result<()> {
        let mut noted = self.noted.lock();
        let mut new = noted.clone();
        for (exporter, position) in positions {
            let known = new.entry(exporter).or_insert(0);
            *known = position.max(*known);
        }
        if new != *noted {
            durable_file::write(&self.path, &serde_json::to_vec(&new).map_err(io::Error::other)?)?;
            *noted = new;
        }
        Ok(())
    }
}

/// Makes ready for a snapshot as of a record position.
pub(crate) fn skip_to(exports: &Hub, local: &LocalPositions, position: u64) -> io::Result<()> {
    let own = exports.status().exporters.into_iter().filter(|exporter| !exporter.is_shared);
    local.note(own.map(|exporter| (exporter.id, position)))?;
    exports.skip_to(position)
}

/// Notes positions of exporters until shutdown.
pub(crate) async fn note(local: Arc<LocalPositions>, exports: Arc<Hub>, shutdown: CancellationToken) {
    let mut ticks = tokio::time::interval(ACKNOWLEDGE_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shutdown.cancelled() => return,
        }
        let exporters = exports.status().exporters.into_iter().filter(|exporter| !exporter.is_shared);
        let positions: Vec<_> =
            exporters.map(|exporter| (exporter.id, exporter.acknowledged_position)).collect();
        let local = Arc::clone(&local);
        let noted = tokio::task::spawn_blocking(move || local.note(positions)).await;
        let noted = noted.unwrap_or_else(|error| Err(io::Error::other(error)));
        if let (Err(error), false) = (&noted, failing) {
            tracing::error!(%error, "positions of exporters cannot be noted; it is tried again");
        }
        failing = noted.is_err();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_stay_and_never_go_back() {
        let directory = tempfile::tempdir().unwrap();
        let of = |position| [("store".to_owned(), position)];
        let positions = LocalPositions::open(directory.path(), FIRST_PARTITION).unwrap();
        assert_eq!(positions.get("store"), 0);
        positions.note(of(7)).unwrap();
        positions.note(of(5)).unwrap();
        positions.note([("other".to_owned(), 3)]).unwrap();
        let positions = LocalPositions::open(directory.path(), FIRST_PARTITION).unwrap();
        assert_eq!((positions.get("store"), positions.get("other")), (7, 3));
    }

    #[test]
    fn a_broker_that_had_no_copy_lacks_what_came_before() {
        let directory = tempfile::tempdir().unwrap();
        let positions = LocalPositions::open(directory.path(), FIRST_PARTITION).unwrap();
        positions.note_gap("store", 5).unwrap();
        assert_eq!(positions.get("store"), 0, "it always had one");
        positions.begin_gap().unwrap();
        let positions = LocalPositions::open(directory.path(), FIRST_PARTITION).unwrap();
        positions.note_gap("store", 7).unwrap();
        positions.note_gap("store", 9).unwrap();
        assert_eq!(positions.get("store"), 7, "it is noted once");
    }

    #[test]
    fn partitions_have_positions_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let open = |partition| LocalPositions::open(directory.path(), partition).unwrap();
        open(1).note([("store".to_owned(), 7)]).unwrap();
        open(2).note([("store".to_owned(), 9)]).unwrap();
        open(2).begin_gap().unwrap();
        open(1).note_gap("store", 20).unwrap();
        open(2).note_gap("store", 30).unwrap();
        assert_eq!([1, 2, 3].map(|partition| open(partition).get("store")), [7, 30, 0]);
    }

    #[test]
    fn a_file_that_is_no_list_of_positions_is_named() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("positions.json"), "{\"store\":").unwrap();
        let error = LocalPositions::open(directory.path(), FIRST_PARTITION).unwrap_err().to_string();
        assert!(error.contains("positions.json"), "{error}");
    }
}
