//! Completions of jobs that are gone, and the cost of telling them apart to those that succeed.
//!
//! `completion/refused_before_the_log` goes through the whole broker; the rest is the engine alone. Batches hold 64
//! commands, as under load.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use broker::{Node, Options};
use broker_api::{Broker, SubmitError};
use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::{Effects, Engine};
use futures::future::join_all;
use protocol::{
    Batch, Command, CompleteJob, CreateInstance, DefinitionRef, Demand, Deploy, Document, ENGINE_VERSION,
    Key, Name, RejectionType, Resource, Response,
};
use state::Store;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const BATCH: usize = 64;

fn deploy() -> Command {
    let content = include_bytes!("../../bench/models/benchmark.bpmn").to_vec();
    let resources = vec![Resource { name: Name::from("model.bpmn"), content }];
    Command::Deploy(Deploy { resources, tenant_id: Name::default_tenant() })
}

fn create() -> Command {
    let id = Name::from("benchmark");
    Command::CreateInstance(CreateInstance::of(DefinitionRef::Id { id, version: None }))
}

/// With a result of some 200 bytes.
fn complete(job_key: Key) -> Command {
    let result = format!(r#"{{"orderId":4711,"approved":true,"payload":"{}"}}"#, "x".repeat(150));
    let variables = Document::parse(Bytes::from(result)).expect("JSON");
    Command::CompleteJob(CompleteJob::of(job_key, variables))
}

/// An engine alone.
struct Alone {
    engine: Engine,
    now_ms: i64,
}

impl Alone {
    fn new() -> Self {
        let store = Store::in_memory(state::Options::default()).expect("a store");
        let engine = Engine::open(&store, engine::Options::default()).expect("an engine");
        let mut alone = Self { engine, now_ms: 1 };
        let effects = alone.apply(vec![deploy()], vec![]);
        assert!(effects.responses[0].as_ref().is_some_and(Result::is_ok), "{:?}", effects.responses);
        alone
    }

    fn apply(&mut self, commands: Vec<Command>, demand: Vec<Demand>) -> Effects {
        let mut effects = Effects::default();
        self.now_ms += 1;
        let batch = Batch {
            engine_version: ENGINE_VERSION,
            timestamp_ms: self.now_ms,
            commands,
            demand,
            origin: None,
            digest: None,
        };
        self.engine.apply(&batch, &mut effects).expect("the state is in memory");
        effects
    }

    /// Completions of as many jobs as a batch has, which are with a worker.
    fn completions(&mut self) -> Vec<Command> {
        let demand = Demand {
            subscriber_id: 1,
            job_type: Name::from("benchmark-task"),
            tenant_ids: vec![Name::default_tenant()],
            worker: Name::from("worker"),
            timeout_ms: 300_000,
            max_jobs: BATCH as u32,
            fetch_variables: vec![],
            caller: None,
            except: None,
            with_lease: false,
        };
        let effects = self.apply(vec![create(); BATCH], vec![demand]);
        let jobs = effects.deliveries.iter().flat_map(|delivery| &delivery.jobs);
        let completions: Vec<Command> = jobs.map(|job| complete(job.key)).collect();
        assert_eq!(completions.len(), BATCH);
        completions
    }

    /// How many of them are refused without an entry.
    fn look(&mut self, completions: &[Command]) -> usize {
        let looks = completions.iter().map(|command| self.engine.final_refusal(command));
        looks.filter(|refusal| refusal.as_ref().expect("the state is in memory").is_some()).count()
    }

    /// How long completions that succeed take, with or without a look at each before.
    fn succeed(&mut self, rounds: u64, looks: bool) -> Duration {
        let mut taken = Duration::ZERO;
        for _ in 0..rounds {
            let completions = self.completions();
            let start = Instant::now();
            if looks {
                assert_eq!(self.look(&completions), 0);
            }
            let effects = self.apply(completions, vec![]);
            taken += start.elapsed();
            assert_eq!(effects.ended_instances.len(), BATCH);
        }
        taken
    }
}

/// Rounds of refusals that are looked at.
const ROUNDS: u64 = 8;

/// A broker that is asked for nothing else, so that it looks at each command before the log.
struct Whole {
    runtime: Runtime,
    node: Arc<Node>,
    completion: Command,
    _directory: TempDir,
}

impl Whole {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut options = Options::new(directory.path());
        options.disk.min_free_bytes = 0;
        options.partition.log.min_free_bytes = 1;
        // A flush would bring entries of its own.
        options.partition.state.flush_interval = Duration::from_secs(3600);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let node = runtime.block_on(Box::pin(Node::start(options))).expect("a broker");
        runtime.block_on(node.submit(deploy())).expect("a deployment");
        let created = runtime.block_on(node.submit(create())).expect("an instance").response;
        // A key that was given out, though never to a job.
        let Response::InstanceCreated(instance) = created else { panic!("{created:?}") };
        Self { runtime, node, completion: complete(instance.process_instance_key), _directory: directory }
    }

    /// As many at once as a batch has.
    fn refuse(&self) {
        let answers = (0..BATCH).map(|_| self.node.submit(self.completion.clone()));
        for answer in self.runtime.block_on(join_all(answers)) {
            let Err(SubmitError::Rejected(rejection)) = answer else { panic!("{answer:?}") };
            assert_eq!(rejection.kind, RejectionType::NotFound);
        }
    }

    fn entries(&self) -> u64 {
        self.node.partition().committed_index
    }
}

fn completions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("completion");
    group.throughput(Throughput::Elements(BATCH as u64));

    let whole = Whole::new();
    let entries = whole.entries();
    for _ in 0..ROUNDS {
        whole.refuse();
    }
    // The last entry from before may be counted late, and the clock may tick; each round would take an entry.
    let taken = whole.entries() - entries;
    assert!(taken < ROUNDS / 2, "{taken} of {ROUNDS} rounds of refusals went through the log");
    group.bench_function("refused_before_the_log", |bencher| bencher.iter(|| whole.refuse()));
    whole.runtime.block_on(whole.node.shutdown());

    let mut alone = Alone::new();
    let gone = alone.completions();
    alone.apply(gone.clone(), vec![]);
    let there = alone.completions();
    group.bench_function("look_at_a_job_that_is_gone", |bencher| {
        bencher.iter(|| assert_eq!(alone.look(black_box(&gone)), BATCH));
    });
    group.bench_function("look_at_a_job_that_is_there", |bencher| {
        bencher.iter(|| assert_eq!(alone.look(black_box(&there)), 0));
    });
    for (name, looks) in [("applied", false), ("applied_after_a_look", true)] {
        let mut alone = Alone::new();
        group.bench_function(name, |bencher| bencher.iter_custom(|rounds| alone.succeed(rounds, looks)));
    }
    group.bench_function("encoded_bytes", |bencher| {
        bencher.iter(|| black_box(&there).iter().map(Command::encoded_bytes).sum::<usize>());
    });
    group.finish();
}

criterion_group!(benches, completions);
criterion_main!(benches);
