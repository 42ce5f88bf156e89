//! Bugs that can be planted, for the simulation and the lab to find: each stands beside the code that prevents it.
//!
//! Without the feature `plantable`, which the simulator has, and a program that is built for the tests of the lab, none
//! is planted and none can be.

/// A bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Bug {
    /// The log tells that it has an entry before the disk has.
    EarlyAcknowledgement = 1,
    /// The log does not sync.
    SkippedSync,
    /// A vote is not written.
    ForgottenVote,
    /// Entries that another leader replaces stay.
    ForgottenTruncation,
    /// A node that led before a restart leads on.
    LeadsOn,
    /// The log is removed beyond the state that is on disk.
    PurgedTooFar,
    /// The state on disk says that it has one entry more than it has.
    AppliedOneMore,
    /// The state is said to be on disk before it is.
    EarlyFlush,
    /// A snapshot lacks rows.
    SnapshotLacksRows,
    /// An entry is done whenever it comes, however late.
    DoneTwice,
    /// An entry whose fate is open is sent again at once.
    SentAgain,
    /// Entries that a snapshot stands for are taken for ones that came too late.
    ForgottenSnapshot,
    /// A read does not ask whether this broker has everything.
    StaleRead,
    /// Numbers of requests do not name the broker and its life.
    MixedAnswers,
    /// The first answer to an idempotency key is not kept.
    ForgottenKey,
    /// The time of the log goes back with the clock.
    TimeGoesBack,
    /// A replica computes something from what others do not have.
    Diverges,
    /// Records are skipped when an exporter starts again.
    SkippedRecords,
    /// A record that a target refuses is passed over before it is parked.
    ForgottenParking,
    /// One completion of a hundred is acknowledged and not done.
    DroppedCompletions,
    /// Job streams get whatever there is.
    PushesWithoutDemand,
    /// A mebibyte a second is never given back.
    Leaks,
    /// Exporters get no records.
    ExportsNothing,
    /// A replica takes part before others have told whether its files are an old copy.
    OldCopyTakesPart,
    /// Entries that a replica has acknowledged are not held against an old copy of its files.
    ForgottenAcknowledgement,
    /// A leader whose disk has no room leads on, and refuses commands.
    LeadsWithoutRoom,
    /// Messages that another partition refuses are taken for received.
    PassedOverMessages,
    /// Messages are acknowledged before the other partition has received them.
    EarlyMessageAcknowledgement,
    /// Numbers of messages are given again once they are acknowledged.
    ReusedMessageNumbers,
    /// Messages have their effect each time that they come.
    ReceivedTwice,
    /// Some messages are received without their effect.
    ReceivedWithoutEffect,
    /// Rows for all partitions go to the first of them.
    DistributedToOne,
    /// A partition that lacks a deployment refuses as if it had it.
    UninformedRefusals,
    /// Messages stay when they are acknowledged.
    KeptMessages,
    /// Subscriptions of other partitions stay when they are closed.
    KeptSubscriptions,
    /// Exporters of all partitions have one position.
    SharedPositions,
}

impl Bug {
    /// Bugs that the lab finds in a real server.
    pub const OF_THE_LAB: [Self; 6] = [
        Self::EarlyAcknowledgement,
        Self::SkippedSync,
        Self::DroppedCompletions,
        Self::PushesWithoutDemand,
        Self::Leaks,
        Self::ExportsNothing,
    ];

    /// Bugs that the simulation finds.
    pub const ALL: [Self; 32] = [
        Self::EarlyAcknowledgement,
        Self::SkippedSync,
        Self::ForgottenVote,
        Self::ForgottenTruncation,
        Self::LeadsOn,
        Self::PurgedTooFar,
        Self::AppliedOneMore,
        Self::EarlyFlush,
        Self::SnapshotLacksRows,
        Self::DoneTwice,
        Self::SentAgain,
        Self::ForgottenSnapshot,
        Self::StaleRead,
        Self::MixedAnswers,
        Self::ForgottenKey,
        Self::TimeGoesBack,
        Self::Diverges,
        Self::SkippedRecords,
        Self::ForgottenParking,
        Self::OldCopyTakesPart,
        Self::ForgottenAcknowledgement,
        Self::LeadsWithoutRoom,
        Self::PassedOverMessages,
        Self::EarlyMessageAcknowledgement,
        Self::ReusedMessageNumbers,
        Self::ReceivedTwice,
        Self::ReceivedWithoutEffect,
        Self::DistributedToOne,
        Self::UninformedRefusals,
        Self::KeptMessages,
        Self::KeptSubscriptions,
        Self::SharedPositions,
    ];
}

#[cfg(feature = "plantable")]
static PLANTED: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);

/// Plants a bug in this process.
#[cfg(feature = "plantable")]
pub fn plant(bug: Bug) {
    PLANTED.store(bug as u8, std::sync::atomic::Ordering::SeqCst);
}

/// Plants the bug of a name; whether there is one.
#[cfg(feature = "plantable")]
pub fn plant_named(name: &str) -> bool {
    let all = Bug::ALL.into_iter().chain(Bug::OF_THE_LAB);
    let Some(bug) = all.into_iter().find(|bug| format!("{bug:?}") == name) else { return false };
    plant(bug);
    if bug == Bug::Leaks {
        std::thread::spawn(leak);
    }
    true
}

#[cfg(feature = "plantable")]
fn leak() {
    const PARTS_PER_SECOND: u64 = 10;
    loop {
        // Memory that nobody writes to is not there.
        std::mem::forget(vec![1_u8; (1 << 20) / PARTS_PER_SECOND as usize]);
        std::thread::sleep(std::time::Duration::from_millis(1000 / PARTS_PER_SECOND));
    }
}

#[cfg(feature = "plantable")]
static SYNC_MICROS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Makes each sync of the log take this much longer, as on a slow disk. That is no bug.
#[cfg(feature = "plantable")]
pub fn slow_syncs(by: std::time::Duration) {
    SYNC_MICROS.store(by.as_micros() as u64, std::sync::atomic::Ordering::SeqCst);
}

/// Takes the time of a slow disk.
#[cfg(feature = "plantable")]
pub fn hold_sync() {
    let micros = SYNC_MICROS.load(std::sync::atomic::Ordering::Relaxed);
    if micros > 0 {
        std::thread::sleep(std::time::Duration::from_micros(micros));
    }
}

/// Takes the time of a slow disk: none.
#[cfg(not(feature = "plantable"))]
#[inline]
pub const fn hold_sync() {}

/// Whether a bug is planted.
#[cfg(feature = "plantable")]
pub fn has(bug: Bug) -> bool {
    PLANTED.load(std::sync::atomic::Ordering::Relaxed) == bug as u8
}

/// Whether a bug is planted: never.
#[cfg(not(feature = "plantable"))]
#[inline]
pub const fn has(_: Bug) -> bool {
    false
}
