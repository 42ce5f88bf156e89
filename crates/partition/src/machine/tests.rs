//! Flushes that fail, and batches of an earlier life.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use broker_api::JobRequest;
use bytes::Bytes;
use protocol::{
    AwaitResult, Command, CompleteJob, CreateInstance, DefinitionRef, Deploy, Document, ENGINE_VERSION, Name,
    Resource,
};
use state::{StorageBackend, Store};
use tokio::sync::oneshot;

use parking_lot::Mutex;

use super::*;
use crate::answers::LateAnswers;
use crate::applied_state::AppliedState;
use crate::clock::Due;
use crate::counts::Counts;
use crate::demand::DemandRegistry;
use crate::divergence::{DigestVerdict, Digests};
use crate::entered::Entered;
use crate::flush_state::FlushState;
use crate::leading::Leading;
use crate::numbers::Numbers;
use crate::record_state::{RecordState, RecordTarget};

const PROCESS: &str = r#"<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="test"><bpmn:process id="p" isExecutable="true"><bpmn:startEvent id="start"/><bpmn:sequenceFlow id="in" sourceRef="start" targetRef="a"/><bpmn:serviceTask id="a"><bpmn:extensionElements><zeebe:taskDefinition type="t"/></bpmn:extensionElements></bpmn:serviceTask></bpmn:process></bpmn:definitions>"#;

/// A disk in memory that can be told to refuse every change.
#[derive(Debug, Default, Clone)]
struct Disk {
    bytes: Arc<Mutex<Vec<u8>>>,
    failing: Arc<AtomicBool>,
}

impl Disk {
    fn check(&self) -> io::Result<()> {
        if self.failing.load(Ordering::SeqCst) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().len() as u64)
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = offset as usize;
        let bytes = self.bytes.lock();
        out.copy_from_slice(bytes.get(start..start + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check()?;
        self.bytes.lock().resize(len as usize, 0);
        Ok(())
    }
    fn sync_data(&self) -> io::Result<()> {
        self.check()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check()?;
        let start = offset as usize;
        self.bytes.lock()[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }
}

fn engine(disk: &Disk) -> Engine {
    let store = Store::with_backend(Arc::new(disk.clone()), state::Options::default()).unwrap();
    Engine::open(&store, engine::Options::default()).unwrap()
}

fn machine(engine: Engine, options: StateOptions) -> PartitionMachine {
    machine_of(0, engine, options)
}

/// State that the machine of a broker shares.
pub(crate) fn shared_of(broker: u32, engine: &Engine) -> PartitionState {
    let numbers = || Numbers::new(broker, 1);
    PartitionState {
        number: protocol::FIRST_PARTITION,
        give_up: Box::new(|| {}),
        demand: Arc::new(DemandRegistry::new(crate::options::JobOptions::default(), numbers())),
        late: LateAnswers::new(numbers()),
        // One of several: a replica that is alone has no digests.
        leading: Leading::default(),
        entered: Entered::new(numbers()),
        due: Due::new(crate::WallClock::default(), None),
        applied: AppliedState::of(engine),
        flush: FlushState::new(0),
        records: RecordState::new(RecordTarget::default(), 0),
        counts: Counts::new(protocol::FIRST_PARTITION),
        paused: AtomicBool::new(false),
        wanted_hash: crate::hashes::WantedHash::default(),
        digests: Digests::new(protocol::FIRST_PARTITION),
        outbox: crate::outbox_signals::OutboxSignals::default(),
    }
}

/// The machine of a broker.
fn machine_of(broker: u32, engine: Engine, options: StateOptions) -> PartitionMachine {
    let shared = shared_of(broker, &engine);
    PartitionMachine::new(
        &Arc::new(FairMutex::new(engine)),
        &Arc::new(shared),
        Flusher::start(protocol::FIRST_PARTITION, None).unwrap(),
        options,
    )
}

/// Applies one entry after the other, as read from the log.
struct Log(u64);

impl Log {
    fn apply(
        &mut self,
        machine: &mut PartitionMachine,
        commands: Vec<Command>,
        demand: Vec<protocol::Demand>,
    ) {
        self.0 += 1;
        let batch = Batch {
            engine_version: ENGINE_VERSION,
            timestamp_ms: 1_000_000 + self.0 as i64,
            commands,
            demand,
            origin: None,
            digest: None,
        };
        machine.apply(self.0, 1, &Payload::new(Bytes::from(batch.encode()))).unwrap();
    }
}

pub(crate) fn deploy() -> Command {
    let resource = Resource { name: Name::from("p.bpmn"), content: PROCESS.as_bytes().to_vec() };
    Command::Deploy(Deploy { resources: vec![resource], tenant_id: Name::default_tenant() })
}

pub(crate) fn create(payload_bytes: usize) -> Command {
    let json = format!("{{\"x\":\"{}\"}}", "y".repeat(payload_bytes));
    Command::CreateInstance(CreateInstance {
        variables: Document::parse(Bytes::from(json)).unwrap(),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    })
}

#[test]
fn what_a_failed_flush_held_is_written_when_the_disk_is_back() {
    let disk = Disk::default();
    let options = StateOptions { flush_bytes: 100_000, ..StateOptions::default() };
    let mut machine = machine(engine(&disk), options);
    let shared = Arc::clone(&machine.shared);
    let mut log = Log(0);
    log.apply(&mut machine, vec![deploy()], vec![]);
    disk.failing.store(true, Ordering::SeqCst);
    shared.flush.order();
    log.apply(&mut machine, vec![create(200_000)], vec![]);
    assert!(shared.flush.failure().is_some());
    assert!(shared.flush.is_pending(), "housekeeping goes on");
    assert!(!shared.flush.is_blocked(), "there is room for more");
    assert_eq!(machine.durable_index(), 0);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !shared.flush.is_blocked() {
        assert!(Instant::now() < deadline, "memory without end");
        log.apply(&mut machine, vec![create(20_000)], vec![]);
    }
    let (written, frozen) = {
        let engine = machine.engine.lock();
        (engine.tables().overlay_bytes(), engine.tables().frozen_bytes())
    };
    assert!(frozen > 200_000, "{frozen}");
    assert!(written + frozen < 450_000, "four times the size of a flush: {written} and {frozen}");

    disk.failing.store(false, Ordering::SeqCst);
    while machine.durable_index() < log.0 - 2 || shared.flush.is_blocked() {
        assert!(Instant::now() < deadline, "the disk is back, and yet nothing is written");
        log.apply(&mut machine, vec![Command::Tick], vec![]);
        shared.flush.order();
        std::thread::yield_now();
    }
    assert!(shared.flush.failure().is_none());
    assert_eq!(shared.flush.durable_index(), machine.durable_index());
    shared.flush.order();
    log.apply(&mut machine, vec![Command::Tick], vec![]);
    assert_eq!(machine.durable_index(), log.0);
    let position = machine.engine.lock().position();
    let instances = machine.engine.lock().tables().instances.len().unwrap();
    drop(machine);
    let again = engine(&disk);
    assert_eq!(again.tables().applied_index(), log.0);
    assert_eq!((again.position(), again.tables().instances.len().unwrap()), (position, instances));
}

#[test]
fn deliveries_of_an_earlier_life_are_left_to_their_workers() {
    let mut machine = machine(engine(&Disk::default()), StateOptions::default());
    let shared = Arc::clone(&machine.shared);
    let demand = protocol::Demand {
        subscriber_id: 1,
        job_type: Name::from("t"),
        tenant_ids: vec![Name::default_tenant()],
        worker: Name::from("w"),
        timeout_ms: 60_000,
        max_jobs: 10,
        fetch_variables: vec![],
        caller: None,
        except: None,
        with_lease: false,
    };
    let mut log = Log(0);
    log.apply(&mut machine, vec![deploy(), create(1)], vec![demand]);
    assert_eq!(machine.engine.lock().counters().jobs[engine::JobAction::Activated as usize], 1);
    assert!(shared.demand.take_yielded().is_empty());
    assert_eq!(shared.demand.counts(), (0, 0));
}

#[test]
fn an_entry_answers_the_broker_that_asked_and_no_other() {
    let machines = [0, 1].map(|broker| machine_of(broker, engine(&Disk::default()), StateOptions::default()));
    let request = || JobRequest {
        job_type: Name::from("t"),
        worker: Name::from("w"),
        timeout_ms: 60_000,
        max_jobs: 10,
        fetch_variables: vec![],
        tenant_ids: vec![Name::default_tenant()],
        caller: None,
        with_lease: false,
    };
    // Both have asked for as much, so they count alike.
    let mut brokers = machines.map(|machine| {
        let (reply, polled) = oneshot::channel();
        let poll = machine.shared.demand.poll(request(), reply, true).unwrap();
        let (result, awaited) = machine.shared.late.register();
        (machine, poll, polled, result, awaited)
    });
    let demand = brokers[0].0.shared.demand.attach();
    assert_eq!(demand[0].subscriber_id, brokers[0].1);
    let Command::CreateInstance(create) = create(1) else { unreachable!() };
    let await_result = Some(AwaitResult { request_id: brokers[0].3, fetch_variables: vec![] });
    let create = Command::CreateInstance(CreateInstance { await_result, ..create });
    for (machine, ..) in &mut brokers {
        Log(0).apply(machine, vec![deploy(), create.clone()], demand.clone());
    }
    let [(first, _, polled, _, awaited), (second, _, other_polled, _, other_awaited)] = &mut brokers;
    let jobs = polled.try_recv().expect("the broker that asked has the job").unwrap().jobs;
    let job_key = jobs[0].key;
    let complete = CompleteJob::of(job_key, Document::empty());
    for machine in [first, second] {
        Log(1).apply(machine, vec![Command::CompleteJob(complete.clone())], vec![]);
    }
    assert!(matches!(awaited.try_recv(), Ok(Ok(protocol::Response::InstanceCompleted { .. }))));
    assert!(other_polled.try_recv().is_err() && other_awaited.try_recv().is_err());
}

/// A leader may lose and regain its role while its own entry is on the way into the log.
#[test]
fn an_entry_of_another_term_has_no_effect_on_the_broker_that_proposed_it() {
    let batch = Batch {
        origin: Some(protocol::BatchOrigin { number: 1, term: 1 }),
        engine_version: ENGINE_VERSION,
        timestamp_ms: 1,
        commands: vec![deploy()],
        demand: vec![],
        digest: None,
    };
    let bytes = Bytes::from(batch.encode());
    let proposed = Arc::new(Proposed { batch, sent_at: Instant::now(), waiters: Mutex::new(Vec::new()) });
    let own = Payload { bytes: bytes.clone(), number: Some(1) };
    let state_after = |term, payload: &Payload| {
        let mut machine = machine(engine(&Disk::default()), StateOptions::default());
        let _applied = machine.shared.entered.add(1, Arc::clone(&proposed));
        machine.apply(1, term, payload).unwrap();
        let engine = machine.engine.lock();
        (engine.position(), engine.tables().state_hash().unwrap())
    };
    let others = Payload::new(bytes);
    assert_eq!(state_after(1, &own), state_after(1, &others));
    assert_eq!(state_after(2, &own), state_after(2, &others), "replicas differ");
    assert_ne!(state_after(1, &own), state_after(2, &own), "it came too late");
}

/// A reader of the durable index may read the health next, while the machine takes over a flush: neither waits for
/// the other.
#[test]
fn taking_over_a_flush_holds_nothing_that_a_reader_of_its_index_wants() {
    let mut machine = machine(engine(&Disk::default()), StateOptions::default());
    let shared = Arc::clone(&machine.shared);
    let mut log = Log(0);
    log.apply(&mut machine, vec![deploy()], vec![]);
    let durable = shared.flush.durable();
    let reading = durable.borrow();
    shared.flush.order();
    let applying = std::thread::spawn(move || {
        log.apply(&mut machine, vec![create(10)], vec![]);
        machine.durable_index()
    });
    // It is done with the failure long before; then it waits for the reader, who can still ask.
    let deadline = Instant::now() + Duration::from_millis(300);
    while Instant::now() < deadline {
        std::thread::yield_now();
    }
    let (told, failure) = std::sync::mpsc::channel();
    let asked = Arc::clone(&shared);
    std::thread::spawn(move || told.send(asked.flush.failure()));
    assert_eq!(failure.recv_timeout(Duration::from_secs(60)), Ok(None), "the health cannot be asked");
    drop(reading);
    assert_eq!(applying.join().unwrap(), 2);
    assert_eq!(shared.flush.durable_index(), 2);
}

/// Applies a batch of a leader that speaks of its state.
fn apply_with_digest(
    machine: &mut PartitionMachine,
    index: u64,
    commands: Vec<Command>,
    digest: Option<protocol::BatchDigest>,
) -> Result<(), ApplyError> {
    let (engine_version, timestamp_ms) = (ENGINE_VERSION, 1_000_000 + index as i64);
    let batch = Batch { engine_version, timestamp_ms, commands, demand: vec![], origin: None, digest };
    machine.apply(index, 1, &Payload::new(Bytes::from(batch.encode())))
}

#[test]
fn a_replica_that_lacks_a_command_is_found_by_the_next_digest_and_stops() {
    let [mut leader, mut follower] =
        [0, 1].map(|broker| machine_of(broker, engine(&Disk::default()), StateOptions::default()));
    follower.shared.digests.ask_with(|index, _, _| {
        assert_eq!(index, 600);
        DigestVerdict::Wrong
    });
    for index in 1..600 {
        let commands = if index == 1 { vec![deploy()] } else { vec![create(1)] };
        let digest = leader.shared.digests.announce();
        apply_with_digest(&mut leader, index, commands.clone(), digest).unwrap();
        apply_with_digest(&mut follower, index, commands, digest).unwrap();
    }
    assert!(follower.shared.digests.difference().is_none());
    // The difference: one of them does not do a command.
    let digest = leader.shared.digests.announce();
    apply_with_digest(&mut leader, 600, vec![create(1)], digest).unwrap();
    apply_with_digest(&mut follower, 600, vec![], digest).unwrap();
    let digest = leader.shared.digests.announce();
    assert_eq!(digest.unwrap().index, 600);
    let position = follower.engine.lock().position();
    let error = apply_with_digest(&mut follower, 601, vec![create(1)], digest).unwrap_err();
    assert!(error.to_string().contains("differs from the leader's at log index 600"), "{error}");
    assert_eq!(follower.shared.digests.difference(), Some(error.to_string()));
    apply_with_digest(&mut follower, 602, vec![create(1)], None).unwrap_err();
    assert_eq!(follower.engine.lock().position(), position, "nothing more is applied");
    apply_with_digest(&mut leader, 601, vec![], digest).unwrap();
}

#[test]
fn a_replica_that_was_started_again_has_the_digests_of_one_that_was_not() {
    let disk = Disk::default();
    let [mut first, mut second] =
        [disk.clone(), Disk::default()].map(|disk| machine_of(0, engine(&disk), StateOptions::default()));
    apply_with_digest(&mut first, 254, vec![deploy(), create(1)], None).unwrap();
    apply_with_digest(&mut second, 254, vec![deploy(), create(1)], None).unwrap();
    first.shared.flush.order();
    apply_with_digest(&mut first, 255, vec![create(1)], None).unwrap();
    apply_with_digest(&mut second, 255, vec![create(1)], None).unwrap();
    assert_eq!(first.durable_index(), 255);
    drop(first);
    let mut again = machine_of(0, engine(&disk), StateOptions::default());
    // The first of them has the number of rows, too.
    for index in 256..260 {
        apply_with_digest(&mut second, index, vec![create(1)], None).unwrap();
        apply_with_digest(&mut again, index, vec![create(1)], None).unwrap();
        let digest = second.shared.digests.announce();
        assert_eq!(digest.unwrap().index, index);
        assert_eq!(again.shared.digests.announce(), digest);
    }
}
