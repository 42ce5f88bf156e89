//! Which instances are under way, from their intended start to the answer to the completion of their last job.
//!
//! With streaming, a job can be done before the answer to its instance's creation is read, so either may come first.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::record::{Recorder, lock};

const SHARDS: usize = 16;
/// Instances followed at a time, about 50 bytes each; more run unobserved.
const TRACKED_MAX: u64 = 1 << 20;
/// An instance that takes longer is given up, so that a closed loop whose jobs got lost goes on.
const AGE_MAX: Duration = Duration::from_mins(1);

enum Tracked {
    /// The creation was answered; so many jobs are still to do.
    Started { intended_nanos: u64, jobs_left: u32 },
    /// Jobs done before the creation was answered.
    Ahead { jobs_done: u32, last_nanos: u64 },
}

/// Follows instances. Shared by starters and workers.
pub(crate) struct Tracker {
    shards: [Mutex<HashMap<i64, Tracked>>; SHARDS],
    count: AtomicU64,
    recorder: Arc<Recorder>,
    /// Room for another instance in a closed loop.
    room: Option<Arc<Semaphore>>,
    lost: AtomicU64,
}

impl Tracker {
    pub(crate) fn new(recorder: Arc<Recorder>, room: Option<Arc<Semaphore>>) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            count: AtomicU64::new(0),
            recorder,
            room,
            lost: AtomicU64::new(0),
        }
    }

    /// The creation of instance `key`, which ends with so many jobs, was answered.
    pub(crate) fn started(&self, key: i64, intended: Instant, jobs: u32) {
        let intended_nanos = self.recorder.nanos(intended);
        let ended = {
            let mut shard = lock(self.shard(key));
            match shard.entry(key) {
                Entry::Occupied(mut entry) => match *entry.get() {
                    Tracked::Ahead { jobs_done, last_nanos } if jobs_done >= jobs => {
                        entry.remove();
                        Some(last_nanos)
                    }
                    Tracked::Ahead { jobs_done, .. } => {
                        entry.insert(Tracked::Started { intended_nanos, jobs_left: jobs - jobs_done });
                        None
                    }
                    Tracked::Started { .. } => None,
                },
                Entry::Vacant(entry) => {
                    if self.count.fetch_add(1, Ordering::Relaxed) >= TRACKED_MAX {
                        self.count.fetch_sub(1, Ordering::Relaxed);
                        self.give_room(1);
                    } else {
                        entry.insert(Tracked::Started { intended_nanos, jobs_left: jobs });
                    }
                    None
                }
            }
        };
        if let Some(ended_nanos) = ended {
            self.ended(intended_nanos, ended_nanos);
        }
    }

    /// The completion of a job of instance `key` was answered.
    pub(crate) fn job_done(&self, key: i64) {
        let now_nanos = self.recorder.nanos(Instant::now());
        let intended_nanos = {
            let mut shard = lock(self.shard(key));
            match shard.entry(key) {
                Entry::Occupied(mut entry) => match entry.get_mut() {
                    Tracked::Started { intended_nanos, jobs_left: 0 | 1 } => {
                        let intended_nanos = *intended_nanos;
                        entry.remove();
                        Some(intended_nanos)
                    }
                    Tracked::Started { jobs_left, .. } => {
                        *jobs_left -= 1;
                        None
                    }
                    Tracked::Ahead { jobs_done, last_nanos } => {
                        *jobs_done += 1;
                        *last_nanos = now_nanos;
                        None
                    }
                },
                Entry::Vacant(entry) => {
                    if self.count.fetch_add(1, Ordering::Relaxed) >= TRACKED_MAX {
                        self.count.fetch_sub(1, Ordering::Relaxed);
                    } else {
                        entry.insert(Tracked::Ahead { jobs_done: 1, last_nanos: now_nanos });
                    }
                    None
                }
            }
        };
        if let Some(intended_nanos) = intended_nanos {
            self.ended(intended_nanos, now_nanos);
        }
    }

    fn ended(&self, intended_nanos: u64, ended_nanos: u64) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        self.recorder.execution(intended_nanos, ended_nanos);
        self.give_room(1);
    }

    /// Where the measured values go.
    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }

    /// Gives room for more instances in a closed loop.
    pub(crate) fn give_room(&self, count: usize) {
        if let Some(room) = &self.room {
            room.add_permits(count);
        }
    }

    /// Gives up what is older than [`AGE_MAX`]: jobs of somebody else's instances, instances whose jobs got lost.
    pub(crate) fn sweep(&self, now: Instant) {
        let Some(oldest) = self.recorder.nanos(now).checked_sub(AGE_MAX.as_nanos() as u64) else { return };
        for shard in &self.shards {
            let (mut removed, mut lost) = (0, 0);
            lock(shard).retain(|_, tracked| {
                let (keep, started) = match tracked {
                    Tracked::Started { intended_nanos, .. } => (*intended_nanos >= oldest, true),
                    Tracked::Ahead { last_nanos, .. } => (*last_nanos >= oldest, false),
                };
                removed += u64::from(!keep);
                lost += usize::from(!keep && started);
                keep
            });
            self.count.fetch_sub(removed, Ordering::Relaxed);
            self.lost.fetch_add(lost as u64, Ordering::Relaxed);
            self.give_room(lost);
        }
    }

    /// Instances started but not ended; counts as lost what is left in the end.
    pub(crate) fn under_way(&self) -> u64 {
        let started = |tracked: &&Tracked| matches!(tracked, Tracked::Started { .. });
        self.shards.iter().map(|shard| lock(shard).values().filter(started).count() as u64).sum()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn shard(&self, key: i64) -> &Mutex<HashMap<i64, Tracked>> {
        &self.shards[key as usize % SHARDS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracker() -> (Tracker, Arc<Recorder>, Arc<Semaphore>) {
        let (recorder, room) = (Arc::new(Recorder::new()), Arc::new(Semaphore::new(0)));
        (Tracker::new(Arc::clone(&recorder), Some(Arc::clone(&room))), recorder, room)
    }

    #[test]
    fn ends_with_its_last_job() {
        let (tracker, recorder, room) = tracker();
        tracker.started(7, Instant::now(), 2);
        tracker.job_done(7);
        assert_eq!((recorder.counts().completed, room.available_permits(), tracker.under_way()), (0, 0, 1));
        tracker.job_done(7);
        assert_eq!((recorder.counts().completed, room.available_permits(), tracker.under_way()), (1, 1, 0));
    }

    #[test]
    fn jobs_may_be_done_before_the_creation_is_answered() {
        let (tracker, recorder, room) = tracker();
        tracker.job_done(-7);
        tracker.job_done(-7);
        assert_eq!(recorder.counts().completed, 0);
        tracker.started(-7, Instant::now(), 2);
        assert_eq!((recorder.counts().completed, room.available_permits()), (1, 1));

        tracker.job_done(8);
        tracker.started(8, Instant::now(), 2);
        assert_eq!(recorder.counts().completed, 1);
        tracker.job_done(8);
        assert_eq!((recorder.counts().completed, tracker.under_way()), (2, 0));
        assert_eq!(tracker.count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_is_too_old_is_given_up_and_its_room_returned() {
        let (tracker, _, room) = tracker();
        tracker.started(1, Instant::now(), 1);
        tracker.job_done(2);
        tracker.sweep(Instant::now());
        assert_eq!((tracker.lost(), tracker.under_way()), (0, 1));
        tracker.sweep(Instant::now() + AGE_MAX + Duration::from_secs(1));
        assert_eq!((tracker.lost(), tracker.under_way(), room.available_permits()), (1, 0, 1));
        assert_eq!(tracker.count.load(Ordering::Relaxed), 0);
    }
}
