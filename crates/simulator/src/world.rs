//! A run: a cluster, its clients, the faults of a seed, and the promises that must hold at the end.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use broker::Options;
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

const BROKERS: [u32; 3] = [0, 1, 2];
/// After the last fault, every request is answered within this time.
const RECOVERY: Duration = Duration::from_secs(10);
/// Then replicas become equal within this time.
const AGREEMENT: Duration = Duration::from_secs(10);

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
    FailingReads,
    Clock,
    LoseDirectory,
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
    offsets_ms: Vec<i64>,
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
        options.node_id = broker;
        options.disk.min_free_bytes = 0;
        options.log.min_free_bytes = 1;
        options.log.segment_bytes = 64 << 10;
        options.log.retained_bytes = 128 << 10;
        options.log_kept_bytes = self.plan.log_kept_bytes;
        options.state.flush_interval = Duration::from_millis(self.plan.flush_interval_ms);
        options.state.page_cache_bytes = self.plan.cache_bytes as usize;
        options.state.value_cache_bytes = self.plan.cache_bytes;
        options.export.stream.park_after = 2;
        options.export.others = vec![archive::factory(broker), archive::shared_factory()];
        let life = Life::begin(Beginning {
            options,
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
            (Fault::FailingReads, plan.failing_reads),
            (Fault::Clock, plan.clocks),
            (Fault::LoseDirectory, once(plan.lost_directories)),
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
                let asked = life.call(|node| async move { node.plant_wrong_digests() });
                drop(tokio::spawn(timeout(RECOVERY, asked)));
            }
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
            self.end(broker, LifeEnd::DirectoryLost);
            archive::forget(broker);
            return;
        }
        if fault == Fault::FlipBit {
            self.say(format!("broker {broker} is killed, and a bit of its log flips"));
            self.has_lost = true;
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

    fn mend(&mut self) {
        self.say("all faults are mended".to_owned());
        self.heal();
        if self.plan.is_rough {
            self.rough();
        }
    }

    /// All replicas come to one state.
    async fn agree(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + AGREEMENT;
        loop {
            let mut hashes = Vec::new();
            for broker in BROKERS {
                let Some(life) = self.scene.life(broker) else {
                    return Err(format!("broker {broker} is away"));
                };
                let asked =
                    life.call(|node| async move { node.state_hash().map_err(|error| error.to_string()) });
                hashes.push(timeout(RECOVERY, asked).await.ok().flatten());
            }
            let archives = BROKERS.map(archive::records);
            if let Some(Ok((position, _))) = hashes[0]
                && hashes.iter().all(|hash| *hash == hashes[0])
                && archives.iter().chain([&archive::shared()]).all(|records| *records == archives[0])
                && archives[0].last_key_value().is_some_and(|(last, _)| *last <= position)
            {
                return Ok(());
            }
            let same_position = |a: &Option<Result<(u64, u64), String>>,
                                 b: &Option<Result<(u64, u64), String>>| {
                matches!((a, b), (Some(Ok(a)), Some(Ok(b))) if a.0 == b.0 && a.1 != b.1)
            };
            if Instant::now() > deadline {
                let differ =
                    (0..3).any(|one| (0..one).any(|other| same_position(&hashes[one], &hashes[other])));
                let differ = if differ { "replicas differ" } else { "replicas do not become equal" };
                if hashes.iter().all(|hash| *hash == hashes[0]) {
                    let [first, second, third] = archives;
                    return Err(format!(
                        "records differ: {}",
                        differences(&[first, second, third, archive::shared()])
                    ));
                }
                return Err(format!("{differ}: {hashes:x?}"));
            }
            self.revive();
            self.replay_parked().await;
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Has parked records tried again, at any broker.
    async fn replay_parked(&mut self) {
        let Some(life) = self.scene.life(*self.random.pick(&BROKERS)) else { return };
        let asked = life.call(|node| async move {
            let parked = node.exports().map_or(0, |exports| exports.parked_count(archive::SHARED_ID));
            if parked > 0 {
                // It is asked again as long as any is parked.
                let _ = node.replay_parked(archive::SHARED_ID).await;
            }
        });
        let _ = timeout(RECOVERY, asked).await;
    }
}

/// The first position at which archives, that of all last, differ, and how far each goes.
fn differences(archives: &[archive::Records; 4]) -> String {
    let all: std::collections::BTreeSet<u64> =
        archives.iter().flat_map(|records| records.keys().copied()).collect();
    let differ =
        |position: &&u64| archives.iter().any(|records| records.get(position) != archives[0].get(position));
    let first = all.iter().find(differ);
    let lasts = archives.each_ref().map(|records| records.last_key_value().map(|(last, _)| *last));
    let at_first = first.map(|position| archives.each_ref().map(|records| records.get(position).copied()));
    format!("first at {first:?}: {at_first:x?}; they go up to {lasts:?}")
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
        offsets_ms: vec![0; BROKERS.len()],
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
    if world.plan.is_rough {
        world.rough();
    }
    let clients = world.clients();
    let faults_end = Instant::now() + Duration::from_millis(world.plan.length_ms);
    while Instant::now() < faults_end {
        let (least, most) = world.plan.pause_ms;
        let pause_ms = world.random.between(least, most);
        sleep(Duration::from_millis(pause_ms)).await;
        world.strike();
        world.revive();
    }
    world.say("no more faults".to_owned());
    world.heal();
    world.revive();
    archive::refuse(0);
    // From here on the cluster has no excuse.
    scene.ledger().slowest_ms = 0;
    scene.stop();
    world.settle(clients).await;
    if scene.ledger().violations.is_empty()
        && let Err(reason) = world.agree().await
    {
        scene.ledger().violated(reason);
    }
    let unknown = scene.ledger().unknown();
    if !unknown.is_empty() {
        scene.ledger().violated(format!("instances that nobody asked for: {unknown:?}"));
    }
    world.outcome()
}

impl World {
    /// Clients at work, until they are told to stop.
    fn clients(&self) -> Vec<JoinHandle<()>> {
        let plan = &self.plan;
        let scene = || Arc::clone(&self.scene);
        let creators = (0..plan.creators).map(|client| tokio::spawn(scene().creator(client)));
        let workers = (0..plan.workers).map(|client| tokio::spawn(scene().worker(client)));
        let registers = (0..plan.registers).map(|client| tokio::spawn(scene().register(client)));
        creators.chain(workers).chain(registers).collect()
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
