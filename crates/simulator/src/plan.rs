//! The plan of a run: which faults are likely, and who makes requests.

use crate::random::Random;

/// Chances of faults, as a seed expands to.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Time of faults, milliseconds.
    pub length_ms: u64,
    /// Time between two faults, from and to, milliseconds.
    pub pause_ms: (u64, u64),
    pub kills: u64,
    pub power_losses: u64,
    pub hold_ups: u64,
    pub cuts: u64,
    pub one_way_cuts: u64,
    pub breaks: u64,
    pub slow_syncs: u64,
    pub failing_syncs: u64,
    pub full_disks: u64,
    /// Disks with less room than brokers leave free.
    pub low_disks: u64,
    pub failing_reads: u64,
    pub differences: u64,
    pub flipped_bits: u64,
    pub clocks: u64,
    pub lost_directories: u64,
    pub old_copies: u64,
    pub hand_overs: u64,
    /// A network that delays and breaks all the time.
    pub is_rough: bool,
    pub creators: u64,
    pub workers: u64,
    pub registers: u64,
    /// Threads of each broker's runtime.
    pub runtime_threads: usize,
    pub flush_interval_ms: u64,
    pub log_kept_bytes: u64,
    /// Bytes of the state in memory; with few of them, many reads come from the disk.
    pub cache_bytes: u64,
    /// The archive of all brokers refuses records at multiples of this position. 0: none.
    pub refused_every: u64,
    /// The cluster begins with a backup of another one.
    pub is_restored: bool,
    /// The first fault is an old copy of a directory whose replica is asked for its vote against what it acknowledged.
    pub is_outvoted: bool,
    /// Brokers whose archives are removed in the end.
    pub removed_stores: u64,
    /// How often a client removes all data.
    pub purges: u64,
    pub partitions: u16,
    /// Clients whose messages go from one partition to another.
    pub messengers: u64,
}

impl Plan {
    /// The plan of a seed: each kind of fault is likely, rare or not there.
    pub fn new(random: &mut Random) -> Self {
        let mut chance = || *random.pick(&[0, 0, 1, 3]);
        let mut plan = Self {
            length_ms: 6_000,
            pause_ms: (100, 1_500),
            kills: 1 + chance(),
            power_losses: chance(),
            hold_ups: chance(),
            cuts: chance(),
            one_way_cuts: chance(),
            breaks: chance(),
            slow_syncs: chance(),
            failing_syncs: chance(),
            full_disks: chance(),
            low_disks: 0,
            failing_reads: chance(),
            differences: chance(),
            flipped_bits: chance(),
            clocks: chance(),
            lost_directories: chance(),
            old_copies: chance(),
            hand_overs: chance(),
            is_rough: false,
            creators: 2,
            workers: 2,
            registers: 1,
            runtime_threads: 1,
            flush_interval_ms: 500,
            log_kept_bytes: 1 << 20,
            cache_bytes: 1 << 20,
            refused_every: 0,
            is_restored: false,
            is_outvoted: false,
            removed_stores: 0,
            purges: 0,
            partitions: 1,
            messengers: 0,
        };
        plan.is_rough = random.one_in(4);
        plan.creators = random.between(1, 4);
        plan.workers = random.between(1, 3);
        plan.registers = random.between(1, 3);
        plan.runtime_threads = if random.one_in(4) { 2 } else { 1 };
        plan.flush_interval_ms = *random.pick(&[50, 300, 2_000]);
        plan.log_kept_bytes = *random.pick(&[1, 4 << 10, 64 << 10, 1 << 20]);
        plan.cache_bytes = *random.pick(&[0, 1 << 20]);
        plan.refused_every = *random.pick(&[0, 0, 41, 307]);
        // At the end: the seeds of earlier releases find what they found.
        plan.low_disks = *random.pick(&[0, 0, 1, 3]);
        plan.is_restored = random.one_in(8);
        plan.is_outvoted = random.one_in(8);
        plan.removed_stores = *random.pick(&[0, 0, 0, 1, 2, 3, 3]);
        plan.purges = *random.pick(&[0, 0, 0, 1, 3]);
        plan.partitions = *random.pick(&[1, 1, 2, 3]);
        if plan.partitions > 1 {
            plan.messengers = random.between(1, 3);
            // Neither is there for several partitions.
            (plan.purges, plan.is_restored) = (0, false);
            // Operators go on without what is lost for one partition.
            plan.removed_stores = plan.removed_stores.min(2);
        }
        plan
    }
}
