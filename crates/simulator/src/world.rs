//! A run: a cluster, its clients, the faults of a seed, and the promises that must hold at the end.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use broker::{DiskProbe, Options};
use broker_api::Broker as _;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::archive;
use crate::clients::Scene;
use crate::disk::{self, DiskFaults};
use crate::host::{Beginning, Life, LifeEnd};
use crate::network::SimulatedNetwork;
use crate::plan::Plan;
use crate::random::Random;
use crate::scheduler;

mod agreement;
mod copies;
mod outvoted;
mod restored;
mod room;
mod stores;

const BROKERS: [u32; 3] = [0, 1, 2];
/// The directory of backups, which all brokers share.
const BACKUPS: &str = "backups";
/// After the last fault, every request is answered within this time.
const RECOVERY: Duration = Duration::from_secs(10);
/// How long a broker may take to tell how it is, and how often it is asked.
const ANSWER: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(50);
/// Room that brokers leave on their disks, and room with which they go on with work that is begun.
const MIN_FREE_BYTES: u64 = 1 << 20;
const LOW_BYTES: u64 = MIN_FREE_BYTES * 3 / 4;

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct RunOutcome {
    pub violations: Vec<String>,
    pub faults: Vec<String>,
    pub answers: u64,
    pub instances: usize,
    pub slowest_ms: u64,
    pub turns: u64,
    pub trace: u64,
    pub virtual_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Kill,
    LosePower,
    HoldUp,
    Cut,
    CutOneWay,
    Break,
    SlowSyncs,
    FailingSyncs,
    FullDisk,
    /// Less room than brokers leave free; the log can still be written.
    LowDisk,
    FailingReads,
    Clock,
    LoseDirectory,
    /// A data directory is copied, or an old copy put back.
    OldCopy,
    /// Digests of a state differ from the others'.
    Differ,
    /// A log rots.
    FlipBit,
    HandOver,
    /// Everything is mended.
    Mend,
}

/// A cluster under faults.
struct World {
    plan: Plan,
    random: Random,
    network: SimulatedNetwork,
    scene: Arc<Scene>,
    directories: Vec<PathBuf>,
    lives: u64,
    has_lost: bool,
    /// Brokers whose replica may be another one in the end.
    excused: BTreeSet<u32>,
    /// The last whole archive may have been removed.
    may_lose_records: bool,
    copies: Vec<Option<PathBuf>>,
    offsets_ms: Vec<i64>,
    /// Room on the disk of each broker.
    free_bytes: [Arc<AtomicU64>; BROKERS.len()],
    faults: Vec<String>,
    began: Instant,
}

impl World {
    fn say(&mut self, fault: String) {
        let at_ms = self.began.elapsed().as_millis();
        tracing::info!("fault at {at_ms} ms: {fault}");
        self.faults.push(format!("{at_ms:>6} ms: {fault}"));
    }

    fn next_directory(&mut self, broker: u32) -> PathBuf {
        self.lives += 1;
        PathBuf::from(format!("broker-{broker}-{}", self.lives))
    }

    fn start(&mut self, broker: u32) {
        let directory = self.directories[broker as usize].clone();
        std::fs::create_dir_all(&directory).expect("the scratch directory can be written");
        let mut options = Options::new(directory);
        options.partition.node_id = broker;
        let free_bytes = Arc::clone(&self.free_bytes[broker as usize]);
        options.disk.min_free_bytes = MIN_FREE_BYTES;
        options.disk.probe = DiskProbe::new(move |_| Some((free_bytes.load(Ordering::Relaxed), u64::MAX)));
        options.partition.log.min_free_bytes = 1;
        options.partition.log.segment_bytes = 64 << 10;
        options.partition.log.retained_bytes = 128 << 10;
        options.partition.log_kept_bytes = self.plan.log_kept_bytes;
        options.partition.state.flush_interval = Duration::from_millis(self.plan.flush_interval_ms);
        options.partition.state.page_cache_bytes = self.plan.cache_bytes as usize;
        options.partition.state.value_cache_bytes = self.plan.cache_bytes;
        options.partition.export.stream.park_after = 2;
        options.backups = Some(PathBuf::from(BACKUPS));
        options.partition.export.stream.retry_max = Duration::from_secs(1);
        options.store = Some(archive::queries(broker));
        options.partition.export.others = vec![archive::factory(broker), archive::shared_factory()];
        let life = Life::begin(Beginning {
            options: options.with_partitions(self.plan.partitions),
            brokers: &BROKERS,
            network: &self.network,
            faults: DiskFaults::default(),
            clock_offset_ms: self.offsets_ms[broker as usize],
            workers: self.plan.runtime_threads,
        });
        self.scene.set(broker, Some(life));
    }

    fn end(&mut self, broker: u32, how: LifeEnd) {
        let Some(life) = self.scene.set(broker, None) else { return };
        let next = self.next_directory(broker);
        // Clients that have it only wait for its answers.
        life.end(how, &self.network, &next).expect("the scratch directory can be written");
        archive::close(broker);
        self.directories[broker as usize] = next;
    }

    /// A broker that could not start, or ended by itself, is started again, as an operator would.
    fn revive(&mut self) {
        for broker in BROKERS {
            let Some(life) = self.scene.life(broker) else { continue };
            if let Some(failure) = life.failure() {
                drop(life);
                self.say(format!("broker {broker} ended by itself: {failure}"));
                self.end(broker, LifeEnd::Killed);
                self.start(broker);
            }
        }
    }

    fn heal(&mut self) {
        for from in BROKERS {
            for to in BROKERS {
                self.network.change(from, to, |link| *link = crate::network::Link::default());
            }
        }
        for broker in BROKERS {
            self.offsets_ms[broker as usize] = 0;
            self.free_bytes[broker as usize].store(u64::MAX, Ordering::Relaxed);
            match self.scene.life(broker) {
                None => self.start(broker),
                Some(life) => {
                    life.hold_up(false);
                    life.set_clock(0);
                    life.change_disk(|faults| *faults = DiskFaults::default());
                }
            }
        }
    }

    fn rough(&mut self) {
        for from in BROKERS {
            for to in BROKERS {
                let most = Duration::from_millis(*self.random.pick(&[1, 10, 60]));
                let breaks = *self.random.pick(&[0, 200, 2_000]);
                self.network.change(from, to, |link| {
                    link.delay.1 = most;
                    link.breaks = breaks;
                });
            }
        }
    }

    /// A fault of the plan, or its end.
    fn choose(&mut self) -> Fault {
        let plan = &self.plan;
        // Two would be a majority of the copies.
        let once = |weight| if self.has_lost { 0 } else { weight };
        let faults = [
            (Fault::Kill, plan.kills),
            (Fault::LosePower, plan.power_losses),
            (Fault::HoldUp, plan.hold_ups),
            (Fault::Cut, plan.cuts),
            (Fault::CutOneWay, plan.one_way_cuts),
            (Fault::Break, plan.breaks),
            (Fault::SlowSyncs, plan.slow_syncs),
            (Fault::FailingSyncs, plan.failing_syncs),
            (Fault::FullDisk, plan.full_disks),
            (Fault::LowDisk, plan.low_disks),
            (Fault::FailingReads, plan.failing_reads),
            (Fault::Clock, plan.clocks),
            (Fault::LoseDirectory, once(plan.lost_directories)),
            (Fault::OldCopy, once(plan.old_copies)),
            (Fault::Differ, once(plan.differences)),
            (Fault::FlipBit, once(plan.flipped_bits)),
            (Fault::HandOver, plan.hand_overs),
            (Fault::Mend, 4),
        ];
        let mut chosen = self.random.below(faults.iter().map(|(_, weight)| weight).sum());
        let fault = faults.iter().find(|(_, weight)| {
            let is_it = chosen < *weight;
            chosen = chosen.saturating_sub(*weight);
            is_it
        });
        fault.expect("one of them").0
    }

    /// Something goes wrong, or is mended.
    fn strike(&mut self) {
        let fault = self.choose();
        let broker = *self.random.pick(&BROKERS);
        let other = (broker + self.random.between(1, 3) as u32) % 3;
        match (fault, self.scene.life(broker)) {
            (Fault::Cut, _) => {
                self.say(format!("broker {broker} is cut off"));
                for other in BROKERS {
                    self.network.change(broker, other, |link| link.is_cut = true);
                    self.network.change(other, broker, |link| link.is_cut = true);
                }
            }
            (Fault::CutOneWay, _) => {
                self.say(format!("nothing of broker {broker} arrives at {other}"));
                self.network.change(broker, other, |link| link.is_cut = true);
            }
            (Fault::Break, _) => {
                self.say(format!("connections between {broker} and {other} break"));
                self.network.break_connections(broker, other);
            }
            (Fault::Mend, _) => self.mend(),
            (_, None) => {
                self.say(format!("broker {broker} starts again"));
                self.start(broker);
            }
            (Fault::HandOver, Some(life)) => {
                self.say(format!("broker {other} is asked for at {broker} to lead"));
                let asked = life.call(move |node| async move { node.hand_over(Some(other)).await.is_ok() });
                drop(tokio::spawn(timeout(RECOVERY, asked)));
            }
            (Fault::Differ, Some(life)) => {
                // A state that differs could be read and exported before it is found.
                self.say(format!("the digests of broker {broker} are wrong"));
                self.has_lost = true;
                self.excused.insert(broker);
                let asked = life.call(|node| async move { node.plant_wrong_digests() });
                drop(tokio::spawn(timeout(RECOVERY, asked)));
            }
            (Fault::OldCopy, Some(_)) => self.strike_with_copy(broker),
            (Fault::Kill | Fault::LosePower | Fault::LoseDirectory | Fault::FlipBit, Some(_)) => {
                self.strike_process(fault, broker);
            }
            (fault, Some(life)) => self.strike_machine(fault, broker, &life),
        }
    }

    /// One broker ends, or all of them at once.
    fn strike_process(&mut self, fault: Fault, broker: u32) {
        if fault == Fault::LoseDirectory {
            self.say(format!("broker {broker} is killed and loses its data directory"));
            self.has_lost = true;
            self.excused.insert(broker);
            self.end(broker, LifeEnd::DirectoryLost);
            archive::forget(broker);
            return;
        }
        if fault == Fault::FlipBit && !self.has_failing_syncs() {
            self.say(format!("broker {broker} is killed, and a bit of its log flips"));
            self.has_lost = true;
            self.excused.insert(broker);
            self.end(broker, LifeEnd::Killed);
            let log = self.directories[broker as usize].join("log");
            disk::flip_bit(&log, &mut self.random).expect("the scratch directory can be written");
            return;
        }
        let (how, words) = match fault {
            Fault::LosePower => (LifeEnd::PowerLost, "loses its power"),
            _ => (LifeEnd::Killed, "is killed"),
        };
        let all = self.random.one_in(3);
        for broker in BROKERS.into_iter().filter(|number| all || *number == broker) {
            self.say(format!("broker {broker} {words}"));
            self.end(broker, how);
        }
    }

    /// Whether a broker has not on its disk what the two others have acknowledged: the end of a log that rots then may
    /// be known to a single broker, which may come last.
    fn has_failing_syncs(&self) -> bool {
        BROKERS.into_iter().filter_map(|broker| self.scene.life(broker)).any(|life| {
            let mut fails = false;
            life.change_disk(|faults| fails = faults.fails_syncs);
            fails
        })
    }

    /// The machine of a broker is slow, or wrong.
    fn strike_machine(&mut self, fault: Fault, broker: u32, life: &Life) {
        match fault {
            Fault::HoldUp => {
                self.say(format!("broker {broker} is held up"));
                life.hold_up(true);
            }
            Fault::SlowSyncs => {
                let most_ns = self.random.between(5, 500) * 1_000_000;
                self.say(format!("syncs of broker {broker} take up to {} ms", most_ns / 1_000_000));
                life.change_disk(|faults| faults.sync_ns.1 = most_ns);
            }
            Fault::FailingSyncs => {
                self.say(format!("syncs of broker {broker} fail"));
                life.change_disk(|faults| faults.fails_syncs = true);
            }
            Fault::FullDisk => {
                self.say(format!("the disk of broker {broker} is full"));
                life.change_disk(|faults| faults.is_full = true);
            }
            Fault::LowDisk => {
                // One that is asked again and again has room now and then.
                let free_bytes = *self.random.pick(&[0, LOW_BYTES, LOW_BYTES, MIN_FREE_BYTES]);
                self.say(format!("the disk of broker {broker} has {free_bytes} bytes of room"));
                self.free_bytes[broker as usize].store(free_bytes, Ordering::Relaxed);
            }
            Fault::FailingReads => {
                self.say(format!("reads of broker {broker} fail"));
                life.change_disk(|faults| faults.fails_reads = true);
            }
            Fault::Clock => {
                let jumps = [-3_600_000, -2_000, -100, 100, 2_000, 3_600_000];
                let offset_ms = *self.random.pick(&jumps);
                self.say(format!("the clock of broker {broker} jumps by {offset_ms} ms"));
                self.offsets_ms[broker as usize] = offset_ms;
                life.set_clock(offset_ms);
            }
            _ => unreachable!("{fault:?} is no fault of a machine"),
        }
    }

    /// The broker that leads, once all are ready; nobody if that takes too long.
    async fn leader_of_all(&mut self) -> Option<u32> {
        let deadline = Instant::now() + RECOVERY;
        while Instant::now() < deadline {
            self.revive();
            let (mut leaders, mut ready) = (Vec::new(), 0);
            for broker in BROKERS {
                let Some(life) = self.scene.life(broker) else { continue };
                let asked = life.call(|node| async move { (node.leads(), node.is_ready()) });
                let (leads, is_ready) = timeout(ANSWER, asked).await.ok().flatten().unwrap_or_default();
                leaders.extend(leads.then_some(broker));
                ready += usize::from(is_ready);
            }
            if let [leader] = leaders[..]
                && ready == BROKERS.len()
            {
                return Some(leader);
            }
            sleep(LOOK).await;
        }
        None
    }

    fn mend(&mut self) {
        self.say("all faults are mended".to_owned());
        self.heal();
        if self.plan.is_rough {
            self.rough();
        }
    }
}

/// Runs a seed, in a process of its own, whose current directory gets the brokers' files.
pub fn run(seed: u64) -> (Plan, RunOutcome) {
    scheduler::begin(seed);
    crate::hooks::prepare();
    let mut random = Random::new(seed);
    disk::begin(random.fork());
    let plan = Plan::new(&mut random.fork());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime without sockets needs nothing");
    let outcome = runtime.block_on(play(plan.clone(), random));
    (plan, outcome)
}

async fn play(plan: Plan, mut random: Random) -> RunOutcome {
    let network = SimulatedNetwork::new(random.fork());
    let scene = Scene::new(BROKERS.len(), random.fork());
    let directories = BROKERS.map(|broker| PathBuf::from(format!("broker-{broker}-0"))).into();
    let mut world = World {
        plan,
        random,
        network,
        scene: Arc::clone(&scene),
        directories,
        lives: 0,
        has_lost: false,
        excused: BTreeSet::new(),
        may_lose_records: false,
        copies: vec![None; BROKERS.len()],
        offsets_ms: vec![0; BROKERS.len()],
        free_bytes: std::array::from_fn(|_| Arc::new(AtomicU64::new(u64::MAX))),
        faults: Vec::new(),
        began: Instant::now(),
    };
    archive::refuse(world.plan.refused_every);
    for broker in BROKERS {
        world.start(broker);
    }
    if timeout(RECOVERY * 2, scene.deploy()).await.is_err() {
        scene.ledger().violated("the cluster does not begin".to_owned());
        return world.outcome();
    }
    if world.plan.is_restored
        && let Err(reason) = world.begin_restored().await
    {
        scene.ledger().violated(reason);
        return world.outcome();
    }
    if world.plan.is_rough {
        world.rough();
    }
    let clients = world.clients();
    if world.plan.is_outvoted {
        world.outvote().await;
    }
    let faults_end = Instant::now() + Duration::from_millis(world.plan.length_ms);
    while Instant::now() < faults_end {
        let (least, most) = world.plan.pause_ms;
        let pause_ms = world.random.between(least, most);
        sleep(Duration::from_millis(pause_ms)).await;
        world.strike();
        world.revive();
    }
    world.end_faults().await;
    // From here on the cluster has no excuse.
    scene.ledger().slowest_ms = 0;
    scene.stop();
    world.settle(clients).await;
    if scene.ledger().violations.is_empty()
        && let Err(reason) = world.agree().await
    {
        scene.ledger().violated(reason);
    }
    if let Err(reason) = world.check_replicas() {
        scene.ledger().violated(reason);
    }
    let unknown = scene.ledger().unknown();
    if !unknown.is_empty() {
        scene.ledger().violated(format!("instances that nobody asked for: {unknown:?}"));
    }
    world.outcome()
}

impl World {
    /// Everything is mended, and what must go well with clients at work is tried.
    async fn end_faults(&mut self) {
        self.say("no more faults".to_owned());
        self.heal();
        self.revive();
        archive::refuse(0);
        if self.plan.low_disks > 0
            && let Err(reason) = self.fill_leader().await
        {
            self.scene.ledger().violated(reason);
        }
        if self.plan.removed_stores > 0 {
            self.remove_stores(self.plan.removed_stores).await;
        }
    }

    /// Clients at work, until they are told to stop.
    fn clients(&self) -> Vec<JoinHandle<()>> {
        let plan = &self.plan;
        let scene = || Arc::clone(&self.scene);
        let creators = (0..plan.creators).map(|client| tokio::spawn(scene().creator(client)));
        let workers = (0..plan.workers).map(|client| tokio::spawn(scene().worker(client)));
        let registers = (0..plan.registers).map(|client| tokio::spawn(scene().register(client)));
        // Without one, the others begin as in seeds of earlier releases.
        let purgers = (plan.purges > 0).then(|| tokio::spawn(scene().purger(plan.purges)));
        let messengers = (0..plan.messengers).map(|client| tokio::spawn(scene().messenger(client)));
        creators.chain(workers).chain(registers).chain(purgers).chain(messengers).collect()
    }

    /// All clients get their answers.
    async fn settle(&mut self, clients: Vec<JoinHandle<()>>) {
        let scene = Arc::clone(&self.scene);
        let all = futures::future::join_all(clients);
        tokio::pin!(all);
        let deadline = Instant::now() + RECOVERY;
        loop {
            tokio::select! {
                ended = &mut all => {
                    for client in ended {
                        client.expect("a client does not fail");
                    }
                    return;
                }
                () = sleep(Duration::from_millis(100)) => self.revive(),
            }
            if Instant::now() > deadline {
                let open = scene.ledger().open();
                let waits =
                    format!("requests wait for more than {RECOVERY:?} after the last fault; open: {open:?}");
                scene.ledger().violated(waits);
                return;
            }
        }
    }

    fn outcome(self) -> RunOutcome {
        let (turns, trace) = scheduler::trace();
        let virtual_ms = self.began.elapsed().as_millis() as u64;
        let mut ledger = self.scene.ledger();
        RunOutcome {
            violations: std::mem::take(&mut ledger.violations),
            faults: self.faults,
            answers: ledger.answers,
            instances: ledger.instances(),
            slowest_ms: ledger.slowest_ms,
            turns,
            trace,
            virtual_ms,
        }
    }
}

impl RunOutcome {
    /// The run as text, for a person.
    pub fn describe(&self, plan: &Plan) -> String {
        let mut text = format!("{plan:#?}\n");
        for fault in &self.faults {
            let _ = writeln!(text, "{fault}");
        }
        for violation in &self.violations {
            let _ = writeln!(text, "VIOLATED: {violation}");
        }
        text
    }
}
