//! Kinds of faults: each is brought about, lasts for a while, and is mended.

use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, interval};

use crate::cluster::{BROKERS, Cluster};
use crate::interposer::{Disorder, Interposer};
use crate::pass;
use crate::small_disk::SmallDisk;

/// A broker that is held up stands still for so long: others lead meanwhile.
const HELD_UP: Duration = Duration::from_secs(2);
/// So long that connections of the others to it end.
const HELD_UP_LONG: Duration = Duration::from_secs(10);
const CUT: Duration = Duration::from_secs(3);
/// Longer than a leader that no other broker answers speaks on.
const CUT_LONG: Duration = Duration::from_secs(6);
/// Longer than brokers take to compare their clocks.
const CLOCK_WRONG: Duration = Duration::from_secs(4);
const CLOCK_SECONDS: i64 = 3600;
const DISK_SLOW: Duration = Duration::from_secs(3);
const SYNC_DELAY_MS: i64 = 500;
const DISK_FULL: Duration = Duration::from_secs(3);
const DISK_FAILS: Duration = Duration::from_secs(2);
/// Load goes on for so long after a copy was taken.
const COPY_AGE: Duration = Duration::from_millis(800);
/// Time for a broker that lost its data to have its vote again.
const ADMISSION_MAX: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);
/// Lines of logs.
const VOTE: &str = "a new replica has its vote";
const NO_ROOM: &str = "there is no room on a disk";
const AHEAD: &str = "the clock of this broker is ahead of the others'";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    KillLeader,
    KillFollower,
    KillAll,
    /// Killed, and its data directory is removed.
    LoseLeader,
    LoseFollower,
    /// Killed, and its store of history is removed, if it has one.
    LoseHistoryOfLeader,
    /// Stopped in order, and the same.
    LoseHistoryOfFollower,
    /// Killed, and its data directory is as it was a moment ago.
    OldCopyOfLeader,
    OldCopyOfFollower,
    HoldUpLeader,
    HoldUpFollower,
    HoldUpLong,
    /// Nothing comes from it or to it.
    CutLeader,
    CutFollower,
    /// Nothing comes from it.
    CutFromLeader,
    /// Nothing comes to it.
    CutToLeader,
    CutFromFollower,
    /// The followers do not hear each other.
    CutBetweenFollowers,
    ClockAhead,
    ClockBehind,
    SlowSyncs,
    FullDisk,
    /// Less room on the disk of history than brokers leave free.
    LowDisk,
    LowDiskOfFollower,
    /// Less room than brokers leave free on all disks, so that commands are refused.
    LowDisks,
    FailingSyncs,
    FailingSyncsOfFollower,
    /// Its state is of no use after that: it needs a new start, which reads the files again.
    FailingReads,
}

/// All of them. A short run has the first ones.
pub(crate) const FAULTS: [Fault; 28] = [
    Fault::KillLeader,
    Fault::LoseFollower,
    Fault::CutLeader,
    Fault::OldCopyOfFollower,
    Fault::FullDisk,
    Fault::KillAll,
    Fault::ClockAhead,
    Fault::HoldUpLeader,
    Fault::CutToLeader,
    Fault::LoseLeader,
    Fault::OldCopyOfLeader,
    Fault::FailingSyncs,
    Fault::CutFromLeader,
    Fault::KillFollower,
    Fault::SlowSyncs,
    Fault::HoldUpFollower,
    Fault::CutFollower,
    Fault::ClockBehind,
    Fault::HoldUpLong,
    Fault::CutFromFollower,
    Fault::FailingSyncsOfFollower,
    Fault::CutBetweenFollowers,
    Fault::LowDisk,
    Fault::LowDiskOfFollower,
    Fault::LowDisks,
    Fault::FailingReads,
    Fault::LoseHistoryOfFollower,
    Fault::LoseHistoryOfLeader,
];

/// A fault that is there.
pub(crate) struct Struck {
    fault: Fault,
    leader: u16,
    follower: u16,
    /// Evidence of the kind before it.
    before: i64,
}

impl Fault {
    /// Whether this system can have it.
    pub(crate) fn is_possible(self) -> bool {
        let is_mountable = !self.is_low_disk() || SmallDisk::is_possible();
        is_mountable && (self.disorder().is_none() || Interposer::WORKS)
    }

    fn is_low_disk(self) -> bool {
        matches!(self, Self::LowDisk | Self::LowDiskOfFollower | Self::LowDisks)
    }

    /// Whether the leader is lost, so that another one must take over.
    pub(crate) fn is_of_leader(self) -> bool {
        match self {
            Self::KillLeader
            | Self::LoseLeader
            | Self::LoseHistoryOfLeader
            | Self::OldCopyOfLeader
            | Self::HoldUpLeader
            | Self::HoldUpLong
            | Self::CutLeader
            | Self::CutFromLeader
            | Self::CutToLeader
            | Self::ClockAhead
            | Self::ClockBehind
            | Self::SlowSyncs
            | Self::FullDisk
            | Self::LowDisk
            | Self::FailingSyncs
            | Self::FailingReads => true,
            Self::KillFollower
            | Self::KillAll
            | Self::LoseFollower
            | Self::LoseHistoryOfFollower
            | Self::OldCopyOfFollower
            | Self::HoldUpFollower
            | Self::CutFollower
            | Self::CutFromFollower
            | Self::CutBetweenFollowers
            | Self::LowDiskOfFollower
            | Self::LowDisks
            | Self::FailingSyncsOfFollower => false,
        }
    }

    /// How long it lasts under load.
    pub(crate) fn lasts(self) -> Duration {
        match self {
            Self::KillLeader
            | Self::KillFollower
            | Self::KillAll
            | Self::LoseLeader
            | Self::LoseFollower
            | Self::LoseHistoryOfLeader
            | Self::LoseHistoryOfFollower
            | Self::OldCopyOfLeader
            | Self::OldCopyOfFollower => Duration::ZERO,
            Self::HoldUpLeader | Self::HoldUpFollower => HELD_UP,
            Self::HoldUpLong => HELD_UP_LONG,
            Self::CutLeader
            | Self::CutFollower
            | Self::CutFromLeader
            | Self::CutFromFollower
            | Self::CutBetweenFollowers => CUT,
            Self::CutToLeader => CUT_LONG,
            Self::ClockAhead | Self::ClockBehind => CLOCK_WRONG,
            Self::SlowSyncs => DISK_SLOW,
            Self::FullDisk | Self::LowDisk | Self::LowDiskOfFollower | Self::LowDisks => DISK_FULL,
            Self::FailingSyncs | Self::FailingSyncsOfFollower | Self::FailingReads => DISK_FAILS,
        }
    }

    /// Whether it lasts until the broker is started again.
    pub(crate) fn is_mended_by_start(self) -> bool {
        self.lasts().is_zero()
    }

    /// Whether the broker comes back as another replica.
    fn brings_new_replica(self) -> bool {
        matches!(
            self,
            Self::LoseLeader | Self::LoseFollower | Self::OldCopyOfLeader | Self::OldCopyOfFollower
        )
    }

    fn disorder(self) -> Option<(Disorder, i64)> {
        match self {
            Self::ClockAhead => Some((Disorder::ClockSeconds, CLOCK_SECONDS)),
            Self::ClockBehind => Some((Disorder::ClockSeconds, -CLOCK_SECONDS)),
            Self::SlowSyncs => Some((Disorder::SyncDelayMs, SYNC_DELAY_MS)),
            Self::FullDisk => Some((Disorder::DiskFull, 1)),
            Self::FailingSyncs | Self::FailingSyncsOfFollower => Some((Disorder::SyncsFail, 1)),
            Self::FailingReads => Some((Disorder::ReadsFail, 1)),
            _ => None,
        }
    }

    pub(crate) async fn strike(self, cluster: &mut Cluster, leader: u16, follower: u16) -> Struck {
        let mut struck = Struck { fault: self, leader, follower, before: 0 };
        struck.before = struck.evidence(cluster);
        let third = BROKERS - leader - follower;
        match self {
            Self::KillLeader => cluster.kill(leader).await,
            Self::KillFollower => cluster.kill(follower).await,
            Self::KillAll => {
                for broker in 0..BROKERS {
                    cluster.kill(broker).await;
                }
            }
            Self::LoseLeader | Self::LoseFollower => {
                cluster.kill(struck.broker()).await;
                cluster.lose_directory(struck.broker());
            }
            Self::LoseHistoryOfLeader => {
                cluster.kill(leader).await;
                cluster.remove_store(leader);
            }
            Self::LoseHistoryOfFollower => {
                cluster.stop_one(follower).await;
                cluster.remove_store(follower);
            }
            Self::OldCopyOfLeader | Self::OldCopyOfFollower => {
                let broker = struck.broker();
                cluster.signal(broker, Signal::STOP);
                cluster.copy_directory(broker);
                cluster.signal(broker, Signal::CONT);
                pass(COPY_AGE).await;
                cluster.kill(broker).await;
                cluster.put_copy_back(broker);
            }
            Self::HoldUpLeader | Self::HoldUpLong => cluster.signal(leader, Signal::STOP),
            Self::HoldUpFollower => cluster.signal(follower, Signal::STOP),
            Self::CutLeader | Self::CutFollower => {
                for other in (0..BROKERS).filter(|other| *other != struck.broker()) {
                    cluster.network().cut(struck.broker(), other);
                    cluster.network().cut(other, struck.broker());
                }
            }
            Self::CutFromLeader | Self::CutFromFollower => {
                (0..BROKERS).for_each(|other| cluster.network().cut(struck.broker(), other));
            }
            Self::CutToLeader => (0..BROKERS).for_each(|other| cluster.network().cut(other, leader)),
            Self::LowDisk | Self::LowDiskOfFollower => cluster.history_disk(struck.broker()).fill(),
            Self::LowDisks => (0..BROKERS).for_each(|broker| cluster.history_disk(broker).fill()),
            Self::CutBetweenFollowers => {
                cluster.network().cut(follower, third);
                cluster.network().cut(third, follower);
            }
            Self::ClockAhead
            | Self::ClockBehind
            | Self::SlowSyncs
            | Self::FullDisk
            | Self::FailingSyncs
            | Self::FailingSyncsOfFollower
            | Self::FailingReads => {
                let (disorder, value) = self.disorder().expect("it is one");
                cluster.disorders(struck.broker()).order(disorder, value);
            }
        }
        struck
    }
}

impl Struck {
    /// The broker that has the fault.
    fn broker(&self) -> u16 {
        if self.fault.is_of_leader() { self.leader } else { self.follower }
    }

    /// A number that has grown when the fault was felt.
    fn evidence(&self, cluster: &Cluster) -> i64 {
        match self.fault {
            Fault::LoseLeader | Fault::LoseFollower | Fault::OldCopyOfLeader | Fault::OldCopyOfFollower => {
                cluster.logged(VOTE) as i64
            }
            Fault::ClockAhead => cluster.logged(AHEAD) as i64,
            Fault::LowDisk | Fault::LowDiskOfFollower | Fault::LowDisks => cluster.logged(NO_ROOM) as i64,
            Fault::CutLeader
            | Fault::CutFollower
            | Fault::CutFromLeader
            | Fault::CutToLeader
            | Fault::CutFromFollower
            | Fault::CutBetweenFollowers => cluster.network().held() as i64,
            fault => match fault.disorder() {
                Some((disorder, _)) => cluster.disorders(self.broker()).count(disorder),
                None => 0,
            },
        }
    }

    /// Mends what does not need a start.
    pub(crate) fn mend(&self, cluster: &Cluster) {
        match self.fault {
            Fault::HoldUpLeader | Fault::HoldUpFollower | Fault::HoldUpLong => {
                cluster.signal(self.broker(), Signal::CONT);
            }
            fault if fault.is_low_disk() => {
                (0..BROKERS).for_each(|broker| cluster.history_disk(broker).make_room());
                assert!(self.evidence(cluster) > self.before, "{fault:?} was not felt");
            }
            fault => {
                cluster.network().mend();
                if let Some((disorder, _)) = fault.disorder() {
                    cluster.disorders(self.broker()).order(disorder, 0);
                    assert!(self.evidence(cluster) > self.before, "{fault:?} was not felt");
                }
            }
        }
    }

    /// Starts those that were killed, and waits until nothing is left of the fault.
    pub(crate) async fn recover(&self, cluster: &mut Cluster) {
        match self.fault {
            Fault::KillLeader
            | Fault::KillFollower
            | Fault::LoseLeader
            | Fault::LoseFollower
            | Fault::LoseHistoryOfLeader
            | Fault::LoseHistoryOfFollower
            | Fault::OldCopyOfLeader
            | Fault::OldCopyOfFollower => cluster.start(self.broker()),
            Fault::KillAll => (0..BROKERS).for_each(|broker| cluster.start(broker)),
            _ => {}
        }
        if self.fault.brings_new_replica() {
            let deadline = Instant::now() + ADMISSION_MAX;
            let mut looks = interval(LOOK);
            while self.evidence(cluster) == self.before {
                let log = || cluster.log(self.broker());
                assert!(Instant::now() < deadline, "broker {} gets no vote\n{}", self.broker(), log());
                looks.tick().await;
            }
        }
        cluster.leader().await;
    }
}
