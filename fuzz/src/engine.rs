//! Runs a model: the file is deployed, its processes are started, and the actions of workers, messages, users and the
//! clock follow from the bytes of the file. Nothing may panic or go on for ever, no batch may take more than its
//! limits allow (`models::Bounds`), and cancelling everything must leave nothing behind.
//!
//! An input that does not begin like XML is a recipe: its bytes are the choices for a hostile model and its limits
//! (`models::generate_hostile`), and for the actions of a number of batches. Then the log must give the same state
//! again without records. One instance is cancelled at the end, which must be gone within a bound
//! (`models::check_cancellation`).

use std::fmt::Write as _;
use std::ops::ControlFlow;

use bytes::Bytes;
use engine::{Effects, Engine, Options, is_lasting};
use models::{Bounds, Model};
use protocol::{
    ActivatedJob, Batch, BusinessIdClaim, Command, CompleteJob, CreateInstance, DefinitionRef,
    DeleteResource, Demand, Deploy, Document, ENGINE_VERSION, FailJob, Key, Name, PublishMessage, Record,
    Resource, SetVariables, ThrowError,
};
use state::Store;

use crate::Random;

/// Actions on the instances of one model.
const ACTIONS: usize = 40;
/// Most commands that leftover steps may take after an action.
const MAX_CONTINUES: usize = 50;
/// Rounds of cancelling after which no instance may be left.
const MAX_CANCELS: usize = 2_000;
/// 2026-01-01T00:00:00Z.
const START_MS: i64 = 1_767_225_600_000;
/// Rows scanned for a random pick.
const PICK: usize = 50;
/// Values of variables.
const VALUES: [&str; 8] =
    ["null", "true", "0", "7", "\"a\"", "[1,2,3]", "{\"a\":{\"b\":[]}}", "\"2026-01-01T00:00:00Z\""];
/// Values of variables of which mappings make parts.
const PARTS: [&str; 4] = ["null", "7", "{\"a\":{\"b\":1},\"c\":2}", "{\"b\":{\"a\":{\"c\":3}},\"a\":\"x\"}"];

/// Elements of a hostile model, more or less.
const RECIPE_SIZE: usize = 30;
/// Most commands that leftover steps may take after an action on a hostile model.
const RECIPE_CONTINUES: usize = 4;
/// Batches of a hostile model before one of its instances is cancelled. The random processes check that all instances
/// can be cancelled.
const RECIPE_BATCHES: usize = 200;

/// Deploys a file and runs random actions on it.
pub fn engine(data: &[u8]) {
    if data.first() != Some(&b'<') {
        return recipe(data);
    }
    let Ok(processes) = bpmn::parse(data, &bpmn::Limits::default()) else { return };
    let seed = data.iter().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    let mut run = Run::new(Options::default(), Random(seed), MAX_CONTINUES);
    let ids: Vec<Name> = processes.iter().map(|process| Name::from(&*process.id)).collect();
    run.all(vec![data.to_vec()], &ids, ACTIONS);
    run.cancel_everything();
}

/// Creates a hostile model from bytes and runs random actions on it.
fn recipe(data: &[u8]) {
    let mut random = models::Random::of_bytes(data);
    let (work, hostility) = models::limits(&mut random);
    // With the limits of users, a command takes up to 100 ms, and a model thousands; the random processes have those.
    if work == Options::default().work {
        return;
    }
    let max_steps_per_command = [1, 3, 100][random.below(3) as usize];
    let Model { text, decisions } = models::generate_hostile(&mut random, RECIPE_SIZE, hostility);
    let options = Options { work, max_steps_per_command, max_children_per_step: 2, ..Options::default() };
    let mut run = Run::new(options, Random(random.next()), RECIPE_CONTINUES);
    // Each process has its own file: a loop through several processes of one file would be refused.
    let processes = text.split("process ").skip(1);
    let files = processes.map(|text| models::bpmn(&format!("process {text}")).into_bytes());
    let files = files.chain(decisions.map(String::into_bytes)).collect();
    run.max_batches = RECIPE_BATCHES;
    run.all(files, &[Name::from("main")], ACTIONS);
    run.cancel_one();
    models::check_mappings(std::slice::from_ref(&text), run.records.iter());
    run.verify_replay();
}

struct Run {
    engine: Engine,
    options: Options,
    bounds: Bounds,
    log: Vec<Batch>,
    /// Records of all batches.
    records: Vec<Record>,
    max_continues: usize,
    /// Limit of actions.
    max_batches: usize,
    now_ms: i64,
    random: Random,
    held: Vec<ActivatedJob>,
    /// Whether steps are left over.
    pending: bool,
}

impl Run {
    fn new(options: Options, random: Random, max_continues: usize) -> Self {
        let store = Store::in_memory(state::Options::default()).expect("a store in memory");
        let options = Options { records: true, ..options };
        Self {
            engine: Engine::open(&store, options.clone()).expect("an empty store"),
            bounds: Bounds::new(&options),
            options,
            log: Vec::new(),
            records: Vec::new(),
            max_continues,
            max_batches: usize::MAX,
            now_ms: START_MS,
            random,
            held: Vec::new(),
            pending: false,
        }
    }

    fn all(&mut self, files: Vec<Vec<u8>>, ids: &[Name], actions: usize) {
        let resources = files.into_iter().enumerate().map(|(number, content)| {
            let kind = if content.starts_with(b"<definitions") { "dmn" } else { "bpmn" };
            Resource { name: Name::from(format!("{number}.{kind}")), content }
        });
        let resources = resources.collect();
        self.apply(Command::Deploy(Deploy { resources, tenant_id: Name::default_tenant() }));
        for id in ids {
            self.create(id);
        }
        for _ in 0..actions {
            if self.log.len() < self.max_batches {
                self.act(ids);
            }
        }
    }

    /// The log gives the same state to an engine that makes no records.
    fn verify_replay(&self) {
        let store = Store::in_memory(state::Options::default()).expect("a store in memory");
        let options = Options { records: false, ..self.options.clone() };
        let mut engine = Engine::open(&store, options).expect("an empty store");
        for batch in &self.log {
            engine.apply(batch, &mut Effects::default()).expect("a state in memory");
        }
        let hash = |engine: &Engine| engine.tables().state_hash().expect("readable");
        assert_eq!(hash(&engine), hash(&self.engine), "the same log gave another state");
    }

    /// Cancels one instance, and checks that it is gone within its bound.
    fn cancel_one(&mut self) {
        let roots = models::cancellable(&self.engine);
        if let Some(root) = self.pick(&roots) {
            models::check_cancellation(self, root, true);
        }
    }

    fn batch(&mut self, commands: Vec<Command>, demand: Vec<Demand>) {
        self.batch_seen(commands, demand, &mut |_| {});
    }

    fn batch_seen(&mut self, commands: Vec<Command>, demand: Vec<Demand>, seen: &mut dyn FnMut(&Effects)) {
        let batch = Batch {
            engine_version: ENGINE_VERSION,
            timestamp_ms: self.now_ms,
            commands,
            demand,
            origin: None,
            digest: None,
        };
        let decoded = Batch::decode(&batch.encode()).expect("an encoded batch");
        assert_eq!(decoded, batch, "other replicas apply what the bytes say");
        let batch = decoded;
        let mut effects = Effects::default();
        self.bounds.apply(&mut self.engine, &batch, &mut effects);
        self.log.push(batch);
        assert!(effects.banned.is_empty(), "the engine failed: {:?}", effects.banned);
        self.pending = effects.has_pending_steps;
        seen(&effects);
        self.records.append(&mut effects.records);
        self.held.extend(effects.deliveries.into_iter().flat_map(|delivery| delivery.jobs));
    }

    fn apply(&mut self, command: Command) {
        self.batch(vec![command], vec![]);
        for _ in 0..self.max_continues {
            if !self.pending || self.log.len() >= self.max_batches {
                break;
            }
            self.batch(vec![Command::GO_ON], vec![]);
        }
    }

    fn document(&mut self) -> Document {
        self.values_of(&["a", "x", "key", "items", "r"])
    }

    fn values_of(&mut self, names: &[&str]) -> Document {
        let mut text = String::from("{");
        for (at, name) in names.iter().enumerate() {
            let values: &[&str] = if matches!(*name, "o" | "q") { &PARTS } else { &VALUES };
            let value = values[self.random.below(values.len())];
            let _ = write!(text, "{}\"{name}\":{value}", if at == 0 { "" } else { "," });
        }
        text.push('}');
        Document::parse(Bytes::from(text)).expect("an object")
    }

    fn create(&mut self, id: &Name) {
        let variables = self.values_of(&["a", "x", "key", "items", "r", "o", "q"]);
        self.apply(Command::CreateInstance(CreateInstance {
            definition: DefinitionRef::Id { id: id.clone(), version: None },
            tenant_id: Name::default_tenant(),
            variables,
            await_result: None,
            tags: vec![],
            business_id: None,
            start_before: vec![],
            terminate_after: vec![],
            unique_business_id: false,
            operation_reference: None,
        }));
    }

    fn act(&mut self, ids: &[Name]) {
        match self.random.below(12) {
            0 => {
                let id = ids[self.random.below(ids.len())].clone();
                self.create(&id);
            }
            1..=3 => self.activate_jobs(),
            4..=6 => self.work(),
            7 => self.publish(),
            8 => {
                self.now_ms += 1_000 << self.random.below(30);
                self.apply(Command::Tick);
            }
            9 => {
                let keys = self.engine.tables().incidents.keys(.., PICK).expect("readable");
                if let Some(incident_key) = self.pick(&keys) {
                    self.apply(Command::ResolveIncident { incident_key, operation_reference: None });
                }
            }
            10 => {
                let keys = self.engine.tables().element_instances.keys(.., PICK).expect("readable");
                if let Some(element_instance_key) = self.pick(&keys) {
                    let (variables, local) = (self.document(), self.random.below(2) == 0);
                    self.apply(Command::SetVariables(SetVariables {
                        element_instance_key,
                        variables,
                        local,
                        operation_reference: None,
                        request_id: None,
                    }));
                }
            }
            _ => {
                let keys = self.engine.tables().instances.keys(.., PICK).expect("readable");
                if let Some(process_instance_key) = self.pick(&keys) {
                    self.apply(Command::CancelInstance { process_instance_key, operation_reference: None });
                }
            }
        }
    }

    fn pick(&mut self, keys: &[Key]) -> Option<Key> {
        if keys.is_empty() { None } else { Some(keys[self.random.below(keys.len())]) }
    }

    fn activate_jobs(&mut self) {
        let queued = self.engine.tables().job_queue.keys(.., PICK).expect("readable");
        let Some((job_type, tenant_id, _)) = queued.first() else { return };
        let demand = Demand {
            subscriber_id: 1,
            job_type: Name::from(&**job_type),
            tenant_ids: vec![Name::from(&**tenant_id)],
            worker: Name::from("worker"),
            timeout_ms: 60_000,
            max_jobs: 5,
            fetch_variables: vec![],
            caller: None,
            except: None,
            with_lease: false,
        };
        self.batch(vec![], vec![demand]);
    }

    fn work(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let job = self.held.swap_remove(self.random.below(self.held.len()));
        let (job_key, variables) = (job.key, self.document());
        let command = match self.random.below(5) {
            0 => Command::FailJob(FailJob {
                job_key,
                retries: [0, 1][self.random.below(2)],
                retry_backoff_ms: [0, 1_000][self.random.below(2)],
                error_message: Name::default(),
                variables,
                lease: None,
            }),
            1 => Command::ThrowError(ThrowError {
                job_key,
                error_code: Name::from(["E1", "code", ""][self.random.below(3)]),
                error_message: Name::default(),
                variables,
                lease: None,
            }),
            _ => Command::CompleteJob(CompleteJob::of(job_key, variables)),
        };
        self.apply(command);
    }

    fn publish(&mut self) {
        let waiting = self.engine.tables().subscriptions.scan(.., PICK).expect("readable");
        let (name, correlation_key) = match waiting.len() {
            0 => (Name::from("message"), Name::from("a")),
            len => {
                let row = &waiting[self.random.below(len)].1;
                (row.message_name.clone(), row.correlation_key.clone())
            }
        };
        let (variables, time_to_live_ms) = (self.document(), [0, 1_000][self.random.below(2)]);
        let business_id = (self.random.below(3) == 0).then(|| BusinessIdClaim::of(Name::from("b")));
        self.apply(Command::PublishMessage(PublishMessage {
            name,
            correlation_key,
            business_id,
            time_to_live_ms,
            message_id: Name::default(),
            variables,
            tenant_id: Name::default_tenant(),
        }));
    }

    fn root(&self) -> Option<Key> {
        let mut root = None;
        let visit = |key: &Key, row: &std::sync::Arc<engine::entity::Instance>| {
            if row.parent.is_some() {
                return ControlFlow::Continue(());
            }
            root = Some(*key);
            ControlFlow::Break(())
        };
        self.engine.tables().instances.visit(.., visit).expect("readable");
        root
    }

    /// Ends everything: deletes the definitions, cancels the instances, and completes listeners of the cancellation.
    fn cancel_everything(&mut self) {
        for resource_key in self.engine.tables().definitions.keys(.., usize::MAX).expect("readable") {
            self.apply(Command::DeleteResource(DeleteResource {
                resource_key,
                operation_reference: None,
                delete_history: false,
            }));
        }
        self.max_continues = MAX_CONTINUES;
        let mut last = None;
        for _ in 0..MAX_CANCELS {
            match self.root() {
                Some(root) if last == Some(root) => {
                    self.now_ms += 100_000;
                    self.apply(Command::Tick);
                    self.activate_jobs();
                    for job in std::mem::take(&mut self.held) {
                        let (job_key, variables) = (job.key, Document::empty());
                        self.apply(Command::CompleteJob(CompleteJob::of(job_key, variables)));
                    }
                    last = None;
                }
                Some(process_instance_key) => {
                    self.apply(Command::CancelInstance { process_instance_key, operation_reference: None });
                    last = Some(process_instance_key);
                }
                None if self.pending => self.batch(vec![Command::GO_ON], vec![]),
                None => break,
            }
        }
        let left: Vec<_> = self
            .engine
            .tables()
            .row_counts()
            .into_iter()
            .filter(|(name, rows)| *rows > 0 && !is_lasting(name) && !OUTLIVING.contains(name))
            .collect();
        assert!(left.is_empty(), "left over after everything was cancelled: {left:?}");
        let tables = self.engine.tables();
        let messages = tables.messages.keys(.., usize::MAX).expect("readable");
        for (id, key) in tables.message_by_id.scan(.., usize::MAX).expect("readable") {
            assert!(messages.contains(&key), "the id of a message that is gone: {id:?}");
        }
    }
}

impl models::Subject for Run {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn command(&mut self, command: Command, seen: &mut dyn FnMut(&Effects)) {
        self.batch_seen(vec![command], vec![], seen);
    }
}

/// Tables whose rows belong to no instance, so that cancelling leaves them: timer start events, and messages until
/// they expire.
const OUTLIVING: [&str; 8] = [
    "timers",
    "timer_due",
    "timer_by_owner",
    "messages",
    "message_due",
    "message_by_name",
    "message_by_id",
    "message_correlations",
];
