//! An engine over a store in memory, with its history, and the check that a replay gives the same state.

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::Path;

use bytes::Bytes;
use engine::{Delivery, Effects, Engine, Options, Outcome, Read, ReadError, WorkLimits, is_lasting};
use models::Bounds;
use protocol::{
    ActivatedJob, AddBatchItems, Batch, Command, Demand, Deploy, Document, ENGINE_VERSION, Key, Name, Query,
    QueryReply, Record, Rejection, Resource, Response,
};
use state::Store;

use super::model::bpmn as to_xml;
use super::{Random, batch};
use crate::corpus;

/// Where the clock of every test starts: 2026-01-01T00:00:00Z.
pub const START_MS: i64 = 1_767_225_600_000;
/// Refused commands that are asked about again after each batch.
const REFUSED_MAX: usize = 8;
/// More `Continue` commands than any test needs.
const MAX_CONTINUES: usize = 20_000;

/// The engine under test.
pub struct Harness {
    options: Options,
    bounds: Bounds,
    store: Store,
    engine: Option<Engine>,
    pub now_ms: i64,
    /// Of the batches from now on.
    pub engine_version: u16,
    log: Vec<Batch>,
    history: Vec<Effects>,
    next_subscriber: u64,
    /// Batches that a replay was compared up to.
    verified: Cell<usize>,
    /// Whether the log alone makes the state.
    is_replayable: bool,
    /// Commands that the engine has refused for good, the last ones.
    refused: VecDeque<(Command, Rejection)>,
}

impl Harness {
    pub fn new() -> Self {
        Self::with_options(Options::default())
    }

    pub fn with_options(options: Options) -> Self {
        let options = Options { records: true, ..options };
        let store = store();
        let engine = Engine::open(&store, options.clone()).unwrap();
        let mut harness = Self {
            bounds: Bounds::new(&options),
            options: options.clone(),
            store,
            engine: Some(engine),
            now_ms: START_MS,
            engine_version: ENGINE_VERSION,
            log: Vec::new(),
            history: Vec::new(),
            next_subscriber: 0,
            verified: Cell::new(0),
            is_replayable: true,
            refused: VecDeque::new(),
        };
        harness.configure(&options);
        harness
    }

    /// Has the settings of these options take effect.
    pub fn configure(&mut self, options: &Options) {
        self.bounds = Bounds::new(options);
        self.apply(vec![Command::Configure { settings: Box::new(options.settings()) }], vec![]);
    }

    pub fn engine(&self) -> &Engine {
        self.engine.as_ref().expect("open but while reopening")
    }

    /// Applies one batch, as it comes out of the log, and nothing after it.
    pub fn apply(&mut self, commands: Vec<Command>, demand: Vec<Demand>) -> &Effects {
        let engine_version = self.engine_version;
        let batch =
            Batch { engine_version, timestamp_ms: self.now_ms, commands, demand, origin: None, digest: None };
        let decoded = Batch::decode(&batch.encode()).unwrap();
        assert_eq!(decoded, batch, "other replicas apply what the bytes say");
        let batch = decoded;
        let mut effects = Effects::default();
        let engine = self.engine.as_mut().expect("open");
        let refusals: Vec<_> =
            batch.commands.iter().map(|command| engine.final_refusal(command).unwrap()).collect();
        self.bounds.apply(engine, &batch, &mut effects);
        assert_eq!(effects.responses.len(), batch.commands.len(), "one response for each command");
        for ((refusal, command), response) in
            refusals.into_iter().zip(&batch.commands).zip(&effects.responses)
        {
            let Some(refusal) = refusal else { continue };
            assert_eq!(response.as_ref(), Some(&Err(refusal.clone())), "the early answer to {command:?}");
            self.refused.push_back((command.clone(), refusal));
        }
        self.refused.drain(..self.refused.len().saturating_sub(REFUSED_MAX));
        for (command, refusal) in &self.refused {
            let now = engine.final_refusal(command).unwrap();
            assert_eq!(now.as_ref(), Some(refusal), "a final refusal of {command:?} has changed");
        }
        self.log.push(batch);
        self.history.push(effects);
        self.history.last().expect("just pushed")
    }

    /// Sets a batch aside that comes out of the log. A replay does not know of it.
    pub fn set_aside(&mut self, commands: Vec<Command>, at_work: Option<Key>) -> Effects {
        self.is_replayable = false;
        let engine_version = self.engine_version;
        let batch = Batch {
            engine_version,
            timestamp_ms: self.now_ms,
            commands,
            demand: vec![],
            origin: None,
            digest: None,
        };
        let mut effects = Effects::default();
        self.engine.as_mut().expect("open").set_aside(&batch, at_work, &mut effects).unwrap();
        effects
    }

    /// Runs one command and everything that follows from it.
    pub fn command(&mut self, command: Command) -> Option<Outcome> {
        let effects = self.apply(vec![command], vec![]);
        let (response, mut has_pending_steps) = (effects.responses[0].clone(), effects.has_pending_steps);
        if matches!(response, Some(Ok(Response::BatchOperationCreated(_)))) {
            has_pending_steps |= self.find_items(usize::MAX);
        }
        if has_pending_steps {
            self.go_on();
        }
        response
    }

    /// Hands over the next items of each batch operation whose search is open, so many at most. Whether steps are
    /// left.
    pub fn find_items(&mut self, max_items: usize) -> bool {
        let Ok(QueryReply::BatchSearches(searches)) = self.read(&Query::BatchSearches) else {
            panic!("open searches")
        };
        let mut has_pending_steps = false;
        for search in searches.iter().filter(|search| !search.filter.starts_with(batch::BY_HAND)) {
            let mut items = batch::find(self.engine(), search);
            let is_last = items.len() <= max_items;
            items.truncate(max_items);
            let (batch_operation_key, error, owners) = (search.key, None, Vec::new());
            let add = AddBatchItems { batch_operation_key, items, is_last, error, owners };
            has_pending_steps |= self.apply(vec![Command::AddBatchItems(add)], vec![]).has_pending_steps;
        }
        has_pending_steps
    }

    /// Continues until no steps are left over.
    pub fn go_on(&mut self) {
        for _ in 0..MAX_CONTINUES {
            if !self.apply(vec![Command::GO_ON], vec![]).has_pending_steps {
                return;
            }
        }
        panic!("steps without end");
    }

    pub fn deploy(&mut self, files: &[(&str, &str)]) -> Outcome {
        let resources = files
            .iter()
            .map(|(name, text)| {
                let content = if Path::new(name).extension().is_some_and(|ending| ending == "bpmn") {
                    to_xml(text)
                } else {
                    (*text).to_owned()
                };
                Resource { name: Name::from(*name), content: content.into_bytes() }
            })
            .collect();
        self.command(Command::Deploy(Deploy { resources, tenant_id: Name::default_tenant() }))
            .expect("an answer")
    }

    /// Takes jobs of a type for a worker.
    pub fn activate(&mut self, job_type: &str, max_jobs: u32) -> Vec<ActivatedJob> {
        let demand = self.demand(job_type, max_jobs);
        self.activate_with(demand)
    }

    pub fn activate_with(&mut self, demand: Demand) -> Vec<ActivatedJob> {
        let effects = self.apply(vec![], vec![demand]);
        jobs_of(&effects.deliveries)
    }

    /// Demand of a worker with a job timeout of ten minutes.
    pub fn demand(&mut self, job_type: &str, max_jobs: u32) -> Demand {
        self.next_subscriber += 1;
        Demand {
            subscriber_id: self.next_subscriber,
            job_type: Name::from(job_type),
            tenant_ids: vec![Name::default_tenant()],
            worker: Name::from("worker"),
            timeout_ms: 600_000,
            max_jobs,
            fetch_variables: vec![],
            caller: None,
            except: None,
            with_lease: false,
        }
    }

    /// Lets time pass, and triggers what is due meanwhile.
    pub fn advance(&mut self, by_ms: i64) {
        self.now_ms += by_ms;
        for _ in 0..MAX_CONTINUES {
            self.command(Command::Tick);
            let due = self.history.last().and_then(|effects| effects.next_due_ms);
            if due.is_none_or(|due| due > self.engine().now_ms()) {
                return;
            }
        }
        panic!("something stays due for ever");
    }

    /// Answers a query, slice by slice.
    pub fn read(&mut self, query: &Query) -> Result<QueryReply, ReadError> {
        let engine = self.engine.as_mut().expect("open");
        let mut read = engine.read(query)?;
        loop {
            match read {
                Read::Done(reply) => return Ok(reply),
                Read::More(scan) => read = engine.read_on(scan)?,
            }
        }
    }

    /// Effects of all batches so far.
    pub fn history(&self) -> &[Effects] {
        &self.history
    }

    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.history.iter().flat_map(|effects| &effects.records)
    }

    /// Rows of tables that hold none when every instance has ended.
    pub fn leftovers(&self) -> Vec<(&'static str, u64)> {
        let counts = self.engine().tables().row_counts().into_iter();
        counts.filter(|(name, rows)| *rows > 0 && !is_lasting(name)).collect()
    }

    /// Whether nothing runs and nothing waits.
    pub fn is_empty(&self) -> bool {
        self.leftovers().is_empty()
    }

    /// All content except the counters of the partition; a refused command leaves it unchanged.
    pub fn content(&self) -> Content {
        content(self.engine().tables())
    }

    pub fn state_hash(&self) -> u64 {
        self.engine().tables().state_hash().unwrap()
    }

    /// Flushes everything to the store and opens it anew, as a restart does.
    pub fn flush_and_reopen(&mut self) {
        let index = self.log.len() as u64;
        let mut engine = self.engine.take().expect("open");
        let flush = engine.freeze(index).unwrap();
        engine.flushed(flush.run().unwrap()).unwrap();
        drop(engine);
        self.engine = Some(Engine::open(&self.store, self.options.clone()).unwrap());
    }

    /// Applies the log to other engines and compares: one that does the same, and one that makes no records, is
    /// flushed at odd moments and crashes.
    pub fn verify_replay(&self, seed: u64) {
        self.verified.set(self.log.len());
        let wanted = self.state_hash();
        let again = replay(&self.log, self.options.clone(), &self.history);
        assert_eq!(again, wanted, "the same log gave another state");
        let disturbed = replay_disturbed(&self.log, self.options.clone(), &self.history, seed);
        assert_eq!(disturbed, wanted, "flushes and restarts changed the state");
    }
}

/// Every scenario is replayed, with records and without.
impl Drop for Harness {
    fn drop(&mut self) {
        let is_new = self.verified.get() < self.log.len();
        if is_new && self.is_replayable && !std::thread::panicking() {
            self.verify_replay(self.log.len() as u64);
        }
        if self.is_replayable && !std::thread::panicking() {
            corpus::record(&self.options, &self.log, self.state_hash());
        }
    }
}

/// Hashes of all tables but the counters, by the number of the table.
pub type Content = Vec<Option<(u32, u64)>>;

macro_rules! hashes {
    ($tables:expr, $($table:ident),* $(,)?) => {
        vec![$($tables.$table.state_hash().unwrap()),*]
    };
}

fn content(tables: &engine::Tables) -> Content {
    hashes!(
        tables,
        definitions,
        definition_by_id,
        definition_by_tag,
        definition_by_deployment,
        last_version,
        running_instances,
        instances,
        element_instances,
        children,
        children_by_element,
        variables,
        variable_bytes,
        join_tokens,
        complex_joins,
        compensations,
        compensation_by_handler,
        compensation_by_thrower,
        jobs,
        job_queue,
        job_due,
        timers,
        timer_due,
        timer_queue,
        timer_turns,
        timer_by_owner,
        messages,
        message_by_name,
        message_by_id,
        message_due,
        message_correlations,
        subscriptions,
        subscription_by_name,
        subscription_by_owner,
        start_subscriptions,
        start_locks,
        business_ids,
        signal_subscriptions,
        signal_by_name,
        signal_by_owner,
        signal_starts,
        condition_subscriptions,
        condition_by_owner,
        condition_by_instance,
        condition_starts,
        incidents,
        incident_by_owner,
        pending_steps,
        banned,
        banned_steps,
        user_tasks,
        global_listeners,
        users,
        circles,
        mapping_rules,
        mapping_rule_by_claim,
        members,
        member_of,
        authorizations,
        authorization_by_owner,
        exporters,
        decision_requirements,
        decisions,
        forms,
        resources,
        loops,
        loop_chunks,
        loop_outputs,
        incident_counts,
        instances_with_incidents,
        cluster_variables,
    )
}

pub fn store() -> Store {
    Store::in_memory(state::Options::default()).unwrap()
}

pub fn jobs_of(deliveries: &[Delivery]) -> Vec<ActivatedJob> {
    deliveries.iter().flat_map(|delivery| delivery.jobs.clone()).collect()
}

/// Variables from the text of a JSON object.
pub fn document(json: &str) -> Document {
    Document::parse(Bytes::copy_from_slice(json.as_bytes())).unwrap_or_else(|e| panic!("{e}: {json}"))
}

fn replay(log: &[Batch], options: Options, history: &[Effects]) -> u64 {
    let store = store();
    let mut engine = Engine::open(&store, options).unwrap();
    for (batch, wanted) in log.iter().zip(history) {
        let mut effects = Effects::default();
        engine.apply(batch, &mut effects).unwrap();
        assert_eq!(effects, *wanted, "the same batch had other effects: {batch:?}");
    }
    engine.tables().state_hash().unwrap()
}

/// A broker with another configuration: the first command of the log has to have its own way.
fn unconfigured(options: Options) -> Options {
    let work = WorkLimits { max_fuel_per_step: 1, max_variable_bytes: 1, ..WorkLimits::default() };
    let bpmn = bpmn::Limits { max_bytes: 1, ..bpmn::Limits::default() };
    let dmn = dmn::Limits { max_bytes: 1, ..dmn::Limits::default() };
    Options { max_delivery_bytes: 1, work, bpmn, dmn, ..options }
}

fn replay_disturbed(log: &[Batch], options: Options, history: &[Effects], seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let store = store();
    let options = unconfigured(Options { records: false, ..options });
    let mut engine = Engine::open(&store, options.clone()).unwrap();
    let mut applied = 0;
    let mut flush = None;
    let mut crashes = 3;
    while applied < log.len() {
        let mut effects = Effects::default();
        engine.apply(&log[applied], &mut effects).unwrap();
        assert_eq!(effects.responses, history[applied].responses);
        assert_eq!(effects.deliveries, history[applied].deliveries);
        assert_eq!(effects.next_due_ms, history[applied].next_due_ms);
        assert!(effects.records.is_empty());
        applied += 1;
        match random.below(8) {
            0 if flush.is_none() => flush = Some(engine.freeze(applied as u64).unwrap()),
            1 | 2 => {
                if let Some(flush) = flush.take() {
                    engine.flushed(flush.run().unwrap()).unwrap();
                }
            }
            3 if crashes > 0 => {
                crashes -= 1;
                // Unflushed rows are lost, also those of a pending flush.
                flush = None;
                drop(engine);
                engine = Engine::open(&store, options.clone()).unwrap();
                applied = engine.tables().applied_index() as usize;
            }
            _ => {}
        }
    }
    engine.tables().state_hash().unwrap()
}
