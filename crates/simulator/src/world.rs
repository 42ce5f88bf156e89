//! A run: a cluster, its clients, the faults of a seed, and the promises that must hold at the end.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use broker::Options;
use tokio::time::{Instant, sleep, timeout};

use crate::archive;
use crate::clients::Scene;
use crate::disk::{self, DiskFaults};
use crate::host::{Beginning, End, Life};
use crate::network::SimulatedNetwork;
use crate::random::Random;
use crate::scheduler;

const BROKERS: [u32; 3] = [0, 1, 2];
/// After the last fault, every request is answered within this time.
const RECOVERY: Duration = Duration::from_secs(10);
/// Then replicas become equal within this time.
const AGREEMENT: Duration = Duration::from_secs(10);

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
    pub clocks: u64,
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
            clocks: chance(),
            hand_overs: chance(),
            is_rough: false,
            creators: 2,
            workers: 2,
            registers: 1,
            runtime_threads: 1,
            flush_interval_ms: 500,
            log_kept_bytes: 1 << 20,
        };
        plan.is_rough = random.one_in(4);
        plan.creators = random.between(1, 4);
        plan.workers = random.between(1, 3);
        plan.registers = random.between(1, 3);
        plan.runtime_threads = if random.one_in(4) { 2 } else { 1 };
        plan.flush_interval_ms = *random.pick(&[50, 300, 2_000]);
        plan.log_kept_bytes = *random.pick(&[1, 4 << 10, 64 << 10, 1 << 20]);
        plan
    }
}

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    pub violations: Vec<String>,
    pub faults: Vec<String>,
    pub answers: u64,
    pub instances: usize,
    pub slowest_ms: u64,
    pub turns: u64,
    pub trace: u64,
    pub virtual_ms: u64,
}

/// A cluster under faults.
struct World {
    plan: Plan,
    random: Random,
    network: SimulatedNetwork,
    scene: Arc<Scene>,
    root: PathBuf,
    directories: Vec<PathBuf>,
    lives: u64,
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
        self.root.join(format!("broker-{broker}-{}", self.lives))
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
        options.state.page_cache_bytes = 1 << 20;
        options.state.value_cache_bytes = 1 << 20;
        options.export.others.push(archive::factory(broker));
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

    fn end(&mut self, broker: u32, how: End) {
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
                self.end(broker, End::Killed);
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

    /// Something goes wrong, or is mended.
    fn strike(&mut self) {
        let plan = self.plan.clone();
        let kinds = [
            plan.kills,
            plan.power_losses,
            plan.hold_ups,
            plan.cuts,
            plan.one_way_cuts,
            plan.breaks,
            plan.slow_syncs,
            plan.failing_syncs,
            plan.full_disks,
            plan.clocks,
            plan.hand_overs,
            // Mends.
            4,
        ];
        let mut chosen = self.random.below(kinds.iter().sum());
        let kind = kinds.iter().position(|weight| {
            let is_it = chosen < *weight;
            chosen = chosen.saturating_sub(*weight);
            is_it
        });
        let broker = *self.random.pick(&BROKERS);
        let other = (broker + self.random.between(1, 3) as u32) % 3;
        let life = self.scene.life(broker);
        match (kind.expect("one of them"), life) {
            (0, Some(_)) => {
                let all = self.random.one_in(3);
                for broker in BROKERS.into_iter().filter(|number| all || *number == broker) {
                    self.say(format!("broker {broker} is killed"));
                    self.end(broker, End::Killed);
                }
            }
            (1, Some(_)) => {
                let all = self.random.one_in(3);
                for broker in BROKERS.into_iter().filter(|number| all || *number == broker) {
                    self.say(format!("broker {broker} loses its power"));
                    self.end(broker, End::PowerLost);
                }
            }
            (2, Some(life)) => {
                self.say(format!("broker {broker} is held up"));
                life.hold_up(true);
            }
            (3, _) => {
                self.say(format!("broker {broker} is cut off"));
                for other in BROKERS {
                    self.network.change(broker, other, |link| link.is_cut = true);
                    self.network.change(other, broker, |link| link.is_cut = true);
                }
            }
            (4, _) => {
                self.say(format!("nothing of broker {broker} arrives at {other}"));
                self.network.change(broker, other, |link| link.is_cut = true);
            }
            (5, _) => {
                self.say(format!("connections between {broker} and {other} break"));
                self.network.break_connections(broker, other);
            }
            (6, Some(life)) => {
                let most_ns = self.random.between(5, 500) * 1_000_000;
                self.say(format!("syncs of broker {broker} take up to {} ms", most_ns / 1_000_000));
                life.change_disk(|faults| faults.sync_ns.1 = most_ns);
            }
            (7, Some(life)) => {
                self.say(format!("syncs of broker {broker} fail"));
                life.change_disk(|faults| faults.fails_syncs = true);
            }
            (8, Some(life)) => {
                self.say(format!("the disk of broker {broker} is full"));
                life.change_disk(|faults| faults.is_full = true);
            }
            (9, Some(life)) => {
                let offset_ms = *self.random.pick(&[-3_600_000, -2_000, -100, 100, 2_000]);
                self.say(format!("the clock of broker {broker} jumps by {offset_ms} ms"));
                self.offsets_ms[broker as usize] = offset_ms;
                life.set_clock(offset_ms);
            }
            (10, Some(life)) => {
                self.say(format!("broker {other} is asked for at {broker} to lead"));
                let asked = life.call(move |node| async move { node.hand_over(Some(other)).await.is_ok() });
                drop(tokio::spawn(timeout(RECOVERY, asked)));
            }
            (11, _) => self.mend(),
            (_, None) => {
                self.say(format!("broker {broker} starts again"));
                self.start(broker);
            }
            _ => {}
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
                && archives.iter().all(|records| *records == archives[0])
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
                    return Err(format!("records differ: {}", differences(&archives)));
                }
                return Err(format!("{differ}: {hashes:x?}"));
            }
            self.revive();
            sleep(Duration::from_millis(50)).await;
        }
    }
}

/// The first position at which archives differ, and how far each goes.
fn differences(archives: &[archive::Records; 3]) -> String {
    let all: std::collections::BTreeSet<u64> =
        archives.iter().flat_map(|records| records.keys().copied()).collect();
    let differ =
        |position: &&u64| archives.iter().any(|records| records.get(position) != archives[0].get(position));
    let first = all.iter().find(differ);
    let lasts = archives.each_ref().map(|records| records.last_key_value().map(|(last, _)| *last));
    let at_first = first.map(|position| archives.each_ref().map(|records| records.get(position).copied()));
    format!("first at {first:?}: {at_first:x?}; they go up to {lasts:?}")
}

/// Runs a seed, in a process of its own.
pub fn run(seed: u64, root: PathBuf) -> (Plan, Outcome) {
    scheduler::begin(seed);
    crate::hooks::prepare();
    let mut random = Random::new(seed);
    disk::begin(random.fork());
    let plan = Plan::new(&mut random.fork());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime without sockets needs nothing");
    let outcome = runtime.block_on(play(plan.clone(), random, root));
    (plan, outcome)
}

async fn play(plan: Plan, mut random: Random, root: PathBuf) -> Outcome {
    let network = SimulatedNetwork::new(random.fork());
    let scene = Scene::new(BROKERS.len(), random.fork());
    let directories = BROKERS.map(|broker| root.join(format!("broker-{broker}-0"))).into();
    let mut world = World {
        plan,
        random,
        network,
        scene: Arc::clone(&scene),
        root,
        directories,
        lives: 0,
        offsets_ms: vec![0; BROKERS.len()],
        faults: Vec::new(),
        began: Instant::now(),
    };
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
    let mut clients = Vec::new();
    for client in 0..world.plan.creators {
        clients.push(tokio::spawn(Arc::clone(&scene).creator(client)));
    }
    for client in 0..world.plan.workers {
        clients.push(tokio::spawn(Arc::clone(&scene).worker(client)));
    }
    for client in 0..world.plan.registers {
        clients.push(tokio::spawn(Arc::clone(&scene).register(client)));
    }
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
    // From here on the cluster has no excuse.
    scene.ledger().slowest_ms = 0;
    scene.stop();
    let all = futures::future::join_all(clients);
    tokio::pin!(all);
    let deadline = Instant::now() + RECOVERY;
    loop {
        tokio::select! {
            ended = &mut all => {
                for client in ended {
                    client.expect("a client does not fail");
                }
                break;
            }
            () = sleep(Duration::from_millis(100)) => world.revive(),
        }
        if Instant::now() > deadline {
            let open = scene.ledger().open();
            let waits =
                format!("requests wait for more than {RECOVERY:?} after the last fault; open: {open:?}");
            scene.ledger().violated(waits);
            break;
        }
    }
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
    fn outcome(self) -> Outcome {
        let (turns, trace) = scheduler::trace();
        let virtual_ms = self.began.elapsed().as_millis() as u64;
        let mut ledger = self.scene.ledger();
        Outcome {
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

impl Outcome {
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
