//! The watch over applying: which batch is being applied, since when, and whether that takes too long.
//!
//! Applying holds the engine, and at a start it comes before anything else, so whoever wants to know looks here: a few
//! numbers that the partition's thread sets when it begins and when it ends. A batch that takes too long is told in the
//! log once, and noted in a file of the data directory, where `baton partition skip` finds it when the server is gone.
//!
//! Only time in which the process runs is counted: one that was stopped for a while (SIGSTOP, a frozen machine) has
//! applied nothing meanwhile.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use protocol::{Key, PartitionId};
use serde::{Deserialize, Serialize};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use data_directory::durable_file;

/// Interval at which the watch looks at the batch being applied.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Longest time counted between two looks: beyond it, the process was suspended.
const LOOK_MAX: Duration = Duration::from_secs(1);
/// The name of the note in the data directory, for a partition.
fn note(partition: PartitionId) -> String {
    // That of earlier releases, which had one partition.
    if partition == 1 { "slow-batch.json".to_owned() } else { format!("slow-batch-{partition}.json") }
}

/// A batch that has been applied for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlowBatch {
    /// The partition that stands still.
    pub partition_id: PartitionId,
    /// Position of the batch in the log.
    pub position: u64,
    /// The process instance at work now, if one is.
    pub process_instance_key: Option<Key>,
    /// Time for which it has been applied.
    pub time: Duration,
}

impl SlowBatch {
    /// Describes the batch for operators.
    pub fn describe(&self) -> String {
        let Self { partition_id, position, process_instance_key, time } = self;
        let at = process_instance_key.map_or_else(String::new, |key| format!(", at process instance {key}"));
        format!(
            "partition {partition_id} has been applying the batch at position {position} of its log for {} s{at}",
            time.as_secs()
        )
    }
}

/// The record of a slow batch that outlives the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SlowBatchNote {
    pub partition_id: PartitionId,
    pub position: u64,
    pub process_instance_key: Option<Key>,
}

impl SlowBatchNote {
    fn path(data_dir: &Path, partition: PartitionId) -> PathBuf {
        data_dir.join(note(partition))
    }

    pub fn read(data_dir: &Path, partition: PartitionId) -> std::io::Result<Option<Self>> {
        match std::fs::read(Self::path(data_dir, partition)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn write(&self, data_dir: &Path) -> std::io::Result<()> {
        durable_file::write(&Self::path(data_dir, self.partition_id), &serde_json::to_vec(self)?)
    }

    pub fn remove(data_dir: &Path, partition: PartitionId) -> std::io::Result<()> {
        match std::fs::remove_file(Self::path(data_dir, partition)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Progress of the partition's thread. Clones are cheap and share it.
#[derive(Clone)]
pub struct ApplyWatch(Arc<WatchState>);

/// The setting only: two watches with the same limit look alike, whatever they are at.
impl std::fmt::Debug for ApplyWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApplyWatch").field("limit", &self.0.limit).finish_non_exhaustive()
    }
}

struct WatchState {
    partition: PartitionId,
    limit: Duration,
    began: Instant,
    /// Position of the batch that is being applied; 0 is none.
    position: AtomicU64,
    /// When that was begun, by [`WatchState::running_ms`].
    since_ms: AtomicU64,
    /// Milliseconds since `began` at the last look, and for how long the process had run by then.
    looked_ms: AtomicU64,
    run_ms: AtomicU64,
    /// The process instance at work; 0 is none.
    at_work: Arc<AtomicU64>,
}

impl WatchState {
    fn elapsed_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// For how long the process has run, so many milliseconds after `began`.
    fn running_ms(&self, elapsed_ms: u64) -> u64 {
        let since_look = elapsed_ms.saturating_sub(self.looked_ms.load(Ordering::Acquire));
        self.run_ms.load(Ordering::Acquire) + since_look.min(LOOK_MAX.as_millis() as u64)
    }

    /// A look; they come at [`LOOK_INTERVAL`] while the process runs.
    fn look(&self, elapsed_ms: u64) {
        let run_ms = self.running_ms(elapsed_ms);
        // In this order: whoever reads in between counts less rather than more.
        self.looked_ms.store(elapsed_ms, Ordering::Release);
        self.run_ms.store(run_ms, Ordering::Release);
    }
}

/// Marks that a batch is being applied; ends by dropping it.
pub(crate) struct Applying(Arc<WatchState>);

impl Drop for Applying {
    fn drop(&mut self) {
        self.0.position.store(0, Ordering::Release);
    }
}

impl ApplyWatch {
    /// A watch of a partition that finds applying too slow after this time.
    pub fn new(partition: PartitionId, limit: Duration) -> Self {
        Self(Arc::new(WatchState {
            partition,
            limit,
            began: Instant::now(),
            position: AtomicU64::new(0),
            since_ms: AtomicU64::new(0),
            looked_ms: AtomicU64::new(0),
            run_ms: AtomicU64::new(0),
            at_work: Arc::default(),
        }))
    }

    /// Time after which applying counts as too slow.
    pub fn limit(&self) -> Duration {
        self.0.limit
    }

    /// Where the engine notes the instance at work.
    pub(crate) fn at_work(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.0.at_work)
    }

    /// Marks that applying a batch begins. It ends when the guard is dropped, however it ends.
    pub(crate) fn begin(&self, position: u64) -> Applying {
        debug_assert_ne!(position, 0, "entry 0 is no batch");
        self.0.at_work.store(0, Ordering::Relaxed);
        self.0.since_ms.store(self.0.running_ms(self.0.elapsed_ms()), Ordering::Relaxed);
        self.0.position.store(position, Ordering::Release);
        Applying(Arc::clone(&self.0))
    }

    /// The batch that takes too long, if one does.
    pub fn slow(&self) -> Option<SlowBatch> {
        self.slow_at(self.0.elapsed_ms())
    }

    fn slow_at(&self, elapsed_ms: u64) -> Option<SlowBatch> {
        let position = self.0.position.load(Ordering::Acquire);
        if position == 0 {
            return None;
        }
        let since_ms = self.0.since_ms.load(Ordering::Relaxed);
        let time = Duration::from_millis(self.0.running_ms(elapsed_ms).saturating_sub(since_ms));
        // Another batch may have begun between the looks, and it was as quick as that.
        let is_same = self.0.position.load(Ordering::Acquire) == position;
        let at_work = self.0.at_work.load(Ordering::Relaxed);
        (time >= self.0.limit && is_same).then_some(SlowBatch {
            partition_id: self.0.partition,
            position,
            process_instance_key: (at_work != 0).then_some(at_work),
            time,
        })
    }

    /// Logs slow batches until the broker stops.
    pub(crate) async fn keep(self, data_dir: PathBuf, shutdown: CancellationToken) {
        let mut looks = tokio::time::interval(LOOK_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut told = None;
        loop {
            tokio::select! {
                _ = looks.tick() => {}
                () = shutdown.cancelled() => return,
            }
            self.0.look(self.0.elapsed_ms());
            let slow = self.slow();
            match (slow, told) {
                (Some(slow), told_of) if told_of != Some(slow.position) => {
                    told = Some(slow.position);
                    report(slow, data_dir.clone()).await;
                }
                (None, Some(position)) => {
                    told = None;
                    tracing::warn!(position, "the batch that took too long is applied");
                    forget(self.0.partition, data_dir.clone()).await;
                }
                _ => {}
            }
        }
    }
}

async fn report(slow: SlowBatch, data_dir: PathBuf) {
    let SlowBatch { partition_id, position, process_instance_key, .. } = slow;
    tracing::error!(
        partition_id,
        position,
        process_instance_key,
        "applying a batch takes too long; if it never ends, stop the server and set the batch aside with \
         'baton partition skip'"
    );
    let note = SlowBatchNote { partition_id, position, process_instance_key };
    let written = tokio::task::spawn_blocking(move || note.write(&data_dir)).await;
    if let Ok(Err(error)) = written {
        tracing::error!(%error, "the batch that takes too long cannot be noted in the data directory");
    }
}

/// Removes the note, which would have its reader set aside a batch that is applied.
pub(crate) async fn forget(partition: PartitionId, data_dir: PathBuf) {
    let removed = tokio::task::spawn_blocking(move || SlowBatchNote::remove(&data_dir, partition)).await;
    if let Ok(Err(error)) = removed {
        tracing::error!(%error, "the note of a batch that took too long cannot be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_slow_while_it_takes_longer_than_the_limit() {
        let watch = ApplyWatch::new(1, Duration::ZERO);
        assert_eq!(watch.slow(), None);
        let applying = watch.begin(7);
        watch.at_work().store(42, Ordering::Relaxed);
        let slow = watch.slow().expect("any time is too long");
        assert_eq!((slow.position, slow.process_instance_key), (7, Some(42)));
        assert!(slow.describe().contains("position 7") && slow.describe().contains("instance 42"));
        drop(applying);
        assert_eq!(watch.slow(), None);
        let _applying = watch.begin(8);
        assert_eq!(watch.slow().expect("slow").process_instance_key, None, "of the batch before");

        let patient = ApplyWatch::new(1, Duration::from_secs(3600));
        let _applying = patient.begin(1);
        assert_eq!(patient.slow(), None);
    }

    #[test]
    fn a_pause_of_the_process_is_no_time_of_a_batch() {
        let watch = ApplyWatch::new(1, Duration::from_secs(10));
        let _applying = watch.begin(7);
        for elapsed_ms in (250..=5000).step_by(250) {
            watch.0.look(elapsed_ms);
        }
        assert_eq!(watch.slow_at(5250), None);
        // It stood still for 20 s.
        watch.0.look(25_000);
        assert_eq!(watch.slow_at(25_250), None);
        let mut elapsed_ms = 25_000;
        while watch.slow_at(elapsed_ms).is_none() {
            elapsed_ms += 250;
            watch.0.look(elapsed_ms);
            assert!(elapsed_ms < 30_000, "it is found as soon as it has run for so long");
        }
        // The batch began some milliseconds after the watch, by the real clock: one look later at the most.
        assert!((29_000..=29_250).contains(&elapsed_ms), "5 s, one of the pause, and 4 s: {elapsed_ms}");
    }

    #[test]
    fn the_note_outlives_the_server() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(SlowBatchNote::read(directory.path(), 1).unwrap(), None);
        let note = SlowBatchNote { partition_id: 1, position: 9, process_instance_key: Some(3) };
        note.write(directory.path()).unwrap();
        let other = SlowBatchNote { partition_id: 2, ..note.clone() };
        other.write(directory.path()).unwrap();
        assert_eq!(SlowBatchNote::read(directory.path(), 1).unwrap(), Some(note));
        SlowBatchNote::remove(directory.path(), 1).unwrap();
        SlowBatchNote::remove(directory.path(), 1).unwrap();
        assert_eq!(SlowBatchNote::read(directory.path(), 1).unwrap(), None);
        assert_eq!(SlowBatchNote::read(directory.path(), 2).unwrap(), Some(other), "of another partition");
    }
}
