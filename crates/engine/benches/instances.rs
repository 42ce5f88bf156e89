//! Process instances from creation to completion, on the engine alone: no log, no disk, no network.
//!
//! Batches hold 64 commands, as under load; the payload has some 200 bytes.

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use engine::{Effects, Engine, Options};
use protocol::{
    Batch, Command, CompleteJob, CreateInstance, DefinitionRef, Demand, Deploy, Document, ENGINE_VERSION,
    Intent, Name, Resource,
};
use state::Store;

const BATCH: usize = 64;

struct Run {
    engine: Engine,
    now_ms: i64,
    process_id: Name,
    job_type: Name,
    variables: Document,
    tenant_ids: Vec<Name>,
    worker: Name,
}

impl Run {
    fn new(model: &[u8], process_id: &str, job_type: &str, unwanted: Option<&[Intent]>) -> Self {
        let store = Store::in_memory(state::Options::default()).expect("a store");
        let unwanted_records = unwanted.map(<[Intent]>::to_vec).unwrap_or_default();
        let options = Options { records: unwanted.is_some(), unwanted_records, ..Options::default() };
        let engine = Engine::open(&store, options).expect("an engine");
        let payload = format!(
            r#"{{"orderId":4711,"amount":120,"customer":"someone","payload":"{}"}}"#,
            "x".repeat(150)
        );
        let mut run = Self {
            engine,
            now_ms: 1,
            process_id: Name::from(process_id),
            job_type: Name::from(job_type),
            variables: Document::parse(Bytes::from(payload)).expect("JSON"),
            tenant_ids: vec![Name::default_tenant()],
            worker: Name::from("worker"),
        };
        let resources = vec![Resource { name: Name::from("model.bpmn"), content: model.to_vec() }];
        let effects =
            run.apply(vec![Command::Deploy(Deploy { resources, tenant_id: Name::default_tenant() })], vec![]);
        assert!(effects.responses[0].as_ref().is_some_and(Result::is_ok), "{:?}", effects.responses);
        run
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

    fn demand(&self) -> Vec<Demand> {
        vec![Demand {
            subscriber_id: 1,
            job_type: self.job_type.clone(),
            tenant_ids: self.tenant_ids.clone(),
            worker: self.worker.clone(),
            timeout_ms: 300_000,
            max_jobs: BATCH as u32,
            fetch_variables: vec![],
            caller: None,
            except: None,
            with_lease: false,
        }]
    }

    /// Creates a batch of instances and works all their jobs.
    fn instances(&mut self) -> usize {
        let create = Command::CreateInstance(CreateInstance {
            variables: self.variables.clone(),
            ..CreateInstance::of(DefinitionRef::Id { id: self.process_id.clone(), version: None })
        });
        let demand = self.demand();
        let mut effects = self.apply(vec![create; BATCH], demand);
        let mut ended = 0;
        while let Some(delivery) = effects.deliveries.pop() {
            let commands = delivery
                .jobs
                .iter()
                .map(|job| Command::CompleteJob(CompleteJob::of(job.key, Document::empty())))
                .collect();
            let demand = self.demand();
            effects = self.apply(commands, demand);
            ended += effects.ended_instances.len();
        }
        assert_eq!(ended, BATCH);
        ended
    }
}

fn instances(criterion: &mut Criterion) {
    let one_task = include_bytes!("../../bench/models/benchmark.bpmn");
    let ten_tasks = include_bytes!("../../bench/models/ten_tasks.bpmn");
    let mut group = criterion.benchmark_group("instances");
    group.throughput(Throughput::Elements(BATCH as u64));
    // Without records, with all of them, and with those that the history is made of.
    let of_history = [Intent::ElementActivated, Intent::ElementCompleting];
    for (name, model, process_id, job_type, unwanted) in [
        ("one_task", &one_task[..], "benchmark", "benchmark-task", None),
        ("one_task_with_records", &one_task[..], "benchmark", "benchmark-task", Some(&[][..])),
        ("one_task_with_history", &one_task[..], "benchmark", "benchmark-task", Some(&of_history[..])),
        ("ten_tasks", &ten_tasks[..], "ten-tasks", "benchmark-task", None),
    ] {
        group.bench_function(name, |bencher| {
            let mut run = Run::new(model, process_id, job_type, unwanted);
            bencher.iter(|| run.instances());
        });
    }
    group.finish();
}

criterion_group!(benches, instances);
criterion_main!(benches);
