//! An old copy whose vote would decide: its replica has acknowledged what only the leader has besides it, and the
//! leader is killed as soon as the copy may have its vote.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;

use super::World;
use crate::archive;
use crate::disk;
use crate::host::LifeEnd;

/// Time of anything from the leader to the replica that was put back: it may take part before it has learned anew what
/// it lacks.
const DELAY_MS: u64 = 700;
/// Time in which a replica has its files open and has asked the others.
const START_MS: u64 = 300;

impl World {
    /// A follower is cut off from the leader, so that all is acknowledged by the other one; an old copy of that one is
    /// put back, and the leader is killed.
    pub(super) async fn outvote(&mut self) {
        let Some(leader) = self.leader_of_all().await else { return };
        let behind = (leader + self.random.between(1, 3) as u32) % 3;
        let old = 3 - leader - behind;
        self.has_lost = true;
        self.excused.insert(old);
        self.say(format!(
            "the data directory of broker {old} is copied, and {behind} is cut off from {leader}"
        ));
        let copy = PathBuf::from(format!("outvoted-{old}"));
        disk::copy(&self.directories[old as usize], &copy).expect("the scratch directory can be written");
        for (from, to) in [(leader, behind), (behind, leader)] {
            self.network.change(from, to, |link| link.is_cut = true);
        }
        self.pause(200, 1_000).await;
        self.say(format!("broker {old} is killed, and the old copy of its directory is put back"));
        self.end(old, LifeEnd::Killed);
        super::copies::put_back(&copy, &self.directories[old as usize], &[])
            .expect("the scratch directory can be written");
        archive::forget(old);
        let delay = Duration::from_millis(DELAY_MS);
        self.network.change(leader, old, |link| link.delay = (delay, delay));
        self.start(old);
        self.pause(START_MS, START_MS + 3 * DELAY_MS).await;
        self.say(format!("broker {leader} is killed, and stays away for a while"));
        self.end(leader, LifeEnd::Killed);
        self.pause(1_500, 3_000).await;
        self.mend();
        self.revive();
    }

    async fn pause(&mut self, least_ms: u64, most_ms: u64) {
        let pause_ms = self.random.between(least_ms, most_ms);
        sleep(Duration::from_millis(pause_ms)).await;
        self.revive();
    }
}
